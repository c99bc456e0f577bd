#!/usr/bin/env bash
# scripts/bundle.sh AGENT ROOT OUT.tar.gz
# Packs the agent with every library it needs, C library and loader too, found below ROOT (empty:
# this system), for machines that have none of them: whatever the distribution, only the kernel
# matters. The tar holds one folder; it may be unpacked anywhere and its blkcast-agent started there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 3 ] || { echo "usage: scripts/bundle.sh AGENT ROOT OUT.tar.gz" >&2 && exit 2; }
agent=$1 root=$2 out=$3
case "$(readelf -h "$agent" | sed -n 's/^ *Machine: *//p')" in
*S/390*) triplet=s390x-linux-gnu ;;
*X86-64*) triplet=x86_64-linux-gnu ;;
*) echo "bundle.sh: $agent: not a program of s390x or x86-64" >&2 && exit 2 ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-bundle.XXXXXX")
trap 'rm -rf "$work"' EXIT
name=$(basename "$out" .tar.gz)
mkdir -p "$work/$name/lib"
cp "$agent" "$work/$name/lib/blkcast-agent"
libraries=$("$here/elf-libs.sh" "$triplet" "$root" "$agent")
for f in $libraries; do cp -L "$f" "$work/$name/lib/"; done
cat >"$work/$name/blkcast-agent" <<START
#!/bin/sh
# Starts the agent beside it with the libraries beside it.
at=\$0
while [ -L "\$at" ]; do
	to=\$(readlink "\$at")
	case "\$to" in /*) at=\$to ;; *) at=\$(dirname "\$at")/\$to ;; esac
done
lib=\$(cd "\$(dirname "\$at")" && pwd)/lib
exec "\$lib/$(basename "${libraries##*$'\n'}")" --library-path "\$lib" "\$lib/blkcast-agent" "\$@"
START
chmod 755 "$work/$name/blkcast-agent"
mkdir -p "$(dirname "$out")"
# The same files give the same bytes.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$work" -c "$name" | gzip -9n >"$out"
