#!/usr/bin/env bash
# blkcast mimic: loads are characterized, mimicked, and the mimic characterized: every dimension of
# the profile comes back. The table it prints is that of docs/measured.md. Arguments choose loads;
# MIMIC_KEEP names a folder for the profiles and jobs; MIMIC_SECONDS is how long each load runs (2).
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need fio "fio is not installed" command -v fio
need_loop
need_bpf
blkcast=$BUILD/blkcast
seconds=${MIMIC_SECONDS:-2}
loop_new 256M
chosen=" ${*:-random mixed thinking poisson hot bursty} "

# characterize NAME FIO-ARGUMENTS...: the profile is then in $T/NAME.json
characterize() {
	local name=$1 begin end
	shift
	case $chosen in *" ${name%-mimic} "*) ;; *) return ;; esac
	rm -rf "$T/store"
	# Both come before what else runs here: a client that waits for a processor is no client of the device.
	nice -n -20 "$BUILD/blkcast-agent" --device "$loop_name" --sink "file:$T/store" 2>"$T/agent.err" &
	local agent=$!
	wait_until 60 grep -q ': recording ' "$T/agent.err" || fail "$name: the agent starts" "$(cat "$T/agent.err")"
	timeout 60 nice -n -10 fio "$@" --output="$T/fio.out" || fail "$name: fio runs" "$(tail -n 3 "$T/fio.out")"
	sleep 0.3
	kill -INT $agent
	wait $agent
	# From the first request to the last, without what begins and ends.
	"$blkcast" dump --store "$T/store" --format csv -q | sed -n '2p;$p' | cut -d, -f1 >"$T/ends"
	begin=$(awk 'NR == 1 { printf "%.3f", $1 + 0.5 }' "$T/ends")
	end=$(awk 'NR == 2 { printf "%.3f", $1 - 0.3 }' "$T/ends")
	"$blkcast" characterize --store "$T/store" --json -q --begin "@$begin" --end "@$end" | jq '.[0]' >"$T/$name.json"
	is "$(jq .lost "$T/$name.json")" 0 "$name: nothing is lost"
}

