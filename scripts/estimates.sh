#!/usr/bin/env bash
# Measures how far estimates of migrations, consolidations, scenarios and headroom are off, by really running
# the estimated cases. Loads are characterized on one throttled volume; another is measured with the README's
# plan, made smaller; models of both are learned; then everything is really run. As root:
#
#	scripts/estimates.sh [OUT]
#
# OUT (default build/estimates) gets profiles, stores and results.md, which is printed at the end. About
# 15 minutes; what is there already is not measured again. BACKING=/dev/shm where the volumes lie,
# SECONDS_EACH=10 of a run, CONFIGURATIONS=60 of a plan.
#
# A volume takes a time for each request, one after the other (nbdkit with its delay filter, in memory), as
# a file through FUSE, and on it are loop devices with ext4: requests queue as at a disk, and so long that
# the machine's processors matter little.
#	old	reads take 6 ms, writes 9 ms
#	new	reads take 4 ms, writes 6 ms
# (The kernel's own throttling is of no use here: it holds even single requests back for clock ticks.)
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/estimates}
SECONDS_EACH=${SECONDS_EACH:-10}
BACKING=${BACKING:-/dev/shm}
CONFIGURATIONS=${CONFIGURATIONS:-60}
SLOTS=4
SET=64m
blkcast=$PWD/build/blkcast
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
for program in fio jq mkfs.ext4 losetup nbdkit nbdfuse; do
	command -v $program >/dev/null || {
		echo "estimates: $program is missing: scripts/deps.sh build case" >&2
		exit 2
	}
done
prior=""
! chrt -f 20 true 2>/dev/null || prior="chrt -f 20"

