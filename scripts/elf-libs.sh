#!/usr/bin/env bash
# scripts/elf-libs.sh TRIPLET ROOT FILE
# Prints the shared libraries that FILE needs, straight and by others, one path a line, and last the
# loader; nothing for a static program. TRIPLET: x86_64-linux-gnu, s390x-linux-gnu. ROOT: where to look
# for usr/lib/TRIPLET and lib/TRIPLET; empty: this system. Exit 2 and one line where one is missing.
set -euo pipefail
[ $# = 3 ] || { echo "usage: scripts/elf-libs.sh TRIPLET ROOT FILE" >&2 && exit 2; }
triplet=$1 root=$2 file=$3
case "$triplet" in
x86_64-*) loader=ld-linux-x86-64.so.2 ;;
s390x-*) loader=ld64.so.1 ;;
*) echo "elf-libs.sh: triplet '$triplet': expected x86_64-linux-gnu or s390x-linux-gnu" >&2 && exit 2 ;;
esac
folders=("$root/usr/lib/$triplet" "$root/lib/$triplet" "$root/usr/lib" "$root/lib" "$root/lib64")
find_library() {
	local d
	for d in "${folders[@]}"; do
		[ ! -e "$d/$1" ] || { echo "$d/$1" && return; }
	done
	echo "elf-libs.sh: $file needs $1, which is not below '$root/'" >&2
	exit 2
}
queue=("$file") seen=" "
while [ ${#queue[@]} -gt 0 ]; do
	for name in $(readelf -d "${queue[0]}" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		case "$seen$loader " in *" $name "*) continue ;; esac
		seen="$seen$name "
		found=$(find_library "$name")
		queue+=("$found")
		echo "$found"
	done
	queue=("${queue[@]:1}")
done
[ "$seen" = " " ] || find_library "$loader"
