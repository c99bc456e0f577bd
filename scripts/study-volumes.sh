# Volumes with a known time for each request, applications that run on them, and campaigns that measure them: what
# scripts/study-applications.sh, study-clients.sh, study-consolidation.sh and study-headroom.sh share. They source this
# file, as root, with OUT (a folder for what stays), SECONDS_EACH (the length of a run) and INTERVAL (of a campaign)
# set. All volumes and devices go when the script ends. With PIECE_S= seconds nothing is begun that would end later than
# that: the script ends with exit status 4, and the same command goes on where it stopped, campaigns included.
# shellcheck shell=bash
EVERY=${EVERY:-1}
BACKING=${BACKING:-/dev/shm}
fuse=/sys/fs/fuse/connections
blkcast=$PWD/build/blkcast
agent=$PWD/build/blkcast-agent
fileops=$PWD/build/tests/system/fileops
pg=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | tail -n 1)
PATH=$PATH:$pg
export LC_ALL=C
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
for program in fio jq mkfs.ext4 losetup nbdkit nbdfuse initdb pgbench db_bench "$blkcast" "$agent" "$fileops"; do
	command -v "$program" >/dev/null || {
		echo "${0##*/}: $program is missing: scripts/deps.sh build case, then make tests" >&2
		exit 2
	}
done
prior=""
! chrt -f 20 true 2>/dev/null || prior="chrt -f 20"

# A campaign that goes on finds its target under the same name.
work=$BACKING/blkcast-applications.$(printf %s "$OUT" | cksum | cut -d' ' -f1)
mkdir -m 711 "$work" || {
	echo "${0##*/}: $work is there: a study with this folder runs, or was killed: remove it then" >&2
	exit 2
}
memory=""
declare -A device
devices=() servers=() watching="" postmaster=""
tidy() {
	local name
	set +e # what fails here must not keep the rest from being taken down
	[ -z "$postmaster" ] || stop_postgres
	[ -z "$watching" ] || kill -INT "$watching" 2>/dev/null || true
	for name in "${!device[@]}"; do
		umount "$work/$name" 2>/dev/null || umount -l "$work/$name" 2>/dev/null || true
	done
	for name in "${devices[@]}"; do losetup -d "$name" || true; done
	sleep 0.3
	for name in "$work"/*.img; do umount "$name" 2>/dev/null || umount -l "$name" 2>/dev/null || true; done
	[ ${#servers[@]} = 0 ] || kill "${servers[@]}" 2>/dev/null || true
	wait
	rm -rf --one-file-system "$work"
	[ -z "$memory" ] || rmdir "$memory" 2>/dev/null || true
}
trap tidy EXIT

say() { echo "$(date +%T) $*" >&2; }

# room SECONDS: ends the script if so much time is no longer left in this piece.
room() {
	[ -n "${PIECE_S:-}" ] && [ $((SECONDS + $1)) -gt "$PIECE_S" ] || return 0
	say "this piece ends here: call ${0##*/} again for the rest"
	exit 4
}

# ---- volumes ----

# Serves a volume of 2 GiB as the file $work/NAME.img, by a law that scripts/volume/study_volume.c states. FUSE passes on only
# 12 requests at a time by default, and nbdfuse's thread of a connection can wait for another one of it, so that many
# connections, and as many requests as a queue of the block layer holds, keep the file from having a law of its own.
serve() { # NAME SERVERS READ-TIME WRITE-TIME: in microseconds
	local name=$1 connection
	touch "$work/$name.img"
	$prior nbdkit -f -t 16 -U "$work/$name.socket" cc scripts/volume/study_volume.c size=2G servers="$2" read_us="$3" write_us="$4" &
	servers+=($!)
	while [ ! -S "$work/$name.socket" ]; do kill -0 "${servers[-1]}" || exit 1; sleep 0.1; done
	$prior nbdfuse -C 32 "$work/$name.img" --unix "$work/$name.socket" &
	servers+=($!)
	while [ ! -s "$work/$name.img" ]; do kill -0 "${servers[-1]}" || exit 1; sleep 0.1; done
	mountpoint -q "$fuse" || mount -t fusectl none "$fuse"
	connection=$fuse/$(stat -c %Ld "$work/$name.img")
	echo 128 >"$connection/max_background"
	echo 128 >"$connection/congestion_threshold"
}

