#!/usr/bin/env bash
# scripts/sysroot.sh ARCH
# Prints the folder of a Debian root for ARCH (s390x) that holds the headers and libraries of
# scripts/deps.sh's group "build", and ARCH's own bpftool. Packages are unpacked, never installed:
# the system stays as it is. Fetched once into the cache of scripts/debs.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
arch=${1:?usage: scripts/sysroot.sh ARCH}
cache=${BLKCAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/blkcast}

packages="$("$here/deps.sh" --list build | grep -E -- '-dev$') bpftool"
# shellcheck disable=SC2086
debs=$("$here/debs.sh" --closure "$arch" $packages)
root=$cache/sysroot-$arch-$(printf '%s\n' "$debs" | sha256sum | cut -c 1-16)
if [ ! -e "$root/done" ]; then
	echo "unpacking $(printf '%s\n' "$debs" | wc -l) packages of $arch" >&2
	new=$(mktemp -d "$cache/sysroot.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	printf '%s\n' "$debs" | while read -r deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$new" --keep-directory-symlink \
			--exclude './usr/share/doc' --exclude './usr/share/man' --exclude './usr/include/boost' \
			--exclude './var' --exclude './dev'
	done
	# Links to absolute places lead into the root; what alternatives would link is linked here.
	find "$new" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
		ln -sfn "$(realpath -ms --relative-to="$(dirname "$link")" "$new$target")" "$link"
	done
	lib=$new/usr/lib/$(ls "$new/usr/lib" | grep -- -linux-gnu | head -n 1)
	for f in "$lib"/openblas-pthread/*.so* "$lib"/lapack/*.so* "$lib"/blas/*.so*; do
		[ ! -e "$f" ] || [ -e "$lib/$(basename "$f")" ] || ln -s "${f#"$lib"/}" "$lib/" 2>/dev/null || true
	done
	cp -n "$lib"/*/pkgconfig/*.pc "$lib/pkgconfig/"
	for f in blas lapack; do ln -s $f-openblas.pc "$lib/pkgconfig/$f.pc"; done
	touch "$new/done"
	mv -T "$new" "$root" 2>/dev/null || [ -e "$root/done" ]
fi
echo "$root"
