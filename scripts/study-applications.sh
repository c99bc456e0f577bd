#!/usr/bin/env bash
# How far predictions of real applications by a simulated device are off, by really running them there. As root,
# on a machine on which nothing else runs:
#
#	scripts/study-applications.sh [OUT [APPLICATION...]]
#
# Each application is recorded on an old volume. The new volume is known by a campaign alone
# (docs/examples/plans/storage.yaml, blkcast storage calibrate); blkcast study migrate --storage predicts what the
# recorded requests meet there. Then the application really runs on the new volume. Old and new runs alternate,
# until the application's own repeat error is at most 10 % or REPEATS pairs are done. OUT (default
# build/study-applications) gets the device, an answer for each run, and results.md, which is printed. What is
# there already is not measured again. Beside results.md, applications.csv has each run's predicted and measured
# times, and applications.relative.csv those of the relative answers: the tables for blkcast study --intervals.
#
# SHORT=1: twelve minutes at most (2 pairs of 5 s); else about an hour. REPEATS=, SECONDS_EACH=, INTERVAL= of the
# campaign, EVERY=n: every n-th configuration of it. OLD_CAMPAIGN=1: the old volume is measured as well, and
# predictions relative to it are added. LIMIT_S= seconds after which no pair is begun but the first ones.
# RECORD_ONLY=1: measures and records, and leaves calibration and predictions to a later call, which finds what is there.
# BACKING=/dev/shm is where the files of the set-up lie.
#
# Volumes serve in memory, with a delay for each request (nbdkit), as a file through FUSE under a loop device
# with ext4:
#	old	four requests at a time, reads take 2 ms, writes 3 ms
#	new	one request at a time, reads take 1 ms, writes 2 ms
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/study-applications}
[ $# = 0 ] || shift
APPS=${*:-sync async4 async32 sizes streams poisson pgbench db_bench mail file}
if [ -n "${SHORT:-}" ]; then
	REPEATS=${REPEATS:-2} SECONDS_EACH=${SECONDS_EACH:-5} INTERVAL=${INTERVAL:-700ms} LIMIT_S=${LIMIT_S:-630}
else
	REPEATS=${REPEATS:-20} SECONDS_EACH=${SECONDS_EACH:-15} INTERVAL=${INTERVAL:-3s} OLD_CAMPAIGN=${OLD_CAMPAIGN:-1}
	LIMIT_S=${LIMIT_S:-14400}
fi
EVERY=${EVERY:-1}
BACKING=${BACKING:-/dev/shm}
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
		echo "study-applications: $program is missing: scripts/deps.sh build case, then make tests" >&2
		exit 2
	}
done
prior=""
! chrt -f 20 true 2>/dev/null || prior="chrt -f 20"

