#!/usr/bin/env bash
# Repeats case studies of Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments, 2015,
# section 9.3: real applications are characterized while they run, replayed from the stored trace (blkcast mimic
# --replay --run), reproduced from the profile (blkcast mimic), migrated to another volume, and consolidated in pairs.
# Applications run there again, too: no replay can be nearer to one run than another run is. As root:
#
#	scripts/case-studies.sh [OUT [APPLICATION...]]
#
# OUT (default build/case-studies) gets every profile, job and the tables (tables.md). What is there
# already is not measured again. Applications: dbench postmark pgbench db_bench. REPEATS=20 of each
# characterization, SECONDS_EACH=8 of a run, BACKING=/dev/shm where the volumes lie.
#
# A volume is a loop device on a loop device in memory whose lower one has limits of the kernel's
# throttling, as volumes of clouds and shared arrays have: the storage, not the machine's processors,
# is what the applications wait for. The agent watches the upper one. Each application has little
# memory for its page cache, so that it reads from storage.
#	base	ext4, scheduler none, 2000 reads/s, 1500 writes/s
#	target	xfs, scheduler mq-deadline, 1200 reads/s, 800 writes/s
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/case-studies}
[ $# = 0 ] || shift
APPS=${*:-dbench postmark pgbench db_bench}
REPEATS=${REPEATS:-20}
SECONDS_EACH=${SECONDS_EACH:-8}
BACKING=${BACKING:-/dev/shm}
CORRECTIONS=2
build=$(pwd)/build
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1 || true)
PATH=$PATH:$pg
for program in fio jq dbench postmark pgbench initdb db_bench mkfs.ext4 mkfs.xfs losetup; do
	command -v $program >/dev/null || {
		echo "case-studies: $program is missing: scripts/deps.sh build case" >&2
		exit 2
	}
done

work=$(mktemp -d "$BACKING/blkcast-case.XXXXXX")
chmod 711 "$work"
memory="" throttle="" version=2 ends=""
[ ! -d /sys/fs/cgroup/blkio ] || version=1