# The dimensions as NAME VALUE SCALE: differences count beside the scale, which of a share is at
# least 0.2: of a load with hardly any sequential requests the rest is chance.
dimensions='
def share(v): [v, ([v, 0.2] | max)];
def plain(v): [v, v];
{clients: plain(.intensity.closed.clients_mean), in_flight: plain(.intensity.closed.in_flight_mean),
 rate: plain(.intensity.open.rate_per_s), think: plain(.intensity.closed.think_time_mean_s),
 idc: plain([.intensity.open.idc[] | select(.[1] != null)] | map(select(.[0] == 0.01))[0][1]),
 read_size: plain(.request_size.read.mean_bytes), write_size: plain(.request_size.write.mean_bytes),
 mix: share(.request_mix.read),
 read_sequential: share(.access_pattern.read.sequential_ratio // 0),
 write_sequential: share(.access_pattern.write.sequential_ratio // 0),
 range: plain(.locality.distribution | .regions * .region_bytes),
 zipf: plain(.locality.distribution.exponent), deviation: plain(.locality.distribution.deviation_ratio),
 top_20: share(.locality.distribution.top_20_ratio)}'

# Total variation distance of two histograms of sizes.
distance() {
	jq -n --slurpfile a "$T/$1.json" --slurpfile b "$T/$2.json" '
	def shares(s): (s | map(.[1]) | add) as $n | s | map({key: (.[0] | tostring), value: (.[1] / $n)}) | from_entries;
	def between(x; y): (x + y | keys) | map(. as $k | ((x[$k] // 0) - (y[$k] // 0)) | if . < 0 then -. else . end) | add / 2;
	[("read", "write") as $d | select(($a[0].request_size[$d].histogram | length) > 0) |
		between(shares($a[0].request_size[$d].histogram); shares($b[0].request_size[$d].histogram))] | max'
}

# difference LOAD MIMIC DIMENSION: value, mimic's value, percent
difference() {
	jq -rn --slurpfile a "$T/$1.json" --slurpfile b "$T/$2.json" "
		(\$a[0] | $dimensions | .$3) as \$x | (\$b[0] | $dimensions | .$3) as \$y |
		[\$x[0], \$y[0], ((\$y[0] - \$x[0]) / \$x[1] * 100)] | @tsv"
}

# reproduced LOAD INTENSITY DIMENSION...: mimics $T/LOAD.json and compares
reproduced() {
	local name=$1 want=$2 as=$3 d line limit
	shift 3
	case $chosen in *" $name "*) ;; *) return ;; esac
	# shellcheck disable=SC2086
	exits 0 "$name: a job is made" "$blkcast" mimic "$T/$name.json" --target "$loop_dev" --duration "${seconds}s" \
		-o "$T/$name.fio" --json $as
	is "$(jq -r .intensity "$T/out")" "$want" "$name: it is seen to be $want"
	characterize "$name-mimic" "$T/$name.fio"
	cp "$T/$name.fio" "$T/$name-first.fio"
	# what the first run missed is corrected in a second
	# shellcheck disable=SC2086
	exits 0 "$name: a corrected job is made" "$blkcast" mimic "$T/$name.json" --target "$loop_dev" --duration "${seconds}s" \
		-o "$T/$name.fio" $as --corrected-by "$T/$name-mimic.json"
	cp "$T/$name-mimic.json" "$T/$name-first.json"
	characterize "$name-mimic" "$T/$name.fio"
	for d in "$@"; do
		line=$(difference "$name" "$name-first" "$d")
		note "figure	$name	$d	$line	corrected: $(difference "$name" "$name-mimic" "$d" | cut -f2-)"
		# times and rates are this machine's at this moment: reported, not asserted
		case $d in in_flight | rate | think | idc) continue ;; esac
		# the busiest fifth is itself chosen from counts: runs in order make few samples of many
		# requests, and how few is this machine's matter as well
		[ "$name $d" != "mixed top_20" ] || continue
		limit=5
		[ "$d" != top_20 ] || limit=10
		number "$(printf '%s' "$line" | cut -f3) <= $limit && $(printf '%s' "$line" | cut -f3) >= -$limit" \
			"$name: $d comes back within $limit %"
	done
	line=$(distance "$name" "$name-mimic")
	note "figure	$name	sizes, total variation	$line"
	number "$line <= 0.05" "$name: the histogram of sizes comes back within 5 %"
}

common="--name=load --filename=$loop_dev --direct=1 --thread --norandommap --time_based --runtime=$seconds --randseed=7"

characterize random $common --ioengine=psync --numjobs=4 --rw=randread --bs=4k --size=192m --offset=32m
reproduced random closed "" clients read_size mix read_sequential range top_20

characterize mixed $common --ioengine=libaio --iodepth=4 --numjobs=2 --rw=randrw --rwmixread=65 \
	--bssplit=4k/50:16k/30:64k/20,8k/70:32k/30 --percentage_random=30,80
reproduced mixed closed "" clients in_flight read_size write_size mix read_sequential write_sequential range top_20

characterize thinking $common --ioengine=psync --numjobs=6 --rw=randrw --rwmixread=50 --bs=8k --thinktime=1000
reproduced thinking closed "" clients rate think read_size write_size mix range

characterize poisson $common --ioengine=psync --numjobs=12 --rw=randread --bs=16k --rate_iops=100 --rate_process=poisson
reproduced poisson open "--intensity open --leave-out bursts" rate read_size mix range
[ ! -e "$T/poisson.json" ] || number "$(awk -F= '$1 == "numjobs" { n = $2 } $1 == "rate_iops" { r += n * $2 } END { print r + 0 }' "$T/poisson-first.fio") / $(jq .intensity.open.rate_per_s "$T/poisson.json") > 0.999" "the job asks for the rate of the profile"

characterize hot $common --ioengine=libaio --iodepth=8 --numjobs=1 --rw=randread --bs=4k --random_distribution=zipf:1.1
reproduced hot closed "" clients in_flight read_size zipf range top_20
# Bursts of this script's own making: 4000 a second for 20 ms on average, nothing for 60 ms.
python3 - "$loop_dev" "$seconds" >"$T/bursty.log" <<'PYTHON'
import random, sys
random.seed(11)
at, device, end = 0.0, sys.argv[1], float(sys.argv[2])
print(f"fio version 3 iolog\n0 {device} add\n0 {device} open")
while at < end:
    until = at + random.expovariate(1 / 0.020)
    while (at := at + random.expovariate(4000)) < until:
        print(int(at * 1e6), device, "read", random.randrange(60000) * 4096, 4096)
    at = until + random.expovariate(1 / 0.060)
print(int(at * 1e6), device, "close")
PYTHON
characterize bursty --name=bursty --ioengine=libaio --iodepth=1024 --direct=1 --thread --read_iolog="$T/bursty.log"
reproduced bursty bursty "--intensity open" read_size mix range rate idc
[ -n "${MIMIC_KEEP:-}" ] && cp "$T"/*.json "$T"/*.fio "$MIMIC_KEEP"
done_testing
