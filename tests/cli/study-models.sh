#!/usr/bin/env bash
# blkcast study: by models whose functions are known, by runs on a file, and what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
blkcast=$BUILD/blkcast
# read_s = 1 ms + 0.5 ms per client, write_s twice that.
for y in read_s write_s; do
	awk -v y=$y -v f="$([ $y = read_s ] && echo 1 || echo 2)" 'BEGIN { print "clients," y
		for (i = 0; i < 60; i++) printf "%d,%.9f\n", 1 + i % 20, f * (0.001 + 0.0005 * (1 + i % 20)) }' >"$T/$y.csv"
	"$blkcast" fit "$T/$y.csv" --response $y --techniques lrm -o "$T/$y.json" -q >/dev/null 2>&1
done
models="$T/read_s.json,$T/write_s.json"
# profile NAME CLIENTS BEGIN: half a second of requests at 1000/s, windows of one second
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) printf "%d /dev/sda %s %d 4096\n", i * 1000, i % 2 ? "read" : "write", i * 8192 }' >"$T/log"
"$blkcast" import --format fio-iolog --store "$T/store" -q "$T/log" >/dev/null
"$blkcast" characterize --store "$T/store" --json -q | jq '.[0] | del(.arrivals)' >"$T/one.json"
profile() { # NAME CLIENTS: of ten seconds, with reads of 2 ms on the base system
	jq --arg n "$1" --argjson c "$2" '.device_name = $n | .intensity.closed.clients_mean = $c | .begin_s = 1000 | .end_s = 1010 |
		(.response_time.read.total, .response_time.write.total) |= (.count = null | .mean_s = 0.002 | .histogram = [])' "$T/one.json" >"$T/$1.json"
}
profile a 4
profile b 6
get() { "$blkcast" study "$@" --json --quiet --model "$models" 2>"$T/err" >"$T/out" || cat "$T/err"; jq -c "$query" "$T/out"; }
query='[.results[] | [.load, .type, (.target_s * 1e6 | round), (.before_s * 1e6 | round)]]'
is "$(get migrate "$T/a.json" "$T/b.json")" \
	'[[1,"read",3000,2000],[1,"write",6000,2000],[2,"read",4000,2000],[2,"write",8000,2000]]' "a migration by known functions"
query='[.results[] | select(.case != "alone") | [.load, .type, (.target_s * 1e6 | round), (.before_s * 1e6 | round)]]'
is "$(get consolidate "$T/a.json" "$T/b.json")" \
	'[[1,"read",6000,3000],[1,"write",12000,6000],[2,"read",6000,4000],[2,"write",12000,8000]]' "ten clients together"
is "$(get interference "$T/a.json" "$T/b.json" | jq -c 'map(select(.[0] == 1))')" '[[1,"read",6000,3000],[1,"write",12000,6000]]' \
	"a load beside its neighbour"
query='[(.results[] | .ci), (.throughput[] | .ci), (.notes[] | select(contains("without any error")) | .[:29])] | unique'
is "$(get migrate "$T/a.json")" '[null,"Times without an interval: ca"]' "models without any error give no interval, and a remark says why"
query='[.results[] | .delta_rt * 1000 | round]'
is "$(get migrate "$T/a.json" --measured "$T/b.json")" '[333,667]' "delta RT against what was measured"
jq -s '[.[0] as $p | range(10) | . as $i | $p | .begin_s = 1000 + $i | .end_s = 1001 + $i |
	.requests.read = (if $i == 3 then 900 else 100 end) | .request_size.read.histogram = [[4096, .requests.read]]] ' "$T/a.json" >"$T/aw.json"
jq -s '[.[0] as $p | range(10) | . as $i | $p | .begin_s = 1000 + $i | .end_s = 1001 + $i |
	.requests.read = (if $i == 7 then 300 else 100 end) | .request_size.read.histogram = [[4096, .requests.read]]] ' "$T/b.json" >"$T/bw.json"
