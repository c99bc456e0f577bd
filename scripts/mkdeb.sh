#!/usr/bin/env bash
# scripts/mkdeb.sh makes Debian packages of the programs that `make` built, in $BUILD. `make deb` calls it.
# The same programs always give the same bytes: times are $SOURCE_DATE_EPOCH, else the last
# commit's. MAINTAINER="Name <address>" signs the packages.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
VERSION=${VERSION:?}
MAINTAINER=${MAINTAINER:-blkcast maintainers <maintainers@blkcast.invalid>}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}
export SOURCE_DATE_EPOCH BUILD SOURCE=$PWD LC_ALL=C TZ=UTC
umask 022

work=$BUILD/deb/work
rm -rf "$BUILD/deb"
mkdir -p "$work/package"
cp -r scripts/package/debian "$work/"
cp scripts/package/agent.yaml README.md docs/security.md "$work/package/"
cp scripts/package/blkcast-agent.service "$work/debian/blkcast-agent.blkcast-agent.service"
cp scripts/package/blkcast-serve.service "$work/debian/blkcast.blkcast-serve.service"
cp scripts/package/blkcast-serve@.service "$work/debian/blkcast.blkcast-serve@.service"
cp -r scripts/package/fleet "$work/package/"
install -D -m 644 scripts/package/blkcast-serve-cluster.default "$work/package/default/blkcast-serve-cluster"
install -D -m 644 scripts/package/blkcast-serve.default "$work/package/default/blkcast-serve"
for p in blkcast blkcast-agent; do
	printf '%s\n' package/README.md package/security.md >"$work/debian/$p.docs"
done
sed -i "s|@MAINTAINER@|$MAINTAINER|" "$work/debian/control"
cat >"$work/debian/changelog" <<END
blkcast ($VERSION) bookworm; urgency=medium

  * Built from the sources of version $VERSION.

 -- $MAINTAINER  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
chmod 755 "$work/debian/rules"
# The flags of the make that called this script must not reach the make of the packages.
(cd "$work" && env -u MAKEFLAGS -u MAKELEVEL ./debian/rules binary) >"$BUILD/deb/log" 2>&1 || {
	tail -n 20 "$BUILD/deb/log" >&2
	exit 1
}
for p in blkcast blkcast-agent; do
	deb=${p}_${VERSION}_$(dpkg --print-architecture).deb
	mv "$BUILD/deb/$deb" "$BUILD/$deb"
	echo "$BUILD/$deb"
done