# Sets what a guest decides, and the storage does not, to the same values for every disk: those that Linux gives to a
# virtual disk of virtio. A loop device keeps how far it reads ahead from what it was used for before. It says that it
# does not rotate, for which the kernel writes back one request at a time where a read takes 2 ms or more.
guest_settings() { # DEVICE
	local queue=/sys/block/$1/queue
	echo 128 >"$queue/read_ahead_kb"
	[ ! -e "$queue/wbt_lat_usec" ] || echo 75000 >"$queue/wbt_lat_usec"
}

# Makes a disk with a file system of a part of a volume, by default of all of it.
disk() { # NAME VOLUME [OPTION...]: options of losetup
	local name=$1 image=$work/$2.img
	shift 2
	device[$name]=$(losetup -f --show --direct-io=on "$@" "$image")
	devices+=("${device[$name]}")
	guest_settings "${device[$name]##*/}"
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "${device[$name]}"
	mkdir "$work/$name"
	mount -o noatime "${device[$name]}" "$work/$name"
	chmod 777 "$work/$name"
}
volume() { # NAME SERVERS READ-TIME WRITE-TIME: one disk on a volume of its own
	serve "$@"
	disk "$1" "$1"
}

# A little memory for the applications' page cache, so that they read from the volume.
make_group() {
	local group
	for group in /sys/fs/cgroup/memory/blkcast-applications.$$ /sys/fs/cgroup/blkcast-applications.$$; do
		[ -d "${group%/*}" ] && mkdir "$group" 2>/dev/null || continue
		if echo $((96 << 20)) >"$group/memory.limit_in_bytes" || echo $((96 << 20)) >"$group/memory.max"; then
			memory=$group
			return
		fi 2>/dev/null
		rmdir "$group"
	done
	say "no memory cgroup: applications may read from the page cache"
}
in_group() {
	if [ -z "$memory" ]; then "$@"; else sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$memory" "$@"; fi
}

# Calls make_volumes of the script, once something has to be measured. A script that only predicts needs none.
made=""
need_volumes() {
	[ -z "$made" ] || return 0
	made=1
	make_group
	make_volumes
}

# ---- applications: setup_NAME FOLDER, begin_NAME FOLDER before a run, run_NAME FOLDER SECONDS ----

# scripts/study-clients.sh runs sync, async4, pgbench, db_bench, mail and file with twice their clients.
times=1