work=$(mktemp -d "$BACKING/blkcast-estimates.XXXXXX")
uppers=() mounts=() agents=() servers=()
tidy() {
	local d
	[ ${#agents[@]} = 0 ] || kill -INT "${agents[@]}" 2>/dev/null || true
	for d in "${mounts[@]}"; do umount "$d" 2>/dev/null || umount -l "$d"; done
	for d in "${uppers[@]}"; do losetup -d "$d"; done
	for d in "$work"/*.img; do umount "$d" 2>/dev/null || umount -l "$d"; done
	[ ${#servers[@]} = 0 ] || kill "${servers[@]}" 2>/dev/null || true
	wait
	rm -rf "$work"
}
trap tidy EXIT

declare -A upper
volume() { # NAME READ-TIME WRITE-TIME: $work/NAME.1 and so on, each with a file of $SET
	local name=$1 device i
	touch "$work/$name.img"
	$prior nbdkit -f -U "$work/$name.socket" --filter=noparallel --filter=delay memory $((SLOTS * 256))M rdelay="$2" wdelay="$3" \
		serialize=all-requests &
	servers+=($!)
	while [ ! -S "$work/$name.socket" ]; do kill -0 "${servers[-1]}" || exit 1; sleep 0.1; done
	$prior nbdfuse "$work/$name.img" --unix "$work/$name.socket" &
	servers+=($!)
	while [ ! -s "$work/$name.img" ]; do kill -0 "${servers[-1]}" || exit 1; sleep 0.1; done
	for ((i = 1; i <= SLOTS; i++)); do
		device=$(losetup -f --show --direct-io=on --offset $(((i - 1) * 256 << 20)) --sizelimit $((256 << 20)) "$work/$name.img")
		uppers+=("$device")
		upper[$name.$i]=$device
		mkfs.ext4 -q -F -O ^has_journal -E lazy_itable_init=0 "$device"
		mkdir "$work/$name.$i"
		mount -o noatime "$device" "$work/$name.$i"
		mounts+=("$work/$name.$i")
		fio --name=set --filename="$work/$name.$i/set" --size=$SET --rw=write --bs=1m --end_fsync=1 --output=/dev/null
	done
}

# ---- loads: what fio is told ----

direct="--direct=1 --ioengine=psync --thread --norandommap --size=$SET --filename=set --time_based --group_reporting"
declare -A loads=(
	[web]="--rw=randread --bs=4k --numjobs=8 --thinktime=40000"
	[shop]="--rw=randrw --rwmixread=70 --bs=8k --numjobs=6 --thinktime=25000"
	[batch]="--rw=randrw --rwmixread=50 --bs=16k --numjobs=4"
	[log]="--rw=randwrite --bs=16k --numjobs=3 --thinktime=30000"
)
LOADS="web shop batch log"

fio_of() { # LOAD[=CLIENTS] FOLDER SECONDS
	local load=${1%%=*} arguments
	arguments=${loads[$load]}
	[ "$load" = "$1" ] || arguments=$(sed -E "s/numjobs=[0-9]+/numjobs=${1#*=}/" <<<"$arguments")
	# shellcheck disable=SC2086
	(cd "$2" && exec timeout 120 $prior fio --name=load $direct $arguments --runtime="$3" --output=/dev/null)
}

# run RESULT VOLUME LOAD[=CLIENTS]...: side by side; profiles as RESULT.1.json, RESULT.2.json, ...
run() {
	local result=$OUT/$1 volume=$2 pids=() slot=0 from to
	shift 2
	[ ! -s "$result.$#.json" ] || return 0
	echo "$(date +%T) ${result##*/}" >&2
	agents=()
	for slot in $(seq $#); do
		rm -rf "$work/store.$slot"
		build/blkcast-agent --device "${upper[$volume.$slot]#/dev/}" --sink "file:$work/store.$slot" 2>/dev/null &
		agents+=($!)
	done
	sleep 1
	from=$(date +%s.%N)
	for slot in $(seq $#); do
		fio_of "${!slot}" "$work/$volume.$slot" $((SECONDS_EACH + 2)) &
		pids+=($!)
	done
	wait "${pids[@]}"
	to=$(date +%s.%N)
	sleep 0.3
	kill -INT "${agents[@]}"
	wait "${agents[@]}"
	agents=()
	for slot in $(seq $#); do
		$blkcast characterize --json -q --store "$work/store.$slot" --begin "@$(awk "BEGIN { printf \"%.3f\", $from + 1.2 }")" \
			--end "@$(awk "BEGIN { printf \"%.3f\", $to - 0.5 }")" | jq '.[0]' >"$result.$slot.part"
		mv "$result.$slot.part" "$result.$slot.json"
	done
}

# ---- what a volume answers ----

campaign() { # VOLUME
	sed -e "s|/mnt/new|$work/$1.1|; s/file_set: 512m/file_set: $SET/; s/configurations: 60/configurations: $CONFIGURATIONS/" \
		docs/examples/plans/new-storage.yaml >"$OUT/$1.yaml"
	# shellcheck disable=SC2046
	[ -e "$OUT/$1.done" ] || $prior $blkcast measure "$OUT/$1.yaml" --db "$OUT/$1.sqlite" --set interval=1500ms --set warm_up=500ms \
		--quiet $([ ! -s "$OUT/$1.sqlite" ] || echo --resume)
	: >"$OUT/$1.done"
}

# one row of a net's table: CONFIGURATION READERS WRITERS SIZE
net_row() {
	local json=$work/net.json
	# shellcheck disable=SC2046,SC2086
	(cd "$work/new.1" && timeout 120 $prior fio $direct --runtime=3 --ramp_time=0.5 --bs="$4" --output-format=json \
		$([ "$2" = 0 ] || echo --name=reads --rw=randread --numjobs=$2 --new_group) \
		$([ "$3" = 0 ] || echo --name=writes --rw=randwrite --numjobs=$3 --new_group $direct --runtime=3 --ramp_time=0.5 --bs=$4) >"$json")
	jq -r --arg c "$1" --argjson r "$2" --argjson w "$3" --arg s "$4" '.jobs[] | (if .jobname == "reads" then "read" else "write" end) as $t | .[$t] |
		[$c, $t, (if $t == "read" then $r else $w end), $s, .clat_ns.mean / 1e9, (if $r + $w == 1 then .clat_ns.stddev / 1e9 else "" end), .iops] | @csv' "$json" | tr -d '"'
}
net() {
	local n=0 table=$OUT/net.csv s t mix
	[ ! -s "$table" ] || return 0
	echo configuration,type,clients,size_bytes,response_time_s,response_sd_s,throughput_per_s >"$table.part"
	for s in 4096 16384; do
		for t in 1 4 12 32; do
			net_row $((n += 1)) $t 0 $s
			net_row $((n += 1)) 0 $t $s
		done
	done >>"$table.part"
	for mix in "2 2" "4 2" "2 4" "8 2" "2 8" "8 8" "16 8" "8 16" "24 4" "4 24"; do
		# shellcheck disable=SC2086
		net_row $((n += 1)) $mix 8192
	done >>"$table.part"
	mv "$table.part" "$table"
}

# ---- runs ----

volume old 6ms 9ms
volume new 4ms 6ms
for name in $LOADS; do run "old-$name" old "$name"; done
campaign old
campaign new
net
for name in $LOADS; do run "new-$name" new "$name"; done
for a in $LOADS; do
	for b in $LOADS; do
		[[ $a < $b ]] || continue
		run "new-$a-$b" new "$a" "$b"
	done
done
for n in 4 12 16 20 24 32; do run "new-web=$n" new "web=$n"; done
for n in 3 9 12 18; do run "new-shop=$n" new "shop=$n"; done
run three-old old web web web shop
run today old web shop
run three-new new web web web shop
scripts/estimates-table.sh "$OUT" >"$OUT/results.md"
cat "$OUT/results.md"
