# The second set of applications of scripts/study-new-cases.sh. scripts/study-volumes.sh sources this file and says
# what the functions are for.
# shellcheck shell=bash

set_2=(redis:redis-server gc:git import:sqlite3 sort:sort dsync:dd)
about_2() {
	cat <<-'TEXT'
		These five were the second new ones. Their first round, before anything was mended with them, had means that were
		off by 18.7 %, and 34 of 52 values (65 %) inside the intervals. Errors of their answers have been mended since
		([causes](causes.md)). [New cases](results.md) has the present new ones.

		- **redis**: redis, which makes its log durable before it answers, with four clients that set keys
		- **gc**: a repository of loose objects is copied and packed, again and again
		- **import**: sqlite fills a table with an index in one transaction, again and again
		- **sort**: a file is sorted with little memory, and the result made durable, again and again
		- **dsync**: dd with forced writes beside dd that writes through the page cache and makes its file durable
	TEXT
}

begin_gc() { cold "$1"; }
begin_sort() { cold "$1"; }

# A key-value store whose log is made durable before it answers. It begins empty.
begin_redis() {
	rm -rf "${1:?}/redis"
	mkdir "$1/redis"
	in_group redis-server --port 0 --unixsocket "$work/redis.socket" --dir "$1/redis" --appendonly yes --appendfsync always \
		--save '' >"$OUT/redis.log" 2>&1 &
	redis_job=$!
	while ! redis=$(redis-cli -s "$work/redis.socket" info server 2>/dev/null | tr -d '\r' | sed -n 's/^process_id://p') || [ -z "$redis" ]; do
		kill -0 "$redis_job" || exit 1
		sleep 0.1
	done
	servers+=("$redis")
	sync -f "$1"
}
run_redis() {
	timeout "$2" redis-benchmark -s "$work/redis.socket" -t set -d 300 -c 4 -r 10000 -n 100000000 -q || [ $? = 124 ]
}
end_redis() {
	kill "$redis"
	wait "$redis_job" || true
}

# A repository of loose objects is copied and packed, again and again.
setup_gc() {
	[ ! -d "$work/loose" ] || return 0
	mkdir "$work/loose"
	small_files "$work/loose" 300
	git -C "$work/loose" init -q
	git -C "$work/loose" add .
	git -C "$work/loose" -c user.name=study -c user.email=study@localhost commit -q -m first
}
run_gc() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group cp -r "$work/loose/.git" "$1/packed.$((++nr))"
		sync -f "$1"
		git_here -C "$1/packed.$nr" gc -q --prune=now
		rm -rf "$1/packed.$((nr - 1))"
	done
	rm -rf "$1"/packed.*
}

# A table with an index is filled in one transaction, again and again.
setup_import() {
	[ ! -s "$work/rows.csv" ] || return 0
	awk 'BEGIN { srand(2); for (i = 0; i < 20000; i++) printf "%d,%d,%s\n", i, 1e6 * rand(), "row" i "of" 1e9 * rand() }' >"$work/rows.csv"
}
run_import() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group sqlite3 "$1/import.$((++nr))" "PRAGMA cache_size=-500" "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, v TEXT)" \
			"CREATE INDEX by_n ON t (n)" ".import --csv $work/rows.csv t"
		rm -f "$1/import.$((nr - 1))"
	done
	rm -f "$1"/import.*
}

# A file is sorted with little memory, and the result made durable, again and again.
setup_sort() { head -c 12000000 /dev/urandom | base64 >"$1/lines"; }
run_sort() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group sort -S 3M -T "$1" -o "$1/sorted.$((++nr))" "$1/lines"
		sync -f "$1"
		rm -f "$1/sorted.$((nr - 1))"
	done
	rm -f "$1"/sorted.*
}

# A log of forced writes, beside files that are written through the page cache and made durable.
run_dsync() {
	local end=$((SECONDS + $2)) bulk
	while [ $SECONDS -lt $end ]; do
		in_group dd if=/dev/zero of="$1/bulk" bs=256k count=64 conv=fsync status=none
	done &
	bulk=$!
	while [ $SECONDS -lt $end ]; do
		dd if=/dev/zero of="$1/set" oflag=dsync conv=notrunc bs=4k count=100 status=none
		sleep 0.05
	done
	wait $bulk
}