direct="--direct=1 --norandommap --size=64m --filename=set --time_based --group_reporting --overwrite=1"
fio_in() { # FOLDER SECONDS OPTION...
	local folder=$1 seconds=$2
	shift 2
	# shellcheck disable=SC2086
	(cd "$folder" && exec timeout 120 fio --name=load $direct --runtime="$seconds" --output=/dev/null "$@")
}
setup_fio() {
	[ -s "$1/set" ] || fio --name=set --filename="$1/set" --size=64m --rw=write --bs=1m --end_fsync=1 --output=/dev/null
}
run_sync() {
	fio_in "$1" "$2" --ioengine=psync --thread --rw=randrw --rwmixread=70 --bs=8k --numjobs=$((4 * times)) --thinktime=4000
}
run_async4() { fio_in "$1" "$2" --ioengine=libaio --iodepth=4 --rw=randrw --rwmixread=50 --bs=8k --numjobs="$times"; }
run_async32() { fio_in "$1" "$2" --ioengine=libaio --iodepth=32 --rw=randrw --rwmixread=70 --bs=4k; }
run_sizes() { fio_in "$1" "$2" --ioengine=libaio --iodepth=4 --rw=randrw --rwmixread=60 --bssplit=4k/50:16k/30:64k/20; }
# The log is there before the first run, which would else begin with writing it in full.
setup_streams() {
	setup_fio "$1"
	[ -s "$1/set.log" ] || fio --name=log --filename="$1/set.log" --size=16m --rw=write --bs=1m --end_fsync=1 --output=/dev/null
}
run_streams() { # two sequential readers and a writer of a log
	fio_in "$1" "$2" --ioengine=psync --thread --rw=read --bs=64k --numjobs=2 --offset_increment=32m --size=32m \
		--name=log --ioengine=psync --rw=write --bs=4k --fdatasync=1 --filename=set.log --size=16m --thinktime=3000 \
		--direct=1 --time_based --runtime="$2" --overwrite=1
}
run_bursts() {
	fio_in "$1" "$2" --ioengine=libaio --iodepth=16 --rw=randrw --rwmixread=70 --bs=8k --thinktime=100000 \
		--thinktime_blocks=16 --thinktime_blocks_type=complete
}
run_arrivals() { # at rates that belong to the mix, so that fio does not send more writes where reads are late
	fio_in "$1" "$2" --ioengine=libaio --iodepth=16 --thread --rw=randrw --rwmixread=70 --bs=8k --numjobs=5 --rate_iops=35,15 \
		--rate_process=poisson --random_distribution=zipf:0.9
}
run_poisson() {
	fio_in "$1" "$2" --ioengine=libaio --iodepth=16 --thread --rw=randrw --rwmixread=70 --bs=8k --numjobs=5 --rate_iops=50,50 \
		--rate_process=poisson --random_distribution=zipf:0.9
}

# A run of a few seconds would have a checkpoint, a burst of the background writer or a vacuum, or none: the background
# writer begins when the buffer pool is full, and a checkpoint where the log that earlier runs have written ends.
start_postgres() { # FOLDER [COMMAND], which it is started by
	${2:-} setpriv --reuid=postgres --regid=postgres --clear-groups "$pg/postgres" -D "$1/pg" -k "$work" \
		-c shared_buffers=16MB -c listen_addresses= -c max_wal_size=1GB -c checkpoint_timeout=1h -c bgwriter_lru_maxpages=0 \
		-c autovacuum=off >"$OUT/postgres.log" 2>&1 &
	postmaster=$1/pg/postmaster.pid
	for _ in $(seq 100); do
		! pg_isready -q -h "$work" || return 0
		sleep 0.1
	done
	say "postgres does not answer: $OUT/postgres.log"
	exit 1
}
stop_postgres() { # [SIGNAL]: INT for an orderly stop, QUIT where the database is thrown away
	local pid
	pid=$(head -n 1 "$postmaster" 2>/dev/null || true)
	postmaster=""
	[ -n "$pid" ] || return 0
	kill -"${1:-INT}" "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
}
# Makes the database once, in memory, as it is after an orderly stop: every run begins with a copy of it.
make_database() {
	[ ! -d "$work/master" ] || return 0
	chmod 777 "$work"
	mkdir -m 700 "$work/master"
	chown postgres "$work/master"
	runuser -u postgres -- "$pg/initdb" -D "$work/master/pg" --no-sync -A trust
	start_postgres "$work/master"
	runuser -u postgres -- pgbench -h "$work" -i -q -s 10 postgres
	stop_postgres
}
setup_pgbench() { make_database; }
# Every run begins with the same files, an empty buffer pool and an empty page cache. Otherwise one run finds its pages in
# memory that the next one has to read. The tables are larger than what a run can read, so that it reads until its end.
begin_pgbench() {
	rm -rf "${1:?}/pg"
	cp -a "$work/master/pg" "$1/pg"
	sync -f "$1"
	echo 3 >/proc/sys/vm/drop_caches
	start_postgres "$1" in_group
	sync -f "$1"
}
# All runs draw the same accounts in the same order.
run_pgbench() { runuser -u postgres -- pgbench -h "$work" -n -c $((4 * times)) -j 2 --random-seed=1 -T "$2" postgres; }
# Data that is thrown away need not be written, which would happen while the next application runs.
end_pgbench() {
	local database=${postmaster%/*}
	stop_postgres QUIT
	rm -rf "${database:?}"
	sync -f "${database%/*}"
}

keys="--num=40000 --value_size=1000 --use_direct_reads=1 --use_direct_io_for_flush_and_compaction=1 --cache_size=4000000
	--write_buffer_size=8000000 --compression_type=none"
# shellcheck disable=SC2086
setup_db_bench() { db_bench --db="$1/db" --benchmarks=fillseq $keys; }
# shellcheck disable=SC2086
run_db_bench() {
	in_group db_bench --db="$1/db" --use_existing_db=1 --threads=$((4 * times)) --duration="$2" --benchmarks=readrandomwriterandom \
		--readwritepercent=70 --sync=1 $keys
}

# fileops makes its files before it is told to go, so that only its work is recorded.
begin_fileops() { # FOLDER KIND
	rm -rf "${1:?}/$2"
	mkdir "$1/$2"
	FILEOPS_GO=$work/go in_group "$fileops" "$1/$2" "$2" $((6 * times)) "$SECONDS_EACH" 150 >"$OUT/fileops.out" &
	worker=$!
	while [ ! -e "$1/$2/ready" ]; do kill -0 "$worker"; sleep 0.1; done
	sync -f "$1"
}
run_fileops() {
	touch "$work/go"
	wait "$worker"
	rm "$work/go"
}
begin_mail() { begin_fileops "$1" mail; }
begin_file() { begin_fileops "$1" file; }
run_mail() { run_fileops; }
run_file() { run_fileops; }

# Applications of scripts/study-new-cases.sh. What they read comes from the volume: the page cache is empty when a run
# begins. What they unpack or clone lies in memory.

cold() { # FOLDER: the page cache of its volume is dropped
	local name=${1%/*}
	name=${name##*/}
	umount "$work/$name"
	mount -o noatime "${device[$name]}" "$work/$name"
}
begin_wal() { cold "$1"; }
begin_git() { cold "$1"; }
begin_tree() { cold "$1"; }
begin_scan() { cold "$1"; }

