#!/usr/bin/env bash
# blkcast headroom: by models whose function is known, and what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
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
like "$(cat "$T/out")" '^read.p95=20ms holds up to 4\.[67][0-9]* times today.s load of 4 clients ' "for people"
is "$(grep -c '<svg' "$T/page.html")" 1 "the page has the knee curve"
is "$(grep -ciE '(src|href)="?https?:' "$T/page.html")" 0 "and asks nobody for anything"

# One server of 1 ms: R = 1 ms x clients that never think. Ten that think 20 ms each make 10 / (R + 20 ms), the machine
# repairman's; today's profile says so, and R is 10 ms where mean value analysis has it, between 29 and 30 clients.
repairman() { awk -v think="$2" -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) { r = 1 + queue; queue = i * r / (r + think) } printf "%.9f\n", r }' </dev/null; }
awk 'BEGIN { print "threads,read_s,read_p95_s"; for (i = 1; i <= 64; i++) printf "%d,%.9f,%.9f\n", i, 0.001 * i, 0.002 * i }' </dev/null >"$T/busy.csv"
for y in read_s read_p95_s; do
	"$blkcast" fit "$T/busy.csv" --response $y --predictors threads --techniques lrm -o "$T/busy-$y.json" -q >/dev/null 2>&1
done
r10=$(repairman 10 20)
jq --argjson r "$r10" '(10 / (0.020 + $r / 1000)) as $x | .end_s = .begin_s + 10 | .requests.read = ($x * 10 | round) |
	.intensity.closed.clients_mean = 10 | .intensity.closed.in_flight_mean = $x * $r / 1000' "$T/today.json" >"$T/think.json"
think() { "$blkcast" headroom "$T/think.json" --json --slo read.mean=10ms --model "$T/busy-read_s.json" "$@" 2>"$T/err" | jq -c "$query"; }
query='.objectives[0] | .predicted_today_s * 1e6 | round'
is "$(think)" "$(awk "BEGIN { printf \"%.0f\", 1000 * $r10 }" </dev/null)" "clients that think: the machine repairman's response time"
query='.objectives[0] | [.load, .today, (.think_s * 1e4 | round), .headroom.factor * 10]'
found=$(think)
like "$found" '^\["threads",10,200,29\.' "they are multiplied, thinking as long: 29.x clients"
number "$(jq '.[3] - 29' <<<"$found") - (10 - $(repairman 29 20)) / ($(repairman 30 20) - $(repairman 29 20)) < 0.02" "where the line between 29 and 30 meets the objective (below)"
number "$(jq '.[3] - 29' <<<"$found") - (10 - $(repairman 29 20)) / ($(repairman 30 20) - $(repairman 29 20)) > -0.02" "and above"
query='.objectives[0] | [.load, .today, .headroom.factor, .headroom.at_least]'
is "$(think --load think | jq -c '.[0, 3]' | tr '\n' ' ')" '"1 / think time" true ' "as many that think less never wait 10 ms"
found=$("$blkcast" headroom "$T/think.json" --json --slo read.mean=5ms --load think --model "$T/busy-read_s.json" | jq '20 / .objectives[0].headroom.factor')
number "$(repairman 10 "$found") > 4.98" "half of that at a think time (below)"
number "$(repairman 10 "$found") < 5.02" "half of that at a think time (above)"
query='.objectives[0].headroom.factor * 10 | . > 23 and . < 30'
is "$("$blkcast" headroom "$T/think.json" --json --slo read.p95=20ms --model "$T/busy-read_s.json,$T/busy-read_p95_s.json" | jq "$query")" true "a percentile, by a model of it and one of the mean"
exits 0 "without a model of the mean" "$blkcast" headroom "$T/think.json" --slo read.p95=40ms --model "$T/busy-read_p95_s.json"
like "$(cat "$T/err")" "no models of read_s and write_s to tell how clients think" "it says so"
exits 0 "for people, with a page" "$blkcast" headroom "$T/think.json" --slo read.mean=10ms --model "$T/busy-read_s.json" --report "$T/page.html"
like "$(cat "$T/out")" "today.s load of 10 clients that think 20\.0 ms between their requests" "clients and their think time"
number "$(grep -c 'class="dot read"' "$T/page.html") > 10" "with what was measured, on the axis of those that think"
# 49 times 1 / 49 is less than one client in binary: the curve begins there all the same.
jq '.intensity.closed.clients_mean = 49 | .intensity.closed.in_flight_mean = 1' "$T/think.json" >"$T/49.json"
exits 0 "from one client on, of 49" "$blkcast" headroom "$T/49.json" --slo read.mean=10ms --model "$T/busy-read_s.json" --json
is "$(jq '.objectives[0].curve[0] | [.[0], (.[1] * 1e6 | round)] | map(. * 1e6 | round / 1e6)' -c "$T/out")" "[1,1000]" "who waits for nobody"
jq '.intensity.closed.clients_mean = 70000 | .intensity.closed.in_flight_mean = 1' "$T/think.json" >"$T/many.json"