declare -A upper # of a volume: its loop device
lowers=() mounts=() volume_limits=() agents=()
close_volumes() {
	local m d
	for m in "${mounts[@]}"; do umount "$m" 2>/dev/null || umount -l "$m"; done
	for d in "${upper[@]}"; do losetup -d "$d"; done
	for d in "${lowers[@]}"; do
		[ $version = 2 ] || limit_v1 "$d" 0 0
		losetup -d "$d"
	done
	mounts=() lowers=() upper=()
	rm -f "$work"/*.img
}
tidy() {
	[ -z "${postmaster:-}" ] || stop_postgres
	[ ${#agents[@]} = 0 ] || kill -INT "${agents[@]}" 2>/dev/null || true
	wait
	close_volumes
	rm -rf "$work"
	[ -z "$memory" ] || rmdir "$memory"/* "$memory" 2>/dev/null || true
}
trap tidy EXIT

# ---- volumes ----

limit_v1() { # DEVICE READS/S WRITES/S: of everybody's bios
	local at
	at=$(cat "/sys/block/${1#/dev/}/dev")
	echo "$at $2" >/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device
	echo "$at $3" >/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device
}
limit() {
	if [ $version = 1 ]; then
		limit_v1 "$@"
	else
		echo "$(cat "/sys/block/${1#/dev/}/dev") riops=$2 wiops=$3" >"$throttle/io.max"
	fi
}

# volume KIND NAME...: one lower device, an upper one on an equal part of it for each NAME; the limits
# begin with what is watched
volume() {
	local kind=$1 low at=0 name scheduler=none reads=2000 writes=1500
	shift
	[ "$kind" = base ] || reads=1200 writes=800 scheduler=mq-deadline
	truncate -s $(($# * 512))M "$work/$kind.img"
	low=$(losetup -f --show "$work/$kind.img")
	lowers+=("$low")
	for name in "$@"; do
		upper[$name]=$(losetup -f --show --direct-io=on --offset $((at << 20)) --sizelimit $((512 << 20)) "$low")
		echo $scheduler >"/sys/block/${upper[$name]#/dev/}/queue/scheduler"
		at=$((at + 512))
	done
	volume_limits=("$low" $reads $writes)
}

file_system() { # KIND NAME: on the volume of that name, mounted at $work/NAME
	if [ "$1" = base ]; then
		mkfs.ext4 -q "${upper[$2]}"
	else
		mkfs.xfs -q -f "${upper[$2]}"
	fi
	mkdir -p "$work/$2"
	mount -o noatime "${upper[$2]}" "$work/$2"
	mounts+=("$work/$2")
	chmod 777 "$work/$2"
}

# ---- applications: setup_NAME, and run_NAME for so many seconds, in $work/NAME ----

# in_group NAME COMMAND...: with its share of memory and, by cgroup v2, behind the throttle
in_group() {
	local group=$memory/$1
	shift
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}
make_groups() {
	local app bytes
	if [ $version = 1 ]; then
		memory=/sys/fs/cgroup/memory/blkcast-case
	else
		memory=/sys/fs/cgroup/blkcast-case throttle=/sys/fs/cgroup/blkcast-case
		mkdir -p $memory
		echo "+memory +io" >/sys/fs/cgroup/cgroup.subtree_control
		echo "+memory" >$memory/cgroup.subtree_control
	fi
	mkdir -p $memory/mimic
	for app in $APPS; do
		bytes=$((48 << 20))
		[ "$app" != pgbench ] || bytes=$((96 << 20))
		mkdir -p "$memory/$app"
		if [ $version = 1 ]; then
			echo $bytes >"$memory/$app/memory.limit_in_bytes"
		else
			echo $bytes >"$memory/$app/memory.max"
		fi
	done
}

setup_dbench() { :; }
run_dbench() {
	in_group dbench dbench -D "$work/dbench" -t "$1" -c /usr/share/dbench/client.txt 4
}

setup_postmark() { :; }
run_postmark() {
	printf 'set location %s\nset number 2000\nset size 2000 60000\nset transactions 1000000\nset read 4096\nset write 4096\nset seed 1\nrun\n' \
		"$work/postmark" >"$work/postmark.in"
	in_group postmark timeout --signal=KILL "$1" postmark "$work/postmark.in" || true
	find "$work/postmark" -mindepth 1 -delete
}

setup_pgbench() {
	mkdir "$work/pgbench/data"
	chown postgres "$work/pgbench/data"
	runuser -u postgres -- "$pg/initdb" -D "$work/pgbench/data" --no-sync -A trust >/dev/null
	start_postgres
	runuser -u postgres -- pgbench -h "$work/pgbench" -i -q -s 12 postgres
	stop_postgres
}
start_postgres() {
	in_group pgbench setpriv --reuid=postgres --regid=postgres --clear-groups \
		"$pg/postgres" -D "$work/pgbench/data" -k "$work/pgbench" -c shared_buffers=16MB \
		-c listen_addresses= -c max_wal_size=64MB -c checkpoint_timeout=30s >"$OUT/postgres.log" 2>&1 &
	postmaster=$!
	for _ in $(seq 100); do
		pg_isready -q -h "$work/pgbench" && break
		sleep 0.1
	done
}
stop_postgres() {
	# the server itself, not the shell that put it into its group
	kill -INT "$(head -n 1 "$work/pgbench/data/postmaster.pid")" || true
	wait "$postmaster" || true
	postmaster=""
}
run_pgbench() {
	runuser -u postgres -- pgbench -h "$work/pgbench" -c 6 -j 2 -T "$1" postgres
}

db_bench_options="--num=60000 --value_size=1000 --use_direct_reads=1 --use_direct_io_for_flush_and_compaction=1
	--cache_size=4000000 --write_buffer_size=8000000 --compression_type=none"
setup_db_bench() {
	# shellcheck disable=SC2086
	in_group db_bench db_bench --db="$work/db_bench/db" --benchmarks=fillseq $db_bench_options
}
run_db_bench() {
	# shellcheck disable=SC2086
	in_group db_bench db_bench --db="$work/db_bench/db" --use_existing_db=1 --threads=4 --duration="$1" \
		--benchmarks=readrandomwriterandom --readwritepercent=70 $db_bench_options
}

begin() { # KIND NAME: what a run needs before it is watched
	file_system "$1" "$2"
	"setup_$2" >"$OUT/$2.setup" 2>&1
	sync -f "$work/$2"
	[ "$2" != pgbench ] || start_postgres
}
end() {
	[ "$1" != pgbench ] || stop_postgres
}

# ---- what is measured ----

# watch PROFILE NAME... -- COMMAND: profiles of the volumes of NAME while COMMAND runs, without its
# first and last seconds (where `ends` is set, from the first request to the last), as PROFILE.NAME.json;
# the requests stay in $work/store.NAME
watch() {
	local profile=$1 names=() name from to
	shift
	for (( ; $# > 0; )); do
		[ "$1" != -- ] || break
		names+=("$1")
		shift
	done
	shift
	limit "${volume_limits[@]}"
	for name in "${names[@]}"; do
		rm -rf "$work/store.$name"
		"$build/blkcast-agent" --device "${upper[$name]#/dev/}" --sink "file:$work/store.$name" &
		agents+=($!)
	done
	sleep 1
	from=$(date +%s.%N)
	"$@" >"$profile.out" 2>&1 || {
		echo "case-studies: $* failed: $profile.out says why" >&2
		exit 1
	}
	to=$(date +%s.%N | awk '{printf "%.3f", $1 - 0.5}')
	from=$(echo "$from" | awk '{printf "%.3f", $1 + 1}')
	sleep 0.3
	kill -INT "${agents[@]}"
	wait "${agents[@]}"
	agents=()
	for name in "${names[@]}"; do
		[ -z "$ends" ] || read -r from to < <("$build/blkcast" dump --store "$work/store.$name" --format csv -q --leave-out-own |
			awk -F, 'NR == 2 { a = $1 } { b = $1 } END { printf "%.3f %.3f\n", a - 0.001, b + 0.05 }')
		"$build/blkcast" characterize --json -q --store "$work/store.$name" \
			--begin "@$from" --end "@$to" | jq '.[0]' >"$profile.$name.json.part"
		jq -e '.lost == 0' "$profile.$name.json.part" >/dev/null || echo "case-studies: $profile: requests lost" >&2
		echo "--begin @$from --end @$to" >"$profile.$name.window"
		mv "$profile.$name.json.part" "$profile.$name.json"
	done
}

# applications KIND PROFILE NAME...: real runs, together on one volume
applications() {
	local kind=$1 profile=$2 name
	shift 2
	volume "$kind" "$@"
	for name in "$@"; do begin "$kind" "$name"; done
	watch "$profile" "$@" -- together "$@"
	for name in "$@"; do end "$name"; done
	close_volumes
}
together() {
	local name pids=()
	for name in "$@"; do
		"run_$name" $((SECONDS_EACH + 2)) &
		pids+=($!)
	done
	for name in "${pids[@]}"; do wait "$name" || true; done
}

# mimics KIND PROFILE RUNS NAME...: the jobs of the applications' profiles, corrected by so many runs
mimics() {
	local kind=$1 profile=$2 runs=$3 name i by pids
	shift 3
	volume "$kind" "$@"
	for name in "$@"; do
		by=""
		for ((i = 0; i < runs; i++)); do by=$by,$OUT/mimic$i.$name.json; done
		"$build/blkcast" mimic "$OUT/base.$name.json" --target "${upper[$name]}" -q --leave-out discards \
			--duration $((SECONDS_EACH + 2))s ${by:+--corrected-by "${by#,}"} -o "$profile.$name.fio"
	done
	watch "$profile" "$@" -- jobs_of "$profile" "$@"
	close_volumes
}
jobs_of() {
	local profile=$1 name pids=()
	shift
	for name in "$@"; do
		in_group mimic timeout 120 fio "$profile.$name.fio" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# replays KIND PROFILE NAME...: the stored requests of the applications
replays() {
	local kind=$1 profile=$2
	shift 2
	volume "$kind" "$@"
	ends=1
	watch "$profile" "$@" -- replays_of "$profile" "$@"
	ends=""
	close_volumes
}
replays_of() {
	local profile=$1 name pids=()
	shift
	for name in "$@"; do
		# shellcheck disable=SC2046
		in_group mimic timeout 120 "$build/blkcast" mimic --replay --run -q --store "$OUT/base.$name.store" \
			$(cat "$OUT/base.$name.window") --leave-out-own --target "${upper[$name]}" \
			--overwrite "${upper[$name]}" --json >"$profile.$name.run" &
		pids+=($!)
	done
	for name in "${pids[@]}"; do wait "$name"; done
}

# once PROFILE NAME... -- COMMAND: where its profiles are missing
once() {
	local profile=$1 name all=1
	shift
	for name; do
		[ "$name" != -- ] || break
		[ -s "$profile.$name.json" ] || all=0
	done
	while [ "$1" != -- ]; do shift; done
	shift
	[ $all = 0 ] || return 0
	echo "$(date +%T) ${profile##*/}" >&2
	"$@"
}

