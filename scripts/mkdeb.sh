#!/usr/bin/env bash
# scripts/mkdeb.sh: a Debian package of what `make` built, under $BUILD. Called by `make deb`.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
VERSION=${VERSION:?}
arch=$(dpkg --print-architecture)
root=$(mktemp -d "$BUILD/deb.XXXXXX")
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

make -s BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr install
gzip -9n "$root"/usr/share/man/man*/*
install -D -m 644 LICENSE "$root/usr/share/doc/blkcast/copyright"
install -m 644 README.md "$root/usr/share/doc/blkcast/"
install -d -m 700 "$root/var/lib/blkcast"

# The packages of the libraries that the programs name. dpkg knows files by the path they were shipped
# under, which need not be the one they are found by (/lib is /usr/lib): by name, then.
libs=$(for p in "$BUILD/blkcast" "$BUILD/blkcast-agent"; do objdump -p "$p"; done |
	awk '$1 == "NEEDED" { print $2 }' | sort -u |
	while read -r name; do
		dpkg-query -S "*/$name" 2>/dev/null | grep -v -e '-i386' -e '-x32' | head -n 1
	done | cut -d: -f1 | sort -u | paste -sd, | sed 's/,/, /g')
mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<EOF
Package: blkcast
Version: $VERSION
Architecture: $arch
Maintainer: blkcast maintainers <$(git config user.email 2>/dev/null || echo maintainers@localhost)>
Section: admin
Priority: optional
Depends: $libs
Description: trace, characterize and predict the block I/O of live guests
 An agent that records every block request with eBPF and characterizes the
 workload while it runs, and an analyzer that stores, compares and draws it.
EOF
dpkg-deb --root-owner-group --build "$root" "$BUILD/blkcast_${VERSION}_$arch.deb"
