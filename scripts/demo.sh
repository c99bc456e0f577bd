#!/usr/bin/env bash
# scripts/demo.sh shows the main job on real I/O, in under three minutes (see `make demo`).
#
# A loop device in memory, three different fio workloads on it, the agent on the device, an analyzer
# that it streams to over loopback, then what fio was told beside what blkcast measured, and a
# report. Without root, BPF or a loop device it says so and replays a recorded trace instead.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
out=$BUILD/demo
blkcast=$BUILD/blkcast
agent=$BUILD/blkcast-agent
seconds=${DEMO_SECONDS:-12}
recorded=docs/examples/demo.seg

say() { printf '\n== %s\n' "$*"; }

replay() {
	say "$1: replaying a recorded trace instead ($recorded)"
	"$blkcast" characterize "$recorded" || exit 1
	"$blkcast" report "$recorded" -o "$out/report.html" || exit 1
	say "the report: $out/report.html"
	exit 0
}

rm -rf "$out"
mkdir -p "$out"
[ "$(id -u)" = 0 ] || replay "not root"
"$agent" --doctor | grep -q '^source bpf *yes' || replay "no BPF on this machine"

loop="" image="" pids="" home="" store=$out/store user=""
cleanup() {
	for p in $pids; do kill "$p" 2>/dev/null; done
	wait 2>/dev/null
	[ -z "$loop" ] || losetup -d "$loop"
	rm -f "$image"
	[ -z "$home" ] || { rm -f "$out/store" && mv "$home/store" "$out/store" && rm -rf "$home"; }
}
trap cleanup EXIT
trap 'exit 130' INT TERM
room=/dev/shm
[ "$(df --output=avail -k $room 2>/dev/null | tail -n 1)" -gt 1500000 ] 2>/dev/null || room=$out
image=$(mktemp "$room/blkcast-demo.XXXXXX")
dd if=/dev/zero of="$image" bs=1M count=1024 status=none
loop=$(losetup --show -f "$image" 2>/dev/null) || replay "no loop device to be had"
name=${loop#/dev/}

say "an analyzer on loopback, and the agent on $loop (1 GiB in memory)"
if [ "$(id -u)" = 0 ]; then # serve never runs as root, and another may not reach this folder
	user="--user nobody"
	home=$(mktemp -d "$room/blkcast-demo.XXXXXX")
	chmod 711 "$home"
	store=$home/store
	rm -rf "$out/store"
	ln -sfn "$store" "$out/store"
fi
# shellcheck disable=SC2086
"$blkcast" serve $user --store "$store" --listen 127.0.0.1:0 >"$out/serve.log" 2>&1 &
pids="$pids $!"
url=""
for _ in $(seq 100); do
	port=$(grep -oE 'port [0-9]+' "$out/serve.log" | head -n 1)
	[ -n "$port" ] && url=http://127.0.0.1:${port#port } && break
	sleep 0.05
done
[ -n "$url" ] || {
	cat "$out/serve.log" >&2
	exit 1
}
"$agent" --device "$name" --sink "$url" --spool "$out/spool" --segment-interval 1s --top 3 &
agent_pid=$!
pids="$pids $agent_pid"
sleep 1.5

# Each workload: a name, what it stands for, and its fio options.
run() { # NAME WORDS OPTION...
	local job=$1 words=$2
	shift 2
	say "$job: $words"
	echo "   fio $*"
	date +@%s.%N >"$out/$job.begin"
	timeout 60 fio --name="$job" --filename="$loop" --direct=1 --group_reporting --time_based \
		--runtime="$seconds" --output-format=json --output="$out/$job.json" "$@" >/dev/null 2>&1
	sleep 0.2
	date +@%s.%N >"$out/$job.end"
	sleep 1
}
run database "reads and writes of a few sizes, a hot set, four clients" \
	--rw=randrw --rwmixread=70 --bssplit=8k/80:16k/20 --numjobs=4 --ioengine=psync \
	--random_distribution=zipf:1.1 --norandommap --thinktime=200us
run backup "eight sequential streams at once" \
	--rw=read --bs=64k --numjobs=8 --ioengine=libaio --iodepth=2 --size=128m --offset_increment=128m \
	--rate_iops=500
run mail "small writes that must last, arriving at random" \
	--rw=randwrite --bs=4k --ioengine=libaio --iodepth=64 \
	--rate_iops=2000 --rate_process=poisson --norandommap
sleep 1
kill -INT $agent_pid
wait $agent_pid

say "what fio was told, and what blkcast measured"
j() { jq -r "$2" "$out/$1.json"; }
printf '%-10s %-34s %14s %14s\n' "" "" "fio" "blkcast"
row() { printf '%-10s %-34s %14s %14s\n' "$job" "$@"; }
ok=0
for job in database backup mail; do
	"$blkcast" characterize --store "$out/store" --begin "$(cat "$out/$job.begin")" \
		--end "$(cat "$out/$job.end")" --json -q >"$out/$job.profile.json" || exit 1
	p() { jq -r ".[0] | $1" "$out/$job.profile.json"; }
	# Rates and their steadiness are the load's own only between its first second and its last.
	inner() {
		[ -e "$out/$job.inner.json" ] || "$blkcast" characterize --store "$out/store" --json -q \
			--begin "@$(tr -d @ <"$out/$job.begin" | awk '{ printf "%.3f", $1 + 1.5 }')" \
			--end "@$(tr -d @ <"$out/$job.end" | awk '{ printf "%.3f", $1 - 1.5 }')" >"$out/$job.inner.json"
		jq -r ".[0] | $1" "$out/$job.inner.json"
	}
	fio_reads=$(j $job '.jobs[0].read.total_ios') fio_writes=$(j $job '.jobs[0].write.total_ios')
	reads=$(p '.requests.read') writes=$(p '.requests.write')
	row "reads completed" "$fio_reads" "$reads"
	row "writes completed" "$fio_writes" "$writes"
	row "requests lost" 0 "$(p '.lost')"
	[ "$fio_reads $fio_writes" = "$reads $writes" ] || ok=1
	case $job in
	database)
		row "share of reads" 0.7000 "$(p '.request_mix.read | . * 10000 | round / 10000')"
		row "mean size of a read, bytes" "$((8192 * 8 / 10 + 16384 * 2 / 10))" \
			"$(p '.request_size.read.mean_bytes | round')"
		row "clients" 4 "$(p '.intensity.closed.clients_mean | . * 100 | round / 100')"
		row "think time, us" "200 + fio's own" \
			"$(p '.intensity.closed.think_time_mean_s * 1e6 | round')"
		;;
	backup)
		row "sequential ratio of reads" "near 1" \
			"$(p '.access_pattern.read.sequential_ratio | . * 10000 | round / 10000')"
		row "rate of requests, per s" 4000 "$(inner '.intensity.open.rate_per_s | round')"
		;;
	mail)
		row "index of dispersion at 100 ms" "1 (Poisson)" \
			"$(inner '.intensity.open.idc | map(select(.[0] == 0.1))[0][1] | if . == null then "-" else . * 100 | round / 100 end')"
		row "sequential ratio of writes" "near 0" \
			"$(p '.access_pattern.write.sequential_ratio | . * 10000 | round / 10000')"
		;;
	esac
	row "mean response time, us" \
		"$(jq -r '.jobs[0] | ((.read.clat_ns.mean * .read.total_ios + .write.clat_ns.mean * .write.total_ios) / (.read.total_ios + .write.total_ios) / 1000 | round)' "$out/$job.json")" \
		"$(p '[.response_time.read.total, .response_time.write.total] | map(select(. != null and .count > 0)) | (map(.mean_s * .count) | add) / (map(.count) | add) * 1e6 | round')"
	echo
