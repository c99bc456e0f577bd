#!/usr/bin/env bash
# blkcast headroom: by models whose function is known, and what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
blkcast=$BUILD/blkcast
# read_p95_s = 1 ms + 1 ms per client + 10 us per KiB, and noise of a few percent in the second table
awk 'BEGIN { print "threads,request_kb,read_p95_s"; for (t = 1; t <= 32; t++) for (k = 4; k <= 64; k *= 2)
	printf "%d,%d,%.9f\n", t, k, 0.001 + 0.001 * t + 0.00001 * k }' >"$T/exact.csv"
awk 'BEGIN { srand(3); print "threads,request_kb,read_p95_s"; for (t = 1; t <= 32; t++) for (k = 4; k <= 64; k *= 2)
	printf "%d,%d,%.9f\n", t, k, 0.001 + 0.001 * t + 0.00001 * k + 0.001 * (rand() - 0.5) }' >"$T/noisy.csv"
for m in exact noisy; do
	"$blkcast" fit "$T/$m.csv" --response read_p95_s --techniques lrm -o "$T/$m.json" -q >/dev/null 2>&1 ||
		fail "a model is fitted"
done
# Four clients, reads of 4 KiB.
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) printf "%d /dev/sda read %d 4096\n", i * 1000, i * 8192 }' >"$T/log"
"$blkcast" import --format fio-iolog --store "$T/store" -q "$T/log" >/dev/null
"$blkcast" characterize --store "$T/store" --json -q |
	jq '.[0].intensity.closed.clients_mean = 4 | .[0]' >"$T/today.json"

get() { "$blkcast" headroom "$T/today.json" --json --model "$T/$model.json" "$@" 2>"$T/err" >"$T/out"; echo "$? $(jq -c "$query" "$T/out")"; }
model=exact
query='.objectives[0] | [.load, .today, (.headroom.factor * 1e4 | round), .headroom.at_least, (.predicted_today_s * 1e6 | round), .broken]'
# 20 ms = 1 + t + 0.04: 18.96 clients, 4.74 times today's
is "$(get --slo read.p95=20ms)" '0 ["threads",4,47400,false,5040,false]' "the factor is where the known function meets the objective"
is "$(get --slo read.p95=5ms)" '1 ["threads",4,9900,false,5040,true]' "an objective that is broken today exits 1"
query='.objectives[0].headroom | [.factor, .at_least]'
is "$(get --slo read.p95=1s)" '0 [8,true]' "it goes no farther than was measured"
query='[.tightest, (.objectives | length)]'
is "$(get --slo read.p95=20ms,read.p95=10ms)" '0 [1,2]' "of several the tightest is named"
query='.objectives[0] | [.load, (.headroom.factor * 100 | round)]'
is "$(get --slo read.p95=20ms --set request_kb=64)" '0 ["threads",459]' "a variable can be set: 18.36 clients"
model=noisy
query='.objectives[0] | .low.factor < .headroom.factor and .headroom.factor < .high.factor and .low.factor < 4.74 and 4.74 < .high.factor'
is "$(get --slo read.p95=20ms)" "0 true" "the interval holds the truth"
exits 0 "a sentence and a page" "$blkcast" headroom "$T/today.json" --model "$T/noisy.json" --slo read.p95=20ms --report "$T/page.html"
like "$(cat "$T/out")" '^read.p95=20ms holds up to 4\.[67][0-9]* times today.s load of threads 4 ' "for people"
is "$(grep -c '<svg' "$T/page.html")" 1 "the page has the knee curve"
is "$(grep -ciE '(src|href)="?https?:' "$T/page.html")" 0 "and asks nobody for anything"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" headroom "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "no model" "expected --slo, either --model or --db" "$T/today.json" --slo read.p95=20ms
bad "an objective that is none" "as read.p95=20ms, got 'p95=20'" "$T/today.json" --model "$T/exact.json" --slo p95=20
bad "an objective without a model" "no --model of write_s is given" "$T/today.json" --model "$T/exact.json" --slo write.mean=1ms
bad "a model that is none" "today.json" "$T/today.json" --model "$T/today.json" --slo read.p95=20ms
bad "a variable nobody has" "has no such variable" "$T/today.json" --model "$T/exact.json" --slo read.p95=20ms --set x=1
bad "a load nobody has" "no number clients" "$T/today.json" --model "$T/exact.json" --slo read.p95=20ms --load clients
done_testing
