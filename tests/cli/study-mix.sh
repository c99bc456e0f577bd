#!/usr/bin/env bash
# blkcast study mix: by models, nets and capacities whose answers are known, and what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
# read_s = 1 ms + 0.5 ms per client.
awk 'BEGIN { print "clients,read_s"; for (i = 0; i < 60; i++) printf "%d,%.9f\n", 1 + i % 40, 0.001 + 0.0005 * (1 + i % 40) }' </dev/null >"$T/table.csv"
"$blkcast" fit "$T/table.csv" --response read_s --techniques lrm -o "$T/read.json" -q >/dev/null 2>&1
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) printf "%d /dev/sda read %d 4096\n", i * 1000, i * 8192 }' </dev/null >"$T/log"
"$blkcast" import --format fio-iolog --store "$T/store" -q "$T/log" >/dev/null
"$blkcast" characterize --store "$T/store" --json -q | jq '.[0] | del(.arrivals)' >"$T/one.json"
profile() { # NAME CLIENTS RATE: reads of 4 KiB at that rate
	jq --arg n "$1" --argjson c "$2" --argjson r "$3" '.device_name = $n | .intensity.closed.clients_mean = $c | .intensity.closed.think_time_mean_s = 0 |
		.begin_s = 0 | .end_s = 1 | .requests.read = $r | .request_size.read.histogram = [[4096, $r]]' "$T/one.json" >"$T/$1.json"
}
profile a 3 100
profile b 4 200
ask() { "$blkcast" study mix "$@" --json --quiet 2>"$T/err" >"$T/out"; echo "$? $(jq -c "$query" "$T/out")"; }
query='[.fits, .most, .why]'
# 10.2 ms bear 18 clients: 6 of 3; beside 2 of 4, 3 of 3
is "$(ask "$T/a.json" --slo read.mean=10.2ms --model "$T/read.json")" '0 [true,[6],"read.mean=10.2ms of log a: 11.5 ms"]' "six of one fit"
is "$(ask "$T/a.json" "$T/b.json=2" --slo read.mean=10.2ms --model "$T/read.json")" '0 [true,[3],"read.mean=10.2ms of log a: 11 ms"]' "three beside two others"
is "$(ask "$T/a.json" "$T/b.json" --slo read.mean=10.2ms --model "$T/read.json")" '0 [true,[6,4,3,2,0],""]' "the frontier of both: 3 n + 4 m <= 18"
is "$(ask "$T/a.json=2" "$T/b.json=3" --slo read.mean=10.2ms --model "$T/read.json")" '0 [true,[],""]' "a mix that is given fits: 18 clients"
is "$(ask "$T/a.json=3" "$T/b.json=3" --slo read.mean=10.2ms --model "$T/read.json")" '1 [false,[],"read.mean=10.2ms of log a: 11.5 ms"]' "one more does not: 21"
is "$(ask "$T/a.json" "$T/b.json=5" --slo read.mean=10.2ms --model "$T/read.json" | cut -c1-13)" '1 [false,[],"' "where the others do not fit alone nothing does"
is "$(ask "$T/a.json" --most 5 --slo read.mean=10.2ms --model "$T/read.json")" '0 [true,[5],""]' "no more than is looked at"
# 1000 reads/s in all: 10 of 100/s, 5 of 200/s
is "$(ask "$T/a.json" "$T/b.json=2" --measure 4k:read=1000,write=500)" '0 [true,[6],"110.0 % of the capacity"]' "by the capacity alone"
is "$(jq -r .conclusion "$T/out")" "Up to 6 of log a fit beside 2 of log b; one more would need 110.0 % of the capacity." "of which one more would need more"
ask "$T/a.json=7" "$T/b.json=2" --measure 4k:read=1000,write=500 >"$T/asked"
is "$(jq -r .conclusion "$T/out")" "7 of log a and 2 of log b do not fit: they would need 110.0 % of the capacity." "as a mix that is given says"
ask "$T/a.json" "$T/b.json=6" --measure 4k:read=1000,write=500 >"$T/asked"
is "$(jq -r .conclusion "$T/out")" "6 of log b does not fit even without the others: it would need 120.0 % of the capacity." "and the counted ones alone"
is "$(ask "$T/a.json" "$T/b.json" --measure 4k:read=1000,write=500)" '0 [true,[10,8,6,4,2,0],""]' "the frontier of a capacity"
is "$(ask "$T/a.json" "$T/b.json" --measure 4k:read=500,write=500 --slo read.mean=10.2ms --model "$T/read.json")" '0 [true,[5,3,1],""]' "by both the tighter counts"
# 50 reads/s serve neither load; beside a counted load that fits, none of the free ones is an answer.
is "$(ask "$T/a.json" --measure 4k:read=50,write=50)" '1 [false,[0],"200.0 % of the capacity"]' "where not one fits nothing does"
is "$(ask "$T/a.json" "$T/b.json" --measure 4k:read=50,write=50)" '1 [false,[0],""]' "nor where not one of two loads fits"
is "$(jq -r .conclusion "$T/out")" "Nothing fits." "in a sentence"
is "$(ask "$T/a.json" "$T/b.json=0" --slo read.mean=1ms --model "$T/read.json" | cut -c1-11)" '1 [false,[0' "none of the other one is nothing as well"
is "$(ask "$T/a.json" "$T/b.json=1" --measure 4k:read=250,write=50)" '0 [true,[0],"120.0 % of the capacity"]' "beside one that fits, none more is an answer"
is "$(ask "$T/a.json" "$T/a.json" "$T/b.json=1" --measure 4k:read=250,write=50)" '0 [true,[0],""]' "and a frontier"
jq '[., (.begin_s = 1 | .end_s = 2 | .requests.read = 300 | .request_size.read.histogram = [[4096, 300]])]' "$T/a.json" >"$T/windows.json"
query='.most'
is "$(ask "$T/windows.json" --measure 4k:read=1000,write=500)" '0 [5]' "windows of 100/s and 300/s are 200/s"
is "$("$blkcast" capacity --measure 4k:read=1000,write=500 "$T/windows.json" --json -q | jq '.. | .rate_per_s? // empty' | sort -u)" 200 "of capacity as well"
exits 0 "for people" "$blkcast" study mix "$T/a.json" "$T/b.json=2" --slo read.mean=10.2ms --model "$T/read.json"
is "$(cat "$T/out")" "Up to 3 of log a fit beside 2 of log b; one more breaks read.mean=10.2ms of log a: 11 ms." "one sentence"
exits 0 "and a picture" "$blkcast" study mix "$T/a.json" "$T/b.json" --slo read.mean=10.2ms --model "$T/read.json" --report "$T/page.html"
is "$(grep -c '<svg' "$T/page.html")" 1 "of the frontier"
awk 'BEGIN { print "type,clients,size_bytes,response_time_s,response_sd_s"
	for (s = 4096; s <= 65536; s *= 4) { printf "read,1,%d,0.001,0.0003\n", s
		for (t = 10; t <= 50; t += 10) printf "read,%d,%d,%.9g,\n", t, s, 0.001 * t } }' </dev/null >"$T/reads.csv"