query='.peak | [.max_per_s, .max_begin_s, .own_peaks_sum_per_s, .makers[0].load]'
is "$(get consolidate "$T/aw.json" "$T/bw.json")" '[2000,1003,2200,1]' "when the peaks coincided, and whose it was"
jq -s '[.[0] as $p | range(8) | . as $i | $p | .begin_s = 1000 + $i * 18.75 | .end_s = .begin_s + 18.75 |
	(.requests.read, .requests.write) = 750 | (.request_size.read.histogram, .request_size.write.histogram) = [[4096, 750]]]' "$T/a.json" >"$T/even.json"
query='.peak | [.max_per_s, .own_peaks_sum_per_s]'
is "$(get consolidate "$T/even.json" "$T/even.json")" '[160,160]' "an even load peaks at its rate, also in windows of no whole seconds"
exits 3 "loads that the target cannot carry together" "$blkcast" study consolidate "$T/aw.json" "$T/bw.json" --model "$models"
like "$(cat "$T/out")" '^Cannot tell: the target cannot carry this load: .* offered 680 requests/s, it gives 384/s\. With as many requests as it gives: ' "are refused by a sentence"
exits 3 "nor beside each other" "$blkcast" study interference "$T/aw.json" "$T/bw.json" --model "$models"
for p in a b; do
	jq 'map((.requests.read, .requests.write) = 50 | (.request_size.read.histogram, .request_size.write.histogram) = [[4096, 50]])' "$T/${p}w.json" >"$T/${p}few.json"
done
exits 0 "a table, a sentence and a page" "$blkcast" study consolidate "$T/afew.json" "$T/bfew.json" --model "$models" --report "$T/page.html"
like "$(cat "$T/out")" '^Consolidated on one target: the (read|write)s of .* become slower, from ' "the sentence"
is "$(grep -c '<svg' "$T/page.html")" 1 "the page has a picture"
made() { grep 'class="made"' "$1"; }
like "$(made "$T/page.html")" '>Load .*/afew.json: a of [a-z].*, 1970-01-01T00:16:40.* to 1970-01-01T.* \(10 s\)\.<' "it names device, host and period of each load"
like "$(made "$T/page.html")" '>Load .*/bfew.json: b of ' "and of the other one"
like "$(made "$T/page.html")" '>Model .*/read_s.json of read_s: it was made from a table, which does not name the storage' "and says of a model that its storage is not known"

# A model of a campaign, and all that is made of it, name the device and the file system that were measured.
mkdir "$T/files"
cat >"$T/plan.yaml" <<YAML
campaign: known
targets: {here: {directory: $T/files}}
load: {driver: command, command: 'echo "{{\"read_s\": 0.00{clients}, \"write_s\": 0.00{clients}}"'}
factors: {clients: [1, 2, 3, 4, 5, 6, 7, 8]}
warm_up: 0
interval: 100ms
intervals: 1
YAML
exits 0 "a campaign is measured" "$blkcast" measure "$T/plan.yaml" --db "$T/known.db" -q
measured='campaign known, 8 runs from .* to .*; target here on /.* \(.*, scheduler .*\), .* free\.'
exits 0 "a model is fitted to it" "$blkcast" fit --db "$T/known.db" -r read_s -t lrm --folds 4 -q -o "$T/known.json" --report "$T/fit.html"
like "$(jq -r .origin "$T/known.json")" "^$measured$" "the model's file says what was measured"
like "$(made "$T/fit.html")" ">Measurements .*/known.db: $measured<" "and so does its page"
exits 0 "the saved model is drawn" "$blkcast" predict "$T/known.json" --report "$T/model.html"
like "$(made "$T/model.html")" ">Model .*/known.json of read_s: $measured<" "and its page says so"
exits 0 "a study by the store" "$blkcast" study migrate "$T/afew.json" --db "$T/known.db" -q --report "$T/db.html"
like "$(made "$T/db.html")" ">Measurements .*/known.db: $measured<" "names the target on its page"
# A file server of the target may have a name in any encoding.
python3 -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute("UPDATE artifact SET content = CAST(X'"'2F66FC72E280AE'"' AS TEXT) WHERE kind = '"'place'"'"); d.commit()' "$T/known.db"
exits 0 "a name that is not UTF-8 does not keep a model from being fitted" "$blkcast" fit --db "$T/known.db" -r read_s -t lrm --folds 4 -q -o "$T/odd.json" --report "$T/odd-fit.html"
like "$(jq -r .origin "$T/odd.json")" 'target here on /f.*r' "the model's file says it"
exits 0 "its page shows it" "$blkcast" predict "$T/odd.json" --report "$T/odd.html"
is "$(cat "$T/odd.html" "$T/odd-fit.html" | python3 -c 'import sys; print("\u202e" in sys.stdin.buffer.read().decode())')" False "without what turns the direction of writing"
exits 0 "a comparison of two periods" "$blkcast" compare "$T/a.json" "$T/a.json" --report "$T/both.html"
like "$(made "$T/both.html")" '>Load .*/a.json: a of ' "names what it compared"