# A disk that one process keeps full with 32 requests of 1 ms each: twice as many wait twice as long, and none more is served.
jq '.begin_s = 0 | .end_s = 10 | .requests.read = 10000 | .request_size.read.histogram = [[4096, 10000]] |
	.intensity.closed.clients_mean = 1 | .intensity.closed.in_flight_mean = 32' "$T/today.json" >"$T/full.json"
exits 0 "a full disk" "$blkcast" headroom "$T/full.json" --slo read.mean=1s --model "$T/busy-read_s.json" --json
is "$(jq -c '.objectives[0] | [.today, .headroom.factor, .headroom.at_least, (.throughput | map(round)[])]' "$T/out")" '[32,2,true,1000,1000,1000]' "is 32 clients, and gives no more"
like "$(jq -r '.objectives[0].conclusion' "$T/out")" "today's load of 32 clients .* it gives 1 times today's requests per second" "in words"
jq '.requests.read = 50000 | .request_size.read.histogram = [[4096, 50000]]' "$T/full.json" >"$T/more.json"
exits 1 "a load of five times what the disk gives" "$blkcast" headroom "$T/more.json" --slo read.mean=1s --model "$T/busy-read_s.json"
like "$(cat "$T/out")" "The target cannot carry this load: offered 5 k requests/s, it gives 1 k/s" "is named"
jq '.intensity.closed.in_flight_mean = 500' "$T/full.json" >"$T/beyond.json"
exits 3 "more in flight than was measured" "$blkcast" headroom "$T/beyond.json" --slo read.mean=1s --model "$T/busy-read_s.json"
like "$(cat "$T/out")" "^Cannot tell: 'threads' lies outside what the model knows" "cannot be told"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" headroom "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "no model" "expected one of --model, --db and --storage" "$T/today.json" --slo read.p95=20ms
bad "an objective that is none" "as read.p95=20ms, got 'p95=20'" "$T/today.json" --model "$T/exact.json" --slo p95=20
bad "an objective without a model" "no model of write_s is given" "$T/today.json" --model "$T/exact.json" --slo write.mean=1ms
bad "a model that is none" "today.json" "$T/today.json" --model "$T/today.json" --slo read.p95=20ms
bad "a variable nobody has" "has no such variable" "$T/today.json" --model "$T/exact.json" --slo read.p95=20ms --set x=1
bad "a load nobody has" "no number clients" "$T/today.json" --model "$T/exact.json" --slo read.p95=20ms --load clients
bad "more clients than can be told" "expected up to 65536 clients that think, got 70000" "$T/many.json" --model "$T/busy-read_s.json" --slo read.mean=10ms
bad "thinking that nobody does" "expected clients that think" "$T/today.json" --model "$T/exact.json" --slo read.p95=20ms --load think
done_testing
