#!/usr/bin/env bash
# blkcast study cache: advice from curves that are known, and from a real trace whose exact LRU is.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) printf "%d /dev/sda read %d 4096\n", i * 1000, i * 8192 }' </dev/null >"$T/log"
"$blkcast" import --format fio-iolog --store "$T/store" -q "$T/log" >/dev/null
"$blkcast" characterize --store "$T/store" --json -q | jq '.[0]' >"$T/one.json"
profile() { # NAME CURVE FOOTPRINT: 1000 reads of 4 KiB in a second, of 2 ms
	jq --arg n "$1" --argjson c "$2" --argjson f "$3" '.device_name = $n | .begin_s = 1000 | .end_s = 1001 | .locality.miss_ratio_curve = $c |
		.locality.footprint_bytes = $f | .response_time.read.total |= (.count = null | .mean_s = 0.002 | .histogram = [])' "$T/one.json" >"$T/$1.json"
}
profile knee '[[1073741824, 0.4], [2147483648, 0.3], [4294967296, 0.2]]' 8589934592
profile loop '[[1073741823, 1], [1073741824, 0]]' 1073741824
profile twin '[[1073741823, 1], [1073741824, 0]]' 1073741824
ask() { "$blkcast" study cache "$@" --json --quiet 2>"$T/err" | jq -c "$query"; }
query='.loads[0] | [.most_bytes, .most_hit_ratio, .miss_s, (.sizes[-2:][] | .cache_bytes / 1073741824, .hit_ratio, (.gain_per_gib * 1e6 | round))]'
is "$(ask "$T/knee.json")" '[4294967296,0.8,0.002,2,0.7,50000,4,0.8,0]' "hits and what another GiB brings"
# Half of the requests are writes of 6 ms: the curve counts both, and so do the times; those of reads alone are unknown.
jq '.requests.write = .requests.read | .bytes.write = .bytes.read | .request_size.write = .request_size.read |
	.response_time.write.total |= (.count = null | .mean_s = 0.006 | .histogram = [])' "$T/knee.json" >"$T/both.json"
query='.loads[0] | .miss_s, (.sizes[-1] | (.response_s * 1e6 | round), .read_s)'
is "$(ask "$T/both.json" --hit-time 100us | jq -sc .)" '[0.004,880,null]' "of reads and writes: 0.8 x 100 us + 0.2 x 4 ms"
query='.loads[0].sizes[-1].read_s * 1e6 | round'
is "$(ask "$T/knee.json" --hit-time 100us)" 480 "0.8 x 100 us + 0.2 x 2 ms"
is "$(ask "$T/knee.json" --hit-time 100us --miss-time 5ms)" 1080 "of a slower storage"
query='[(.loads[0].wanted_bytes | if . then round else . end), .conclusion]'
is "$(ask "$T/knee.json" --hits 30)" "[536870912,\"A cache of 512 MiB would serve 30 % of what log knee asks for; no cache serves more than 80.0 %.\"]" "the size for a share of hits"
is "$(ask "$T/knee.json" --hits 90)" "[null,\"No cache serves 90 % of what log knee asks for: 80.0 % at most, with 4 GiB.\"]" "that none has"
query='[.shared.hit_ratio < 0.01, .equal.hit_ratio < 0.01, (.parted.hit_ratio * 100 | round), (.conclusion | test("part it.$"))]'
is "$(ask "$T/loop.json" "$T/twin.json" --size 1500m)" '[true,true,50,true]' "two loops that do not fit are parted"
query='[.cache_bytes, (.shared.hit_ratio * 100 | round), (.conclusion | test("let them share it.$"))]'
is "$(ask "$T/loop.json" "$T/twin.json" --size 2g)" '[2147483648,100,true]' "and share where they fit"
# A knee between two sizes is a row, and what does not change is no change by -0.0 %.
profile odd '[[1073741824, 0.9], [1610612736, 0.3], [4294967296, 0.2]]' 8589934592
query='[.loads[0] | .knee_bytes, (.sizes[] | .cache_bytes | select(. >= 1073741824))] | map(. / 1073741824)'
is "$(ask "$T/odd.json")" '[1.5,1,1.5,2,4]' "the knee is one of the sizes"
"$blkcast" study cache "$T/odd.json" -q >"$T/odd"
is "$(grep -c 'GiB .*knee$' "$T/odd")" 1 "and its row is marked"
is "$(grep -c -- '-0\.0 %' "$T/odd")" 0 "no change is -0.0 %"
exits 0 "for people" "$blkcast" study cache "$T/knee.json" "$T/loop.json" --hit-time 100us --report "$T/page.html"
like "$(tail -n 1 "$T/out")" ' shared by the 2 loads would serve [0-9.]+ % of what they ask for; in the best parts ' "in one sentence"
is "$(grep -c '<svg' "$T/page.html")" 3 "with pictures"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" study cache "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
jq '.locality.miss_ratio_curve = null' "$T/knee.json" >"$T/none.json"
bad "a profile without a curve" "none.json: knee has no miss-ratio curve" "$T/none.json"
jq '[., (.begin_s += 1 | .end_s += 1)]' "$T/knee.json" >"$T/windows.json"
bad "a profile of windows" "windows.json: the 2 windows of knee have a miss-ratio curve each, which cannot be merged" "$T/windows.json"
bad "more than all" "a number above 0 and up to 100" "$T/knee.json" --hits 101
bad "nobody" "expected a load: a profile, a store or a segment"