# The repeated characterizations share one file system: each goes on where the one before ended. The
# last one is what replays and mimics start from: the first of them is run right after it.
repeats() {
	local app=$1 i
	[ ! -s "$OUT/repeat$REPEATS.$app.json" ] || return 0
	echo "$(date +%T) $app: $REPEATS characterizations of $SECONDS_EACH s" >&2
	volume base "$app"
	begin base "$app"
	for ((i = 1; i <= REPEATS; i++)); do
		watch "$OUT/repeat$i" "$app" -- together "$app"
	done
	rm -rf "$OUT/base.$app.store"
	cp -r "$work/store.$app" "$OUT/base.$app.store"
	cp "$OUT/repeat$REPEATS.$app.window" "$OUT/base.$app.window"
	cp "$OUT/repeat$REPEATS.$app.json" "$OUT/base.$app.json"
	end "$app"
	close_volumes
}

make_groups
for app in $APPS; do
	repeats "$app"
	once "$OUT/replay" "$app" -- replays base "$OUT/replay" "$app"
	for ((i = 0; i <= CORRECTIONS; i++)); do
		once "$OUT/mimic$i" "$app" -- mimics base "$OUT/mimic$i" $i "$app"
	done
	once "$OUT/moved" "$app" -- applications target "$OUT/moved" "$app"
	once "$OUT/moved-replay" "$app" -- replays target "$OUT/moved-replay" "$app"
	once "$OUT/moved-again" "$app" -- applications target "$OUT/moved-again" "$app"
	once "$OUT/moved-mimic" "$app" -- mimics target "$OUT/moved-mimic" $CORRECTIONS "$app"
done
for a in $APPS; do
	for b in $APPS; do
		[[ $a < $b ]] || continue
		once "$OUT/pair-$a-$b" "$a" "$b" -- applications base "$OUT/pair-$a-$b" "$a" "$b"
		once "$OUT/pair-replay-$a-$b" "$a" "$b" -- replays base "$OUT/pair-replay-$a-$b" "$a" "$b"
		once "$OUT/pair-again-$a-$b" "$a" "$b" -- applications base "$OUT/pair-again-$a-$b" "$a" "$b"
		once "$OUT/pair-mimic-$a-$b" "$a" "$b" -- mimics base "$OUT/pair-mimic-$a-$b" $CORRECTIONS "$a" "$b"
	done
done
scripts/case-tables.py "$OUT" $APPS >"$OUT/tables.md"
cat "$OUT/tables.md"
