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
poll=/sys/module/haltpoll/parameters/guest_halt_poll_ns
polled="" grouped=""
autogroup=/proc/sys/kernel/sched_autogroup_enabled
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
	[ -z "$polled" ] || echo "$polled" >"$poll"
	[ -z "$grouped" ] || echo "$grouped" >"$autogroup"
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

# A storage elsewhere does not wait for the processors of its guest, and these volumes are served by threads on the same
# processors. So applications, and what is started after "yields on", take only what the kernel's threads and the volume's
# leave of them. A group of a session's processes would hide that from the kernel.
yields() { # on|off
	if [ "$1" = on ]; then
		if [ -z "$grouped" ] && [ -w "$autogroup" ]; then
			grouped=$(cat "$autogroup")
			echo 0 >"$autogroup"
		fi
		chrt -i -p 0 $$
	else
		chrt -o -p 0 $$
	fi
}

# ---- volumes ----

# Lets a virtual processor without work look for some for 5 ms before it goes back to its host, which gives it again late.
# A request passes several threads on its way through FUSE and back. A lone read that is to take 1 ms beside nothing else
# took 1.20 to 1.32 ms in five runs without this, and 1.12 to 1.15 in five between them with it (a write of 2 ms: 2.22 to
# 2.33, and 2.16 to 2.24).
poll_before_halt() {
	[ -w "$poll" ] || {
		say "no haltpoll: volumes differ more from run to run"
		return 0
	}
	polled=$(cat "$poll")
	echo 5000000 >"$poll"
}

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
	poll_before_halt
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

small_files() { # FOLDER NUMBER: files of 1 to 24 KiB, 20 in a folder, of text that does not compress away
	local i
	for ((i = 0; i < $2; i++)); do
		((i % 20)) || mkdir -p "$1/$((i / 20))"
		head -c $((768 + i * 7919 % 18000)) /dev/urandom | base64 >"$1/$((i / 20))/file.$i"
	done
}

cold_files() { # FILE...: they leave the page cache
	local file
	for file; do dd if="$file" iflag=nocache count=0 status=none; done
}

# wait_for COMMAND...: until it succeeds, 20 s at most
wait_for() {
	local i
	for ((i = 0; i < 200; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	say "no answer: $*"
	exit 1
}
# start_server COMMAND...: in the group of little memory
start_server() {
	in_group "$@" &
	server=$!
}
# wait_server COMMAND...: until it succeeds. The server is a child of the shell that start_server began.
wait_server() {
	wait_for "$@"
	mapfile -t served < <(pgrep -P "$server")
	servers+=("${served[@]}")
}
stop_server() {
	kill "${served[@]}"
	wait "$server" || true
}

for cases in scripts/study-cases/set-*.sh; do . "$cases"; done

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
	yields on
	for load; do
		app=${load%@*}
		! has "begin_$app" || "begin_$app" "$work/${load#*@}/$app"
		names+=,${device[${load#*@}]#/dev/}
		echo "${device[${load#*@}]#/dev/}" >>"$at.devices"
	done
	chrt -o 0 "$agent" --device "${names#,}" --sink "file:$at.part" 2>"$OUT/agent.log" &
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
	yields off
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