small_files() { # FOLDER NUMBER: files of 1 to 24 KiB, 20 in a folder, of text that does not compress away
	local i
	for ((i = 0; i < $2; i++)); do
		((i % 20)) || mkdir -p "$1/$((i / 20))"
		head -c $((768 + i * 7919 % 18000)) /dev/urandom | base64 >"$1/$((i / 20))/file.$i"
	done
}

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

# The second set of scripts/study-new-cases.sh.

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

# The third set of scripts/study-new-cases.sh.

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
cold_files() { # FILE...: they leave the page cache
	local file
	for file; do dd if="$file" iflag=nocache count=0 status=none; done
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

. scripts/study-cases-4.sh
. scripts/study-cases-5.sh
. scripts/study-cases-6.sh
. scripts/study-cases-7.sh
. scripts/study-cases-8.sh
. scripts/study-cases-9.sh
. scripts/study-cases-10.sh
. scripts/study-cases-11.sh

# ---- recording ----

has() { declare -F "$1" >/dev/null; }

setup() { # APPLICATION VOLUME: once
	local app=$1 folder=$work/$2/$1
	[ ! -d "$folder" ] || return 0
	mkdir -m 777 "$folder"
	if has "setup_$app"; then "setup_$app" "$folder"; elif ! has "begin_$app"; then setup_fio "$folder"; fi >"$OUT/$app.setup" 2>&1
	sync -f "$folder"
}

campaign() { # VOLUME: a store that is there is not measured again; a device that is newer than it is kept
	local plan=$OUT/$1.yaml
	if [ ! -s "$OUT/$1.sqlite" ]; then
		need_volumes
		sed -e "s|/mnt/new|$work/$1|; s/file_set: 512m/file_set: 64m/" docs/examples/plans/storage.yaml |
			awk -v every="$EVERY" '!/^ *- \{/ || nr++ % every == 0' >"$plan"
		local limit=() go_on=() status=0
		[ ! -s "$OUT/$1.part" ] || go_on=(--resume)
		room 20
		[ -z "${PIECE_S:-}" ] || limit=(timeout --foreground -s INT $((PIECE_S - SECONDS - 8)))
		say "campaign of $1"
		"${limit[@]}" "$blkcast" measure "$plan" --db "$OUT/$1.part" "${go_on[@]}" --set interval="$INTERVAL" \
			--set warm_up=100ms --quiet || status=$?
		[ $status != 124 ] || room "$PIECE_S"
		[ $status = 0 ] || exit $status
		mv "$OUT/$1.part" "$OUT/$1.sqlite"
	fi
	[ -z "${RECORD_ONLY:-}" ] && [ ! "$OUT/$1.json" -nt "$OUT/$1.sqlite" ] || return 0
	room 90
	say "calibration of $1"
	"$blkcast" storage calibrate --db "$OUT/$1.sqlite" -o "$OUT/$1.json" -q >"$OUT/$1.txt"
}

# Runs applications at once, and records the disks of all. STORE.store gets the requests, and STORE.devices the names of
# the disks in their order. Nothing is done if the recording is there already.
run_together() { # STORE APPLICATION@DISK...
	local at=$1 load app nr=0 names="" pids=() failed=""
	shift
	[ ! -d "$at.store" ] || return 0
	room $((SECONDS_EACH + 8))
	need_volumes
	say "${at##*/}"
	for load; do setup "${load%@*}" "${load#*@}"; done
	rm -rf "$at.part" "$at.devices"
	for load; do
		app=${load%@*}
		! has "begin_$app" || "begin_$app" "$work/${load#*@}/$app"
		names+=,${device[${load#*@}]#/dev/}
		echo "${device[${load#*@}]#/dev/}" >>"$at.devices"
	done
	"$agent" --device "${names#,}" --sink "file:$at.part" 2>"$OUT/agent.log" &
	watching=$!
	sleep 1
	for load; do
		app=${load%@*}
		if [ $((++nr)) -lt $# ]; then
			"run_$app" "$work/${load#*@}/$app" "$SECONDS_EACH" >"$at.$app.out" 2>&1 &
			pids+=($!)
		else # in this shell, of which what begin_NAME started is a child
			"run_$app" "$work/${load#*@}/$app" "$SECONDS_EACH" >"$at.$app.out" 2>&1 || failed=1
		fi
	done
	for load in "${pids[@]}"; do wait "$load" || failed=1; done
	sleep 0.3
	kill -INT "$watching"
	wait "$watching" || true
	watching=""
	[ -z "$failed" ] || {
		say "${at##*/} failed: ${at##*/}.*.out in $OUT say why"
		exit 1
	}
	for load; do ! has "end_${load%@*}" || "end_${load%@*}"; done
	mv "$at.part" "$at.store"
}

# Ends the script with exit status 4 if its time is over. Called again, it goes on, since what it has measured stays.
in_time() {
	[ $SECONDS -gt "$LIMIT_S" ] || return 0
	say "the time is over: call ${0##*/} again for the rest"
	exit 4
}

# predict ANSWER COMMAND OPTION...: on the new volume, and predict_by, of which the options name it. "Does not carry the
# load" (exit status 1) and "cannot tell" (3) have their rows all the same. An answer that is newer than the device and
# the program is kept.
predict() { predict_by "$@" --storage "$OUT/new.json"; }
predict_by() {
	local answer=$1 status=0
	shift
	[ ! "$answer" -nt "$OUT/new.json" ] || [ ! "$answer" -nt "$blkcast" ] || return 0
	"$blkcast" "$@" --json -q >"$answer.part" || status=$?
	[ $status = 0 ] || [ $status = 1 ] || [ $status = 3 ] || exit 1
	mv "$answer.part" "$answer"
}
