# The fifth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run.
# scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_5=(restic:restic lmdb:mdb_load squash:mksquashfs recorder:pv unpack:dpkg)
about_5() {
	cat <<-'TEXT'
		These five were the fifth new ones. [Their first round](first-5.md) had means that were off by 16.3 %, and 36 of 52
		values (69 %) inside the intervals. Since then errors of other answers have been mended, and the widths of intervals
		come from these applications too ([causes](causes.md)).

		- **restic**: a tree is backed up into a repository that keeps each content once, again and again
		- **lmdb**: a key-value store in a mapped file takes a hundred keys at a time, and makes them durable
		- **squash**: a tree is packed into a file system image, which is made durable, again and again
		- **recorder**: three cameras are recorded at constant rates, each made durable every half second
		- **unpack**: dpkg unpacks packages, and makes each file durable
	TEXT
}

# A tree is backed up into a repository that keeps each content once; between two backups some of its files change.
setup_restic() {
	small_files "$1/tree" 200
	local i
	for ((i = 0; i < 3; i++)); do head -c 2000000 /dev/urandom >"$1/tree/large.$i"; done
}
restic_here() { RESTIC_PASSWORD=study restic --no-cache -q -r "$@"; }
begin_restic() {
	rm -rf "${1:?}/repository"
	restic_here "$1/repository" init
	cold "$1"
}
run_restic() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group env RESTIC_PASSWORD=study restic --no-cache -q -r "$1/repository" backup "$1/tree"
		head -c 2000000 /dev/urandom >"$1/tree/large.$((nr++ % 3))"
	done
}

# LMDB, a key-value store in a mapped file, takes key by key in transactions of a hundred, each made durable.
setup_lmdb() {
	mkdir "$1/lmdb"
	awk 'BEGIN {
		srand(1)
		print "VERSION=3\nformat=print\ntype=btree\nmapsize=268435456\nHEADER=END"
		for (i = 0; i < 100; i++) printf " key%07d\n %0400d\n", int(1000000 * rand()), i
		print "DATA=END"
	}' >"$work/lmdb.dump"
}
begin_lmdb() { cold "$1"; }
run_lmdb() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		sed "s/^ key/ k$((++nr % 50))/" "$work/lmdb.dump" | in_group mdb_load -f /dev/stdin "$1/lmdb"
	done
}

# A tree is packed into a compressed file system image, which is made durable, again and again.
setup_squash() {
	small_files "$1/tree" 300
	local i
	for ((i = 0; i < 4; i++)); do head -c 3000000 /dev/urandom >"$1/tree/large.$i"; done
}
begin_squash() { cold "$1"; }
run_squash() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group mksquashfs "$1/tree" "$1/image.$((++nr))" -comp lz4 -no-progress -quiet -mem 32M
		sync -f "$1"
		rm -f "$1/image.$((nr - 1))"
		cold_files "$1"/tree/large.*
	done
	rm -f "$1"/image.*
}

# Three cameras are recorded at constant rates; each recording is made durable every half second.
run_recorder() {
	local end=$((SECONDS + $2)) rate cameras=()
	for rate in 1 2 4; do
		while [ $SECONDS -lt $end ]; do
			pv -q -L ${rate}M -S -s $((rate << 19)) </dev/zero |
				dd of="$1/camera.$rate" bs=64k iflag=fullblock oflag=append conv=notrunc,fdatasync status=none
		done &
		cameras+=($!)
	done
	wait "${cameras[@]}"
	rm -f "$1"/camera.*
}

# Packages are unpacked by dpkg, which makes each of their files durable.
setup_unpack() {
	[ ! -d "$work/packages" ] || return 0
	local i
	for i in 1 2 3; do
		mkdir -p "$work/packages/$i/DEBIAN"
		small_files "$work/packages/$i/usr/share/study$i" 60
		printf 'Package: study%d\nVersion: 1\nArchitecture: all\nMaintainer: study <study@localhost>\nDescription: files\n' $i \
			>"$work/packages/$i/DEBIAN/control"
		dpkg-deb -b -Znone "$work/packages/$i" "$work/packages/$i.deb"
	done
}
begin_unpack() {
	rm -rf "${1:?}/root"
	mkdir -p "$1/root/var/lib/dpkg/updates" "$1/root/var/lib/dpkg/info"
	touch "$1/root/var/lib/dpkg/status" "$1/root/var/lib/dpkg/available"
	cold "$1"
}
run_unpack() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group dpkg --root="$1/root" --force-not-root --force-script-chrootless --log=/dev/null -i "$work/packages/$((nr++ % 3 + 1)).deb"
	done
}