done
echo "(fio's response time begins in the process, blkcast's at the block layer.)"

say "measure: twelve configurations of a load, with the agent beside"
cat >"$out/plan.yaml" <<YAML
campaign: demo
targets: {here: {directory: $(cd "$out" && pwd), device: $name}}
load:
  driver: fio
  job: |
    [load]
    filename=$loop
    ioengine=libaio
    direct=1
    iodepth={depth}
    rw=randrw
    bs={request_size}
    rwmixread={read}
factors:
  request_size: [4k, 16k, 64k]
  read: [20, 80]
  depth: [4, 16]
warm_up: 0
interval: 400ms
intervals: 2
monitor: {agent: true}
YAML
"$blkcast" measure "$out/plan.yaml" --db "$out/results.sqlite" || exit 1
say "fit its read response time, and predict a configuration that was not measured"
"$blkcast" fit --db "$out/results.sqlite" --response read_s --log --folds 6 --standard -t lrm,lrm-ia,mars \
	-o "$out/model.json" || exit 1
predicted=$("$blkcast" predict "$out/model.json" --set request_size=32768,read=50,depth=8 -q | awk -F, 'NR == 2 { printf "%.0f us (90 %% of such runs: %.0f to %.0f)", $4 * 1e6, $5 * 1e6, $6 * 1e6 }')
sed -e 's/^campaign: .*/campaign: check/' -e 's/\[4k, 16k, 64k\]/[32k]/; s/\[20, 80\]/[50]/; s/\[4, 16\]/[8]/' \
	"$out/plan.yaml" >"$out/check.yaml"
"$blkcast" measure "$out/check.yaml" --db "$out/results.sqlite" -q >/dev/null || exit 1
measured=$("$blkcast" measure --export - --db "$out/results.sqlite" --campaign check --response read_s | awk -F, 'NR == 2 { print $6 * 1e6 }')
printf '32 KiB, half of them reads, depth 8: predicted %s, measured %.0f us\n' "$predicted" "$measured"

say "what the analyzer holds"
"$blkcast" ls --store "$out/store"
"$blkcast" report --store "$out/store" -o "$out/report.html" || exit 1
say "the report: $out/report.html"
if [ $ok != 0 ]; then
	echo "demo: the counts of fio and blkcast differ" >&2
	exit 1
fi