work=$(mktemp -d "$BACKING/blkcast-applications.XXXXXX")
chmod 711 "$work"
memory=""
devices=() servers=() watching="" postmaster=""
tidy() {
	local name
	set +e # what fails here must not keep the rest from being taken down
	[ -z "$postmaster" ] || stop_postgres
	[ -z "$watching" ] || kill -INT "$watching" 2>/dev/null || true
	for name in old new; do
		umount "$work/$name" 2>/dev/null || true
	done
	for name in "${devices[@]}"; do losetup -d "$name" || true; done
	sleep 0.3
	for name in "$work"/*.img; do umount "$name" 2>/dev/null || umount -l "$name" 2>/dev/null || true; done
	[ ${#servers[@]} = 0 ] || kill "${servers[@]}" 2>/dev/null || true
	wait
	rm -rf "$work"
	[ -z "$memory" ] || rmdir "$memory" 2>/dev/null || true
}
trap tidy EXIT

say() { echo "$(date +%T) $*" >&2; }

# ---- volumes ----

declare -A device
volume() { # NAME READ-TIME WRITE-TIME [OPTION...]: options of nbdkit
	local name=$1 read=$2 write=$3 serialize=()
	shift 3
	[ "$1" != --filter=noparallel ] || serialize=(serialize=all-requests)
	touch "$work/$name.img"
	$prior nbdkit -f -U "$work/$name.socket" "$@" --filter=delay memory 2G rdelay="$read" wdelay="$write" "${serialize[@]}" &
	servers+=($!)
	while [ ! -S "$work/$name.socket" ]; do kill -0 "${servers[-1]}" || exit 1; sleep 0.1; done
	$prior nbdfuse "$work/$name.img" --unix "$work/$name.socket" &
	servers+=($!)
	while [ ! -s "$work/$name.img" ]; do kill -0 "${servers[-1]}" || exit 1; sleep 0.1; done
	device[$name]=$(losetup -f --show --direct-io=on "$work/$name.img")
	devices+=("${device[$name]}")
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "${device[$name]}"
	mkdir "$work/$name"
	mount -o noatime "${device[$name]}" "$work/$name"
	chmod 777 "$work/$name"
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

# ---- applications: setup_NAME FOLDER, begin_NAME FOLDER before a run, run_NAME FOLDER SECONDS ----

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
run_sync() { fio_in "$1" "$2" --ioengine=psync --thread --rw=randrw --rwmixread=70 --bs=8k --numjobs=4 --thinktime=4000; }
run_async4() { fio_in "$1" "$2" --ioengine=libaio --iodepth=4 --rw=randrw --rwmixread=50 --bs=8k; }
run_async32() { fio_in "$1" "$2" --ioengine=libaio --iodepth=32 --rw=randrw --rwmixread=70 --bs=4k; }
run_sizes() { fio_in "$1" "$2" --ioengine=libaio --iodepth=4 --rw=randrw --rwmixread=60 --bssplit=4k/50:16k/30:64k/20; }
run_streams() { # two sequential readers and a writer of a log
	fio_in "$1" "$2" --ioengine=psync --thread --rw=read --bs=64k --numjobs=2 --offset_increment=32m --size=32m \
		--name=log --ioengine=psync --rw=write --bs=4k --fdatasync=1 --filename=set.log --size=16m --thinktime=3000 \
		--direct=1 --time_based --runtime="$2" --overwrite=1
}
run_poisson() {
	fio_in "$1" "$2" --ioengine=libaio --iodepth=16 --thread --rw=randrw --rwmixread=70 --bs=8k --numjobs=5 --rate_iops=50,50 \
		--rate_process=poisson --random_distribution=zipf:0.9
}

start_postgres() { # FOLDER [COMMAND], which it is started by
	${2:-} setpriv --reuid=postgres --regid=postgres --clear-groups "$pg/postgres" -D "$1/pg" -k "$work" \
		-c shared_buffers=16MB -c listen_addresses= -c max_wal_size=64MB -c checkpoint_timeout=30s >"$OUT/postgres.log" 2>&1 &
	postmaster=$1/pg/postmaster.pid
	for _ in $(seq 100); do
		! pg_isready -q -h "$work" || return 0
		sleep 0.1
	done
	say "postgres does not answer: $OUT/postgres.log"
	exit 1
}
stop_postgres() {
	local pid
	pid=$(head -n 1 "$postmaster" 2>/dev/null || true)
	postmaster=""
	[ -n "$pid" ] || return 0
	kill -INT "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
}
setup_pgbench() {
	if [ ! -d "$work/master" ]; then
		chmod 777 "$work"
		mkdir -m 700 "$work/master"
		chown postgres "$work/master"
		runuser -u postgres -- "$pg/initdb" -D "$work/master/pg" --no-sync -A trust
		start_postgres "$work/master"
		runuser -u postgres -- pgbench -h "$work" -i -q -s 5 postgres
		stop_postgres
	fi
	cp -a "$work/master/pg" "$1/pg"
}
begin_pgbench() { start_postgres "$1" in_group; }
run_pgbench() { runuser -u postgres -- pgbench -h "$work" -c 4 -j 2 -T "$2" postgres; }
end_pgbench() { stop_postgres; }

keys="--num=40000 --value_size=1000 --use_direct_reads=1 --use_direct_io_for_flush_and_compaction=1 --cache_size=4000000
	--write_buffer_size=8000000 --compression_type=none"
# shellcheck disable=SC2086
setup_db_bench() { db_bench --db="$1/db" --benchmarks=fillseq $keys; }
# shellcheck disable=SC2086
run_db_bench() {
	in_group db_bench --db="$1/db" --use_existing_db=1 --threads=4 --duration="$2" --benchmarks=readrandomwriterandom \
		--readwritepercent=70 --sync=1 $keys
}

# fileops makes its files before it is told to go, so that only its work is recorded.
begin_fileops() { # FOLDER KIND
	rm -rf "${1:?}/$2"
	mkdir "$1/$2"
	FILEOPS_GO=$work/go in_group "$fileops" "$1/$2" "$2" 6 "$SECONDS_EACH" 150 >"$OUT/fileops.out" &
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

# ---- recording ----

has() { declare -F "$1" >/dev/null; }

setup() { # APPLICATION VOLUME: once
	local app=$1 folder=$work/$2/$1
	[ ! -d "$folder" ] || return 0
	mkdir -m 777 "$folder"
	if has "setup_$app"; then "setup_$app" "$folder"; elif ! has "begin_$app"; then setup_fio "$folder"; fi >"$OUT/$app.setup" 2>&1
	sync -f "$folder"
}

# record APPLICATION VOLUME PAIR: its requests, which stay in OUT, and what is predicted for them on the new volume
record() {
	local app=$1 name=$2 at=$OUT/$1.$2.$3 folder=$work/$2/$1
	if [ ! -d "$at.store" ]; then
		setup "$app" "$name"
		! has "begin_$app" || "begin_$app" "$folder"
		rm -rf "$at.part"
		"$agent" --device "${device[$name]#/dev/}" --sink "file:$at.part" 2>"$OUT/agent.log" &
		watching=$!
		sleep 1
		"run_$app" "$folder" "$SECONDS_EACH" >"$at.out" 2>&1 || {
			say "$app failed on $name: $at.out says why"
			exit 1
		}
		sleep 0.3
		kill -INT "$watching"
		wait "$watching" || true
		watching=""
		! has "end_$app" || "end_$app"
		mv "$at.part" "$at.store"
	fi
	[ -z "${RECORD_ONLY:-}" ] || return 0
	predict "$at.store" "$at.json" --storage "$OUT/new.json"
	[ -z "${OLD_CAMPAIGN:-}" ] || predict "$at.store" "$at.relative.json" --storage "$OUT/new.json" --from "$OUT/old.json"
}

# predict STORE ANSWER OPTION...: "does not carry the load" (exit status 1) and "cannot tell" (3) have their rows all the
# same. An answer that is newer than the device is kept.
predict() {
	local store=$1 answer=$2 status=0
	shift 2
	[ ! "$answer" -nt "$OUT/new.json" ] || return 0
	"$blkcast" study migrate "$store" "$@" --json -q >"$answer.part" || status=$?
	[ $status = 0 ] || [ $status = 1 ] || [ $status = 3 ] || exit 1
	mv "$answer.part" "$answer"
}

# The largest repeat error of an application's means, in percent: mean distance of the runs on the new volume from
# their mean.
repeat_error() {
	cat "$OUT/$1".new.[0-9]*.json | jq -s '[.[] | select(.by == "device") | .results[] | select(.point == "mean")] | group_by(.type) |
		map(map(.before_s) | (add / length) as $m | map((. - $m) | fabs) | add / length / $m) | max * 100'
}

campaign() { # VOLUME: a store that is there is not measured again; a device that is newer than it is kept
	local plan=$OUT/$1.yaml
	if [ ! -s "$OUT/$1.sqlite" ]; then
		sed -e "s|/mnt/new|$work/$1|; s/file_set: 512m/file_set: 64m/" docs/examples/plans/storage.yaml |
			awk -v every="$EVERY" '!/^ *- \{/ || nr++ % every == 0' >"$plan"
		rm -f "$OUT/$1.part"
		say "campaign of $1"
		"$blkcast" measure "$plan" --db "$OUT/$1.part" --set interval="$INTERVAL" --set warm_up=100ms --quiet
		mv "$OUT/$1.part" "$OUT/$1.sqlite"
	fi
	[ -z "${RECORD_ONLY:-}" ] && [ ! "$OUT/$1.json" -nt "$OUT/$1.sqlite" ] || return 0
	say "calibration of $1"
	"$blkcast" storage calibrate --db "$OUT/$1.sqlite" -o "$OUT/$1.json" -q >"$OUT/$1.txt"
}

# ---- results ----

rows() { # SUFFIX: one row per application, type and point: measured, predicted, errors, coverage
	local app
	for app in $APPS; do
		jq -rn --arg app "$app" --slurpfile old <(cat "$OUT/$app".old.[0-9]$1 "$OUT/$app".old.[0-9][0-9]$1 2>/dev/null) \
			--slurpfile new <(cat "$OUT/$app".new.[0-9].json "$OUT/$app".new.[0-9][0-9].json 2>/dev/null) '
			def ms: if . == null then "-" else . * 1e5 | round / 100 | tostring end;
			def pc: if . == null then "-" else . * 1000 | round / 10 | "\(.) %" end;
			def mean: if length == 0 then null else add / length end;
			("read", "write", "flush") as $t | ("mean", "p50", "p95", "p99") as $p |
			def of: [.[] | .results[] | select(.type == $t and .point == $p)];
			($new | of | map(.before_s | values)) as $truth | ($truth | mean) as $m | ($old | of) as $predictions |
			select($m != null and ($predictions | length) > 0) |
			($truth | map((. - $m) | fabs) | mean / $m) as $repeat |
			($predictions | map(.target_s) | mean) as $e |
			($predictions | map(select(.ci != null and .ci[0] <= $m and $m <= .ci[1])) | length) as $in |
			($predictions | map(select(.ci != null)) | length) as $with |
			($new | of | map(select(.before_s != null and .target_s != null) | (.target_s / .before_s - 1) | fabs) | mean) as $same |
			"| \($app) | \($t) | \($p) | \($predictions | map(.before_s | values) | mean | ms) | \($m | ms) | \($repeat | pc) | \($e | ms) | " +
			"\(($e / $m - 1) | fabs | pc) | \($in) of \($with) | \($same | pc) | " +
			"\(if ($old | map(.results[] | select(.why != null and (.why | test("campaign|load has")))) | length) > 0 then "cannot tell" else "" end) |"'
	done
}

summary() { # FILE: mean error by point, and the coverage
	awk -F'|' '
		{ gsub(/ /, "", $4); split($9, e, " "); split($10, c, " "); split($11, s, " ") }
		{ sum[$4] += e[1]; nr[$4]++; same[$4] += s[1]; in_ += c[1]; of += c[3] }
		END {
			print "| point | mean error of migration | mean error where it was recorded | rows |"
			print "|---|---|---|---|"
			n = split("mean p50 p95 p99", order, " ")
			for (i = 1; i <= n; i++) if (nr[order[i]])
				printf "| %s | %.1f %% | %.1f %% | %d |\n", order[i], sum[order[i]] / nr[order[i]], same[order[i]] / nr[order[i]], nr[order[i]]
			if (of) printf "\nMeasured values inside the 90 %% interval: %d of %d (%.0f %%).\n", in_, of, 100 * in_ / of
		}' "$1"
}

results() {
	local suffix=.json what
	echo "# Applications, predicted and really run"
	echo
	echo "scripts/study-applications.sh wrote this page: ${SECONDS_EACH} s of each run, up to $REPEATS pairs, a campaign with an"
	echo "interval of $INTERVAL. The machine had $(nproc) processors; its load average was $loads when the script began."
	for what in absolute ${OLD_CAMPAIGN:+relative}; do
		[ $what = absolute ] || suffix=.relative.json
		rows $suffix >"$OUT/$what.rows"
		echo
		echo "## Migration from old to new, $what answers"
		echo
		summary "$OUT/$what.rows"
		echo
		echo "| application | type | point | old, ms | new, ms | repeat error | predicted, ms | error | in the interval | error on new itself | |"
		echo "|---|---|---|---|---|---|---|---|---|---|---|"
		cat "$OUT/$what.rows"
	done
	echo
	echo "## Errors of the new volume's device, held out"
	echo
	echo "| type | point | configurations | mean error | 90 % within a factor of |"
	echo "|---|---|---|---|---|"
	"$blkcast" storage show "$OUT/new.json" --json | jq -r '.held_out[] |
		"| \(.type) | \(.point) | \(.configurations) | \(.mean_error_ratio * 1000 | round / 10) % | \(if .interval_factor then .interval_factor * 100 | round / 100 else "-" end) |"'
}

loads=$(cut -d' ' -f1 /proc/loadavg)
make_group
volume old 2ms 3ms -t 4
volume new 1ms 2ms --filter=noparallel
campaign new
[ -z "${OLD_CAMPAIGN:-}" ] || campaign old
for ((pair = 1; pair <= REPEATS; pair++)); do
	for app in $APPS; do
		[ "$pair" -le 2 ] || [ -n "${RECORD_ONLY:-}" ] || awk "BEGIN { exit !($(repeat_error "$app") > 10) }" || continue
		if [ "$pair" -gt 1 ] && [ $SECONDS -gt "$LIMIT_S" ]; then
			say "$app, pair $pair: left out, the time is over"
			continue
		fi
		say "$app, pair $pair"
		record "$app" old "$pair"
		record "$app" new "$pair"
	done
done
[ -z "${RECORD_ONLY:-}" ] || exit 0
results >"$OUT/results.md"
scripts/study-applications-table.sh "$OUT" >"$OUT/applications.csv"
[ -z "${OLD_CAMPAIGN:-}" ] || scripts/study-applications-table.sh "$OUT" .relative.json >"$OUT/applications.relative.csv"
cat "$OUT/results.md"
