#!/usr/bin/env bash
# blkcast study interference over a neighbour's sizes and mixes, by models whose functions are known.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) printf "%d /dev/sda read %d 4096\n", i * 1000, i * 8192 }' </dev/null >"$T/log"
"$blkcast" import --format fio-iolog --store "$T/store" -q "$T/log" >/dev/null
"$blkcast" characterize --store "$T/store" --json -q | jq '.[0] | del(.arrivals)' >"$T/one.json"
profile() { # NAME CLIENTS RATE: reads of 4 KiB of 2 ms
	jq --arg n "$1" --argjson c "$2" --argjson r "$3" '.device_name = $n | .intensity.closed.clients_mean = $c | .intensity.closed.think_time_mean_s = 0 |
		.begin_s = 0 | .end_s = 1 | .requests.read = $r | .request_size.read.histogram = [[4096, $r]] | .bytes.read = 4096 * $r |
		.response_time.read.total |= (.count = null | .mean_s = 0.002 | .histogram = [])' "$T/one.json" >"$T/$1.json"
}
profile a 4 100
profile b 4 300
# Both known, of the joined load: one server that takes 100 us and 10 us per KiB for each request.
awk 'BEGIN { print "clients,size_kb,read_s"; for (c = 1; c <= 20; c++) for (k = 4; k <= 128; k *= 2) printf "%d,%d,%.9f\n", c, k, c * (0.0001 + 0.00001 * k) }' </dev/null >"$T/both.csv"
# Measured beside a: the neighbour's size and mix alone, 1 ms + (1 - r) 100 us per KiB.
awk 'BEGIN { print "request_size,read,read_s"; for (r = 0; r <= 100; r += 25) for (k = 4; k <= 128; k *= 2) printf "%d,%d,%.9f\n", k * 1024, r, 0.001 + 0.0001 * k * (1 - r / 100) }' </dev/null >"$T/beside.csv"
"$blkcast" fit "$T/both.csv" --response read_s --techniques lrm-ia -o "$T/both.json" -q >/dev/null 2>&1
"$blkcast" fit "$T/beside.csv" --response read_s --techniques lrm-ia -o "$T/beside.json" -q >/dev/null 2>&1
ask() { "$blkcast" study interference "$T/a.json" "$T/b.json" --json --quiet "$@" 2>"$T/err" | jq -c "$query"; }
# Alone 4 x 140 us. Beside b a request of 4 KiB waits for 7 others, a quarter of 4 KiB and the rest of b's size, and is
# served itself: at 64 KiB 7 x (140 + 3 x 740) / 4 + 140 us.
query='[(.read.before_s * 1e6 | round), .write, (.read.mean_s[][] * 1e6 | round)]'
is "$(ask --model "$T/both.json" --sizes 4k,64k --reads 0,100)" '[560,null,1120,1120,4270,4270]' "loads that are joined"
query='[(.read.before_s * 1e6 | round), (.read.mean_s[][] * 1e6 | round)]'
is "$(ask --model "$T/beside.json" --beside --sizes 8k,128k --reads 0,50,100)" '[2000,1800,1400,1000,13800,7400,1000]' "a model of the neighbour alone"
query='[.sizes_bytes, .read_ratios, .conclusion]'
is "$(ask --model "$T/beside.json" --beside)" '[[4096,8192,16384,32768,65536,131072],[0,0.25,0.5,0.75,1],"The reads of log a are slowest, 13.8 ms, beside log b with requests of 128 KiB and 0 % reads; as characterized they take 2 ms."]' "over the usual levels, in one sentence"
exits 0 "for people" "$blkcast" study interference "$T/a.json" "$T/b.json" --model "$T/beside.json" --beside --sizes 8k,128k --reads 0,50,100 --report "$T/page.html"
is "$(sed -n 1p "$T/out" | tr -s ' ')" "reads beside 0 % reads 50 % reads 100 % reads" "a table"
is "$(grep -o 'class="box h[0-9]"' "$T/page.html" | wc -l)" 6 "and a map of six cells"

jq '.intensity.closed.in_flight_mean = 4 | .requests.read = 7000 | .request_size.read.histogram = [[4096, 7000]]' "$T/a.json" >"$T/full.json"
exits 3 "a target that cannot carry the load beside its neighbour" "$blkcast" study interference "$T/full.json" "$T/b.json" --model "$T/both.json" --sizes 4k,64k --reads 100
like "$(cat "$T/out")" "^Cannot tell: the target cannot carry this load: .* offered 7 k requests/s, it gives 3.09 k/s" "is refused by a sentence"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" study "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "a size that is none" "sizes: expected a size as 64k, got 'big'" interference "$T/a.json" "$T/b.json" --model "$T/both.json" --sizes big
bad "a share that is none" "reads: expected a percentage, 0 to 100, got '101'" interference "$T/a.json" "$T/b.json" --model "$T/both.json" --reads 101
bad "three loads" "expected two loads, got 3" interference "$T/a.json" "$T/b.json" "$T/a.json" --model "$T/both.json" --reads 10
bad "another study" "of interference" migrate "$T/a.json" --model "$T/both.json" --reads 10
done_testing