# One process that keeps 32 requests in flight is as much as 32 clients, however a model counts them.
deep() { # NAME VARIABLES ROWS-OF-CLIENTS-AND-DEPTH: read_s = 100 us per request in flight
	awk -v names="$2" "BEGIN { print names \",read_s\"; $3 }" </dev/null >"$T/$1.csv"
	"$blkcast" fit "$T/$1.csv" --response read_s --techniques lrm-ia -o "$T/$1.json" -q >/dev/null 2>&1
	"$blkcast" study migrate "$T/deep.json" --model "$T/$1.json" --json -q 2>"$T/err" | jq '.results[] | select(.type == "read") | .target_s * 1e6 | round'
}
jq '.requests.read = 10000 | .requests.write = 0 | .request_mix = {read: 1, write: 0} | .request_size.write.histogram = [] | .request_size.read.histogram = [[4096, 10000]] |
	.intensity.closed.clients_mean = 1 | .intensity.closed.in_flight_mean = 32' "$T/a.json" >"$T/deep.json"
is "$(deep clients clients 'for (i = 1; i <= 40; i++) printf "%d,%.9f\n", i, 0.0001 * i')" 3200 "a process at depth 32 loads a model of clients as 32 do"
is "$(deep depth iodepth 'for (i = 1; i <= 40; i++) printf "%d,%.9f\n", i, 0.0001 * i')" 3200 "and a model of depth"
is "$(deep both clients,iodepth 'for (i = 1; i <= 8; i++) for (k = 1; k <= 64; k *= 2) printf "%d,%d,%.9f\n", i, k, 0.0001 * i * k')" 3200 "and a model of both"

# Reads of 4 KiB and writes of 64 KiB, one at a time: each direction takes the time of its own sizes. Half of the writes
# are of 128 KiB in the second load: the mean over the sizes.
jq '.requests.read = 500 | .requests.write = 500 | .request_size.read.histogram = [[4096, 500]] | .request_size.write.histogram = [[65536, 500]] |
	.bytes = null | .intensity.closed.clients_mean = 1 | .intensity.closed.in_flight_mean = 1' "$T/a.json" >"$T/sizes.json"
jq '.request_size.write.histogram = [[65536, 250], [131072, 250]]' "$T/sizes.json" >"$T/sizes2.json"
for y in read_s write_s; do
	awk -v y=$y 'BEGIN { print "clients,request_kb," y; for (n = 1; n <= 8; n++) for (k = 4; k <= 128; k *= 2) printf "%d,%d,%.9f\n", n, k, n * (0.0001 + 0.00001 * k) }' </dev/null >"$T/$y.csv"
	awk -v y=$y 'BEGIN { print "read_size,write_size," y; for (n = 4; n <= 128; n *= 2) for (k = 4; k <= 128; k *= 2)
		printf "%d,%d,%.9f\n", n * 1024, k * 1024, 0.00001 * (y == "read_s" ? n : k) + 0.000001 * (y == "read_s" ? k : n) }' </dev/null >"$T/two-$y.csv"
	for m in "" two-; do
		"$blkcast" fit "$T/$m$y.csv" --response $y --techniques lrm-ia -o "$T/$m$y-sizes.json" -q >/dev/null 2>&1
	done
