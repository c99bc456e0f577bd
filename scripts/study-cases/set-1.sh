# The first set of applications of scripts/study-new-cases.sh. scripts/study-volumes.sh sources this file and says
# what the functions are for.
# shellcheck shell=bash

set_1=(wal:sqlite3 git:git tar:tar tree:cp scan:grep)
about_1() {
	cat <<-'TEXT'
		These five were the first new ones, and are known since 2026-11-23: errors of their answers have been mended
		([causes](causes.md)). [New cases](results.md) has the present new ones.

		- **wal**: sqlite with a write-ahead log; each transaction reads two rows, changes one and is made durable
		- **git**: a repository of small files is cloned, and another commit checked out, again and again
		- **tar**: an archive of small files is unpacked and made durable, again and again
		- **tree**: a tree of small and large files is copied on the same volume
		- **scan**: dd past the page cache, reading and writing, beside grep through a tree
	TEXT
}

begin_wal() { cold "$1"; }
begin_git() { cold "$1"; }
begin_tree() { cold "$1"; }
begin_scan() { cold "$1"; }

# A database with a write-ahead log: each transaction reads two rows, changes one and is made durable.
setup_wal() {
	sqlite3 "$1/db" "PRAGMA journal_mode=WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
		INSERT INTO t SELECT i, randomblob(1000) FROM n;"
}
run_wal() {
	awk 'BEGIN {
		srand(1)
		print "PRAGMA synchronous=FULL; PRAGMA cache_size=-2000; PRAGMA wal_autocheckpoint=400;"
		for (;;) { for (i = 0; i < 3; i++) id[i] = 1 + int(50000 * rand())
			printf "BEGIN; SELECT length(v) FROM t WHERE id IN (%d, %d); UPDATE t SET v = randomblob(1000) WHERE id = %d; COMMIT;\n", id[0], id[1], id[2] }
	}' </dev/null 2>/dev/null | in_group timeout "$2" sqlite3 "$1/db" >/dev/null || [ "${PIPESTATUS[1]}" = 124 ]
}

# A repository is cloned, and another commit of it is checked out, again and again.
git_here() { HOME=$work in_group git -c core.fsync=all -c gc.auto=0 -c advice.detachedHead=false "$@"; }
setup_git() {
	[ ! -d "$work/origin" ] || return 0
	mkdir "$work/origin"
	small_files "$work/origin" 400
	local commit=(git -C "$work/origin" -c user.name=study -c user.email=study@localhost)
	git init -q "$work/origin"
	git -C "$work/origin" add .
	"${commit[@]}" commit -q -m first
	small_files "$work/origin" 200
	"${commit[@]}" commit -q -a -m second
}
run_git() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		git_here clone -q --no-local "file://$work/origin" "$1/clone.$((++nr))"
		git_here -C "$1/clone.$nr" checkout -q HEAD~1
		git_here -C "$1/clone.$nr" status --short
		sync -f "$1"
	done
	rm -rf "$1"/clone.*
}

# An archive of many small files is unpacked and made durable, again and again.
setup_tar() {
	[ ! -s "$work/small.tar" ] || return 0
	small_files "$work/small" 500
	tar -C "$work/small" -cf "$work/small.tar" .
}
run_tar() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		mkdir "$1/out.$((++nr))"
		in_group tar -C "$1/out.$nr" -xf "$work/small.tar"
		sync -f "$1"
		rm -rf "$1/out.$((nr - 1))"
	done
	rm -rf "$1"/out.*
}

# A tree of small and large files is copied on the same volume, by rsync where it is installed.
setup_tree() {
	small_files "$1/from" 400
	local i
	for ((i = 0; i < 10; i++)); do head -c 3000000 /dev/urandom >"$1/from/large.$i"; done
}
run_tree() {
	local end=$((SECONDS + $2)) nr=0 copy=(cp -a)
	! command -v rsync >/dev/null || copy=(rsync -a)
	while [ $SECONDS -lt $end ]; do
		in_group "${copy[@]}" "$1/from" "$1/to.$((++nr))"
		sync -f "$1"
		rm -rf "$1/to.$((nr - 1))"
	done
	rm -rf "$1"/to.*
}

# A backup past the page cache, both ways, beside a search through a tree.
setup_scan() {
	setup_fio "$1"
	small_files "$1/tree" 600
}
run_scan() {
	local end=$((SECONDS + $2)) search
	while [ $SECONDS -lt $end ]; do in_group grep -r -l blkcast "$1/tree" || true; done &
	search=$!
	RANDOM=1 # every run draws the same offsets
	while [ $SECONDS -lt $end ]; do
		dd if="$1/set" of=/dev/null iflag=direct bs=64k count=64 skip=$((RANDOM % 900)) status=none
		dd if=/dev/zero of="$1/set" oflag=direct conv=notrunc bs=16k count=32 seek=$((RANDOM % 4000)) status=none
	done
	wait $search
}