"$blkcast" qpn calibrate --model cache "$T/reads.csv" -o "$T/net.json" -q >/dev/null
query='.most'
is "$(ask "$T/a.json" "$T/b.json=1" --slo read.mean=20ms --model "$T/net.json")" '3 [5]' "by a net of 1 ms: 19 clients, of fewer to a load than it was calibrated with"
# Three clients that never pause for 2.5 ms make 1200 requests/s; loads that make 2000/s are not served in full.
profile busy 3 2000
jq '.intensity.closed.in_flight_mean = 3' "$T/busy.json" >"$T/full.json"
query='.fits'
is "$(ask "$T/full.json=2" --slo read.mean=10.2ms --model "$T/read.json")" '3 false' "a target that cannot carry the loads is no answer"
like "$(jq -r .conclusion "$T/out")" "^Cannot tell .* the target cannot carry this load: log busy offered 2 k requests/s, it gives 750/s\.$" "by a sentence"
is "$(ask "$T/full.json" "$T/a.json=1" --slo read.mean=10.2ms --model "$T/read.json" | cut -c1)" 0 "alone it is left out"
is "$(ask "$T/a.json=14" --slo read.mean=100ms --model "$T/read.json")" '3 true' "what fits outside the training range cannot be told"
awk 'BEGIN { print "clients,read_p95_s"; for (i = 0; i < 60; i++) printf "%d,%.9f\n", 1 + i % 40, 0.001 + 0.0005 * (1 + i % 40) }' </dev/null >"$T/p95.csv"
"$blkcast" fit "$T/p95.csv" --response read_p95_s --techniques lrm -o "$T/p95.json" -q >/dev/null 2>&1
query='.notes[0]'
like "$(ask "$T/a.json=2" --slo read.p95=10.2ms --model "$T/p95.json")" '^0 "The requests that the target gives are not compared' "without models of means the throughput is said to be unknown"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" study mix "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "nothing to keep" "expected --slo or --measure" "$T/a.json"
bad "an objective without a predictor" "expected one of --model, --db and --storage beside --slo" "$T/a.json" --slo read.mean=1ms
bad "three to find" "up to two loads without a count" "$T/a.json" "$T/b.json" "$T/a.json" --measure 4k:read=1000,write=500
bad "a count that is none" "expected LOAD=COUNT, 0 to 256" "$T/a.json=two" --measure 4k:read=1000,write=500
bad "an objective without its model" "no model of read_p95_s is given" "$T/a.json" --slo read.p95=1ms --model "$T/read.json"
bad "too many" "--most: expected 1 to 256" "$T/a.json" --most 1000 --measure 4k:read=1000,write=500
done_testing