done
sizes() { # MODELS-PREFIX PROFILE
	"$blkcast" study migrate "$T/$2.json" --model "$T/$1read_s-sizes.json,$T/$1write_s-sizes.json" --json -q 2>"$T/err" | jq -c '[.results[].target_s * 1e6 | round]'
}
is "$(sizes "" sizes)" '[140,740]' "reads are asked at the size of reads, writes at that of writes"
is "$(sizes "" sizes2)" '[140,1060]' "a direction of two sizes is their mean"
is "$(sizes two- sizes)" '[104,644]' "a model that has both sizes is asked with both"

# A noisy model of 3 ms +- 80 %, beside 2 ms that were measured: nobody can tell. One of 20 ms is slower for sure.
awk 'BEGIN { srand(5); print "clients,read_s"; for (i = 0; i < 80; i++) printf "%d,%.9f\n", 1 + i % 20, 0.003 * (0.2 + 1.6 * rand()) }' </dev/null >"$T/noise.csv"
"$blkcast" fit "$T/noise.csv" --response read_s --techniques lrm -o "$T/noise.json" -q >/dev/null 2>&1
jq '.requests.write = 0 | .request_size.write.histogram = []' "$T/a.json" >"$T/reads.json"
exits 3 "an interval that includes no change" "$blkcast" study migrate "$T/reads.json" --model "$T/noise.json"
like "$(cat "$T/out")" 'After the migration: cannot tell whether the reads of .* become slower or faster: .* includes no change; a run on the target would tell' "cannot be told"
is "$("$blkcast" study migrate "$T/reads.json" --model "$T/noise.json" --json -q | jq -c '[.level, (.results[0] | .point, .why)]')" \
	'[0.9,"mean","the interval includes no change"]' "nor by the JSON, which says why"
jq '(.response_time.read.total.mean_s) = 0.0001' "$T/reads.json" >"$T/fast.json"
exits 0 "what is slower for sure" "$blkcast" study migrate "$T/fast.json" --model "$T/noise.json"
like "$(cat "$T/out")" 'become slower, from 100 µs' "is told"
jq '.intensity.closed.clients_mean = 50' "$T/reads.json" >"$T/many.json"
exits 3 "more clients than the model knows" "$blkcast" study migrate "$T/many.json" --model "$T/read_s.json"
like "$(cat "$T/out")" "^Cannot tell: 'clients' lies outside what the target's model knows" "are outside"
# 32 in flight of 3.2 ms are 10 000/s.
jq '.requests.read = 400000 | .request_size.read.histogram = [[4096, 400000]]' "$T/deep.json" >"$T/busy.json"
"$blkcast" study migrate "$T/busy.json" --model "$T/clients.json" >"$T/out" 2>&1
like "$(cat "$T/out")" 'The target cannot carry this load: .* offered 40 k requests/s, it gives 10 k/s\.' "a load that is more than the target gives"
is "$("$blkcast" study migrate "$T/busy.json" --model "$T/clients.json" --json -q | jq -c '.throughput[] | [.offered_per_s, (.target_per_s | round)], (.limited_by // empty)')" \
	'[40000,10000]' "and its throughput"
is "$("$blkcast" study migrate "$T/a.json" --model "$models" --measured "$T/b.json" 2>&1 | grep -c '^delta RT: |measured - on the target| / on the target$')" 1 "what delta RT divides by"
# 1000 reads of 1 ms to 10 ms that are known one by one, a client; the target of 1.5 ms for a client is much faster than
# the measured mean of 5.5 ms. In proportion the median of 5.5 ms becomes 1.5 ms; shifted it is 1.5 ms as well.
awk 'BEGIN { print "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"
	for (i = 0; i < 1000; i++) printf "%.0f,web,0,Read,%d,4096,%d\n", 128166372003061629 + i * 200000, (i * 7919 % 1000) * 8192, 10000 + i % 10 * 10000 }' </dev/null >"$T/msr.csv"