# What misses meet by models of another storage, and objectives: 0.8 x 100 us + 0.2 x 5 ms is 1.08 ms.
awk 'BEGIN { print "clients,read_s,write_s"; for (i = 1; i <= 40; i++) printf "%d,0.005,0.009\n", i }' </dev/null >"$T/table.csv"
for r in read_s write_s; do
	"$blkcast" fit "$T/table.csv" --response $r -p clients --techniques lrm -o "$T/$r.json" -q >/dev/null 2>&1
done
cached() { "$blkcast" study cache "$@" --hit-time 100us --size 4g --json -q >"$T/out" 2>"$T/err"; }
cached "$T/knee.json" --model "$T/read_s.json" --slo read.mean=1100us
is "$? $(jq '.loads[0].miss_s * 1e6 | round' "$T/out")" "0 5000" "misses take the models' time, and an objective holds"
like "$(jq -r .conclusion "$T/out")" "^A cache of 4 GiB would serve 80.0 % of what log knee asks for;.* with 4 GiB.$" "with the cache that was asked about"
cached "$T/knee.json" --model "$T/read_s.json" --slo read.mean=1ms
is "$?" 1 "another one is broken"
like "$(jq -r .conclusion "$T/out")" " read.mean=1ms of log knee does not hold: 1.08 ms.$" "and named"
cached "$T/knee.json" --hits 30 --slo read.mean=1ms
is "$?" 1 "the cache for 30 % of hits is the one that is judged: 0.3 x 100 us + 0.7 x 2 ms"
like "$(jq -r .conclusion "$T/out")" "^A cache of 512 MiB would serve 30 % .* read.mean=1ms of log knee does not hold: 1.43 ms.$" "in its sentence"
cached "$T/knee.json" --slo read.mean=500us
is "$?" 0 "without models the misses are as characterized: 480 us"
# Half of the bytes are reads: of 80 % hits of both at least 60 % are hits of reads, so that reads take up to 2.06 ms.
cached "$T/both.json" --model "$T/read_s.json,$T/write_s.json" --slo read.mean=1500us
is "$? $(jq '.loads[0].miss_s * 1e6 | round' "$T/out")" "0 7000" "of reads and writes"
like "$(jq -r .conclusion "$T/out")" " read.mean=1500us of log knee holds with 1.08 ms, but may not: up to 2.06 ms.$" "the curve leaves open which of them hit"
cached "$T/loop.json=2" --slo read.mean=200us
is "$? $(jq -c '[(.loads | length), .shared.hit_ratio > 0.99]' "$T/out")" '0 [2,true]' "copies of a load share the cache"
bad "a percentile" "a cache tells means" "$T/knee.json" --hit-time 1us --slo read.p95=1ms
bad "an objective without a time of hits" "expected --hit-time with it" "$T/knee.json" --slo read.mean=1ms
bad "writes that no model tells" "both.json: the storage tells no time of its writes that miss: expected a model of write_s" "$T/both.json" -q --hit-time 1us --model "$T/read_s.json"
bad "two storages" "expected at most one of --miss-time, --model, --db and --storage" "$T/knee.json" --miss-time 1ms --model "$T/read_s.json"

data=${BLKCAST_DATA:-../shared/data}
if [ -r "$data/cloudphysics.vscsi" ]; then
	"$blkcast" import --format vscsi --store "$T/real" -q "$data/cloudphysics.vscsi" >/dev/null
	"$blkcast" characterize --store "$T/real" --json -q >"$T/real.json"
	# exact LRU: 10.45, 11.57, 24.92, 76.42 % at 4096 to 262144 blocks of 4 KiB
	for at in 10.45:16777216 11.57:67108864 24.92:268435456 76.42:1073741824; do
		size=$("$blkcast" study cache "$T/real.json" --hits "${at%:*}" --json -q | jq '.loads[0].wanted_bytes')
		for slack in -2 2; do
			"$blkcast" study cache "$T/real.json" --hits "$(awk "BEGIN { print ${at%:*} + $slack }" </dev/null)" --json -q | jq '.loads[0].wanted_bytes' >"$T/size.$slack"
		done
		note "${at%:*} % of exact LRU at ${at#*:}: $size"
		number "$(cat "$T/size.-2") <= ${at#*:} && ${at#*:} <= $(cat "$T/size.2" | sed 's/null/1e30/')" "a real trace at ${at#*:} bytes within 2 points of exact LRU"
	done
else
	note "the real traces are not here"
fi
done_testing
