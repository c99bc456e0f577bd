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

# The libraries that the programs are linked with, as dpkg-shlibdeps would find them.
libs=$(ldd "$BUILD/blkcast" "$BUILD/blkcast-agent" | awk '/=> \// { print $3 }' | sort -u |
	xargs -n 1 readlink -f | xargs dpkg-query -S 2>/dev/null | cut -d: -f1 | sort -u | paste -sd, | sed 's/,/, /g')
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