"$blkcast" import --format msr --store "$T/msr-store" -q "$T/msr.csv" >/dev/null 2>"$T/err" || note "$(cat "$T/err")"
"$blkcast" characterize --store "$T/msr-store" --json -q | jq '.[0] | .intensity.closed.clients_mean = 1 | .intensity.closed.in_flight_mean = 0.275' >"$T/timed.json"
query='[.results[] | [.type, .point, .by, (.before_s * 1e4 | round), (.target_s * 1e5 | round), .ci and .ci[0] <= .target_s and .target_s <= .ci[1]]]'
is "$("$blkcast" study migrate "$T/timed.json" --model "$T/read_s.json" --json -q | jq -c "$query")" \
	'[["read","mean","model",55,150,false],["read","p50","ratio",51,138,true],["read","p95","ratio",100,273,true],["read","p99","ratio",100,273,true]]' "percentiles by the ratio of the means"
is "$("$blkcast" study migrate "$T/timed.json" --model "$T/read_s.json" --json -q | jq -c '.results[2] | [(.ci[] * 1e4 | round)]')" '[27,60]' "between all requests in proportion and all by the same"
awk 'BEGIN { print "clients,read_p95_s"; for (i = 0; i < 60; i++) printf "%d,%.9f\n", 1 + i % 20, 0.004 }' </dev/null >"$T/p95.csv"
"$blkcast" fit "$T/p95.csv" --response read_p95_s --techniques lrm -o "$T/p95.json" -q >/dev/null 2>&1
is "$("$blkcast" study migrate "$T/timed.json" --model "$T/read_s.json,$T/p95.json" --json -q | jq -c '.results[2] | [.point, .by, (.target_s * 1e4 | round)]')" '["p95","model",40]' "or by a model of the percentile"
# A tenth as many flushes of 10 ms: a model of 2 ms tells what they take there, and the load gets faster by it.
jq '.requests.flush = 100 | .requests.read = 1000 | .response_time.flush.total |= (.count = null | .mean_s = 0.010 | .histogram = [])' "$T/timed.json" >"$T/flushing.json"
sed 's/read_p95_s/flush_s/; s/0.004/0.002/' "$T/p95.csv" >"$T/flush.csv"
"$blkcast" fit "$T/flush.csv" --response flush_s --techniques lrm -o "$T/flush.json" -q >/dev/null 2>&1
query='[(.results[] | select(.type == "flush") | [.point, .before_s, (.target_s | if . then . * 1e4 | round else . end), .why]), (.throughput[0].target_per_s | . * 10 | round)]'
without=$("$blkcast" study migrate "$T/flushing.json" --model "$T/read_s.json" --json -q | jq -c "$query")
with=$("$blkcast" study migrate "$T/flushing.json" --model "$T/read_s.json,$T/flush.json" --json -q | jq -c "$query")
like "$without" '^\[\["mean",0.01,null,"no model of flush_s"\],' "flushes without a model are said to be unknown"
like "$with" '^\[\["mean",0.01,(20|40),null\],' "by a model they are predicted"
number "$(jq -n "$with[1] - $without[1]") > 0" "and the load becomes faster by it"

# Four clients take 3 ms; no single times were recorded, so that there is no percentile.
exits 0 "an objective that holds" "$blkcast" study migrate "$T/reads.json" --model "$T/read_s.json" --slo read.mean=5ms
exits 1 "an objective that is broken" "$blkcast" study migrate "$T/reads.json" --model "$T/read_s.json" --slo read.mean=5ms,read.mean=2ms
like "$(cat "$T/out")" " read.mean=2ms of log a does not hold: 3 ms\\.$" "is named"
exits 3 "an objective of which there is no time" "$blkcast" study migrate "$T/reads.json" --model "$T/read_s.json" --slo read.p95=2ms
exits 1 "an objective of a percentile" "$blkcast" study migrate "$T/timed.json" --model "$T/read_s.json" --slo read.p95=2ms
exits 0 "an objective of writes that nobody sends" "$blkcast" study migrate "$T/timed.json" --model "$T/read_s.json" --slo write.p95=2ms
exits 2 "an objective that studies do not tell" "$blkcast" study migrate "$T/reads.json" --model "$T/read_s.json" --slo read.p90=2ms
like "$(cat "$T/err")" "^blkcast study: objective read.p90=2ms: a study tells mean, p50, p95 and p99$" "is refused by name"

