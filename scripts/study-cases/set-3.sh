# The third set of applications of scripts/study-new-cases.sh. scripts/study-volumes.sh sources this file and says
# what the functions are for.
# shellcheck shell=bash

set_3=(zip:zip verify:sha256sum vacuum:sqlite3 logs:gzip copy:dd)
about_3() {
	cat <<-'TEXT'
		These five were the third new ones. Their first round, before anything was mended with them, had means that were
		off by 61 % (their median was 14.5 %), and 41 of 66 values (62 %) inside the intervals. Errors of their answers have
		been mended since ([causes](causes.md)). [New cases](results.md) has the present new ones.

		- **zip**: a tree of small and large files is packed into an archive, which is made durable, again and again
		- **verify**: two programs read files of 1 to 4 MB to compute their sums, and each sum is made durable
		- **vacuum**: sqlite with a rollback journal changes rows, and then writes its database anew as a whole
		- **logs**: three programs append to logs at paces of their own, beside one that packs an old log and makes it durable
		- **copy**: a file is copied past the page cache, in requests of 1 MiB
	TEXT
}

begin_zip() { cold "$1"; }
begin_verify() { cold "$1"; }

# Files of a tree are packed into an archive, which is made durable, again and again.
setup_zip() {
	small_files "$1/tree" 300
	local i
	for ((i = 0; i < 4; i++)); do head -c 2000000 /dev/urandom >"$1/tree/large.$i"; done
}
run_zip() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		(cd "$1" && in_group zip -q -r "packed.$((++nr)).zip" tree)
		sync -f "$1"
		rm -f "$1"/packed.*.zip
		cold_files "$1"/tree/large.*
	done
}

# Two programs read large files to compute their sums, and each sum is made durable.
setup_verify() {
	local i
	for ((i = 0; i < 16; i++)); do head -c $((1000000 + i * 200000)) /dev/urandom >"$1/file.$i"; done
}
run_verify() {
	local end=$((SECONDS + $2)) half checkers=()
	for half in 0 1; do
		while [ $SECONDS -lt $end ]; do
			for ((i = half; i < 16 && SECONDS < end; i += 2)); do
				cold_files "$1/file.$i"
				in_group sha256sum "$1/file.$i" | dd of="$1/sums.$half" oflag=append conv=notrunc,fsync status=none
			done
		done &
		checkers+=($!)
	done
	wait "${checkers[@]}"
	rm -f "$1"/sums.*
}

# A database with a rollback journal: rows are changed in transactions of twenty, then it is written anew as a whole.
setup_vacuum() {
	sqlite3 "$1/db" "CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
		INSERT INTO t SELECT i, randomblob(1000) FROM n;"
}
run_vacuum() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		awk -v seed=$((++nr)) 'BEGIN {
			srand(seed)
			print "PRAGMA synchronous=FULL; PRAGMA cache_size=-500;"
			for (n = 0; n < 10; n++) {
				print "BEGIN;"
				for (i = 0; i < 20; i++) printf "UPDATE t SET v = randomblob(1000) WHERE id = %d;\n", 1 + int(4000 * rand())
				print "COMMIT;"
			}
			print "VACUUM;"
		}' | in_group sqlite3 "$1/db"
	done
}

# Three programs append to logs and make each line durable, at paces of their own, beside one that rotates a fourth log.
setup_logs() { head -c 3000000 /dev/urandom | base64 >"$1/old.log"; }
run_logs() {
	local end=$((SECONDS + $2)) pace writers=()
	for pace in 0.005 0.02 0.05; do
		while [ $SECONDS -lt $end ]; do
			dd if=/dev/zero of="$1/log.$pace" bs=600 count=1 oflag=append conv=notrunc,fsync status=none
			sleep $pace
		done &
		writers+=($!)
	done
	while [ $SECONDS -lt $end ]; do
		in_group gzip -1 -c "$1/old.log" >"$1/old.log.gz"
		sync -d "$1/old.log.gz"
		sleep 0.2
	done
	wait "${writers[@]}"
	rm -f "$1"/log.* "$1/old.log.gz"
}

# A file is copied past the page cache, in requests of 1 MiB.
setup_copy() { head -c 25165824 /dev/urandom >"$1/from"; }
run_copy() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		dd if="$1/from" of="$1/to" iflag=direct,count_bytes oflag=direct bs=1M count=23M conv=fsync status=none
	done
}