# A model in which more clients are faster: the second load changes nothing all the same.
awk 'BEGIN { print "clients,read_s"; for (i = 1; i <= 20; i++) printf "%d,%.9f\n", i, 0.010 - 0.0003 * i }' </dev/null >"$T/odd.csv"
"$blkcast" fit "$T/odd.csv" --response read_s --techniques lrm -o "$T/odd.json" -q >/dev/null 2>&1
jq '.device_name = "c" | .intensity.closed.clients_mean = 6' "$T/reads.json" >"$T/reads2.json"
is "$("$blkcast" study consolidate "$T/reads.json" "$T/reads2.json" --model "$T/odd.json" --json -q | jq -c '[.results[] | .target_s * 1e5 | round]')" \
	'[880,820,880,820]' "two loads are never better than one"

# One read in 13 takes 20 ms, the others 0.1 ms: an interval as wide as these errors would begin below 0.
awk 'BEGIN { print "request_size,read_s"; for (i = 0; i < 60; i++) printf "%d,%.4f\n", 4096 * (1 + i % 16), i * 7 % 13 ? 0.0001 : 0.02 }' </dev/null >"$T/noisy.csv"
"$blkcast" fit "$T/noisy.csv" --response read_s --techniques lrm -o "$T/noisy.json" -q >/dev/null 2>&1
"$blkcast" study migrate "$T/reads.json" --model "$T/noisy.json" --json -q >"$T/out"
is "$(jq -c '[.results[] | .ci[0], .ci[1] > .target_s]' "$T/out")" '[0,true]' "the interval of a time ends at 0"
is "$(jq -c '[.throughput[] | .ci[0] > 0, .ci[1]]' "$T/out")" '[true,null]' "and the throughput has no upper end then"

if command -v fio >/dev/null; then
	mkdir "$T/target"
	query='[.results[] | .case, .type, (.target_s > 0)]'
	for p in a b; do # a small range, so that its file is soon laid out
		jq '.locality.distribution |= null | .locality.footprint_bytes = 1048576 | .intensity.closed.think_time_mean_s = 0.001' "$T/$p.json" >"$T/$p-run.json"
	done
	is "$("$blkcast" study consolidate "$T/a-run.json" "$T/b-run.json" --run "$T/target" --duration 300ms --leave-out bursts --json 2>"$T/err" |
		jq -c '[.results[] | select(.case != "alone") | .load, .type, (.target_s > 0)]')" \
		'[1,"read",true,1,"write",true,2,"read",true,2,"write",true]' "a consolidation by runs"
	note "$(head -c 300 "$T/err")"
	is "$(ls -A "$T/target")" "" "nothing is left on the target"
fi

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" study "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "no target" "one of --model, --storage, --db and --run" migrate "$T/a.json"
bad "a load alone" "at least two loads, got 1" consolidate "$T/a.json" --model "$models"
bad "an unknown study" "expected a verb, got moving" moving "$T/a.json"
bad "two models of one response" "one model of each response, this is another of read_s" migrate "$T/a.json" --model "$T/read_s.json,$T/read_s.json"
bad "a profile that is none" "read_s.json" migrate "$T/read_s.json" --model "$models"
bad "a target that cannot be" "expected a block device" migrate "$T/a.json" --run /dev/null
bad "too many measurements" "there are 1 loads" migrate "$T/a.json" --model "$models" --measured "$T/a.json,$T/b.json"

# Each verb's help is its own: its usage lines, of which there may be several, name this verb and no other.
for verb in migrate consolidate interference scenario cache mix; do
	"$blkcast" study $verb --help >"$T/help"
	named=$(sed -n '1s/^blkcast study: \([a-z]*\): .*/\1/p' "$T/help")
	used=$(sed -n '/^usage:/,/^$/s/^  blkcast study \([a-z]*\) .*/\1/p' "$T/help" | sort -u)
	is "$named $used" "$verb $verb" "$verb has a help of its own"
done
like "$("$blkcast" study --help)" "^  blkcast study mix PROFILE" "that of study names all verbs"
done_testing
