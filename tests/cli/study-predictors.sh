#!/usr/bin/env bash
# blkcast study and headroom by calibrated nets and by measurement stores whose answers are known.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

# Profiles of one second at 1000 requests/s of 4 KiB: reads, writes or half of each.
profile() { # NAME CLIENTS AWK-CONDITION-OF-A-READ
	awk "BEGIN { print \"fio version 3 iolog\\n0 /dev/sda add\\n0 /dev/sda open\"
		for (i = 0; i < 1000; i++) printf \"%d /dev/sda %s %d 4096\\n\", i * 1000, ($3) ? \"read\" : \"write\", (i * 7919 % 1000) * 8192 }" >"$T/log"
	"$blkcast" import --format fio-iolog --store "$T/store-$1" --host "$1" -q "$T/log" >/dev/null
	"$blkcast" characterize --store "$T/store-$1" --json -q |
		jq --argjson c "$2" '.[0] | .intensity.closed.clients_mean = $c | .intensity.closed.think_time_mean_s = 0' >"$T/$1.json"
}
profile readers 4 1
profile mixed 16 'i % 4'
profile writers 6 0
profile one 1 'i % 2'

# An open server that takes 1 ms: R = 1 / (1000 - rate), in a store.
cat >"$T/open.yaml" <<YAML
campaign: open
targets: {here: {directory: $T}}
load: {driver: command, command: 'echo "{{\"read_s\": {1 / (1000 - rate)}, \"read_p95_s\": {3 / (1000 - rate)}}"'}
factors: {rate: {low: 40, high: 960, step: 40}}
design: {random: {configurations: 24}}
warm_up: 0
interval: 100ms
intervals: 1
YAML
exits 0 "an open server is measured" "$blkcast" measure "$T/open.yaml" --db "$T/open.db" --quiet
jq '.begin_s = 0 | .end_s = 10 | .requests.read = 2000 | .request_size.read.histogram = [[4096, 2000]]' "$T/readers.json" >"$T/open.json" # 200/s
headroom() { "$blkcast" headroom "$@" --json --quiet 2>"$T/err" | jq -c "$query"; }
query='.objectives[0] | [.load, .today, (.headroom.factor > 4.3 and .headroom.factor < 4.7), (.predicted_today_s > 0.0011 and .predicted_today_s < 0.0014),
	.low.factor <= .headroom.factor and .headroom.factor <= .high.factor]'
# 1 / (1000 - x) = 10 ms at 900/s: 4.5 times 200/s
is "$(headroom "$T/open.json" --slo read.mean=10ms --db "$T/open.db")" '["rate",200,true,true,true]' "the knee of an open server, by a store: 900/s"
is "$(headroom "$T/open.json" --slo read.p95=30ms --db "$T/open.db" | jq -c '.[:3]')" '["rate",200,true]' "and of a percentile"
# Two windows of 100/s and 300/s, with a gap of 10 s that nobody watched between them: 200/s, not the first one's 100/s.
jq '[(.requests.read = 1000 | .request_size.read.histogram = [[4096, 1000]]),
	(.begin_s = 20 | .end_s = 30 | .requests.read = 3000 | .request_size.read.histogram = [[4096, 3000]])]' "$T/open.json" >"$T/windows.json"
query='.objectives[0] | [.load, .today]'
is "$(headroom "$T/windows.json" --slo read.mean=10ms --db "$T/open.db")" '["rate",200]' "a profile of several windows is the load of all of them"
exits 0 "with its picture" "$blkcast" headroom "$T/open.json" --slo read.mean=10ms --db "$T/open.db" --report "$T/knee.html"
number "$(grep -c '<circle class="dot read"' "$T/knee.html") >= 20" "that has the measured points"
for class in "line law" "line total" "line curve" "line thin"; do
	holds "and $class" grep -q "class=\"$class\"" "$T/knee.html"
done

# R = 1 ms + 0.5 ms per client that never thinks. Ten clients that make 4000/s with two in flight think for 2 ms:
# Mean value analysis with p(j | n) = X R(j) / j p(j - 1 | n - 1) has R = 4.522 ms for ten, 9.232 ms for two such loads.
awk 'BEGIN { print "clients,read_s"; for (i = 1; i <= 40; i++) printf "%d,%.9f\n", i, 0.001 + 0.0005 * i }' </dev/null >"$T/busy.csv"
"$blkcast" fit "$T/busy.csv" --response read_s --techniques lrm -o "$T/busy.json" -q >/dev/null 2>&1
jq '.begin_s = 0 | .end_s = 1 | .requests.read = 4000 | .request_size.read.histogram = [[4096, 4000]] | .bytes.read = 16384000 |
	.intensity.closed.clients_mean = 10 | .intensity.closed.in_flight_mean = 2' "$T/readers.json" >"$T/thinking.json"
query='[.results[] | (.target_s * 1e6 | round)]'
is "$("$blkcast" study consolidate "$T/thinking.json" "$T/thinking.json" --model "$T/busy.json" --json --quiet | jq -c "$query")" '[4522,4522,9232,9232]' \
	"clients that think load less than those that never do"

# Reads that take 1 ms of one server: R = 1 ms x clients.
awk 'BEGIN { print "type,clients,size_bytes,response_time_s,response_sd_s"
	for (s = 4096; s <= 65536; s *= 4) { printf "read,1,%d,0.001,0.0003\n", s
		for (t = 10; t <= 50; t += 10) printf "read,%d,%d,%.9g,\n", t, s, 0.001 * t } }' </dev/null >"$T/reads.csv"
exits 0 "a net of reads is calibrated" "$blkcast" qpn calibrate --model cache "$T/reads.csv" -o "$T/reads.json" -q
query='.objectives[0] | [.load, .today, (.headroom.factor * 10 | round), .broken]'
is "$(headroom "$T/readers.json" --slo read.mean=20ms --model "$T/reads.json")" '["clients",4,50,false]' "20 clients of 1 ms are 20 ms: 5 times 4, by a net"
query='[.by, (.results[] | select(.point == "mean") | [.load, .type, (.target_s * 1e4 | round)])]'
study() { "$blkcast" study "$@" --json --quiet 2>"$T/err" | jq -c "$query"; }
is "$(study migrate "$T/readers.json" --model "$T/reads.json")" '["net",[1,"read",40]]' "a migration by a net: 4 clients of 1 ms"
query='[.results[] | select(.case != "alone" and .point == "mean") | [.load, (.target_s * 1e4 | round), (.ci[0] < .target_s and .target_s < .ci[1])]]'
is "$(study consolidate "$T/readers.json" "$T/readers.json" --model "$T/reads.json")" '[[1,80,true],[2,80,true]]' "and 8 together"
query='[.results[] | select(.case != "alone" and .load == 2) | [.point, .by, (.target_s > 0.0079), (.ci[0] < .target_s and .target_s < .ci[1])]]'
is "$(study consolidate "$T/readers.json" "$T/readers.json" --model "$T/reads.json")" \
	'[["mean","model",true,true],["p50","model",true,true],["p95","model",true,true],["p99","model",true,true]]' "a net tells percentiles, each with its interval"
exits 2 "a net of reads alone refuses writes" "$blkcast" study migrate "$T/writers.json" --model "$T/reads.json"
like "$(cat "$T/err")" "^blkcast study: load:1: type: the model was calibrated without .* writes$" "by name"

# Reads of 1 ms and writes of 3 ms at one server that prefers neither.
awk 'BEGIN { print "configuration,type,clients,size_bytes,response_time_s,response_sd_s"
	for (t = 0; t <= 40; t += 10) for (u = 0; u <= 40; u += 10) if (t + u) { n++
		x = t + u == t || t + u == u ? 0 : 1
		if (t) printf "%d,read,%d,4096,%.9g,%s\n", n, t, t * 0.001 + u * 0.003, ""
		if (u) printf "%d,write,%d,4096,%.9g,%s\n", n, u, t * 0.001 + u * 0.003, "" }
	printf "%d,read,1,4096,0.001,0.0003\n%d,write,1,4096,0.003,0.0009\n", n + 1, n + 2 }' </dev/null >"$T/mixed.csv"
exits 0 "a net of reads and writes is calibrated" "$blkcast" qpn calibrate --model mixed "$T/mixed.csv" -o "$T/mixed-net.json" -q
# The server never rests: N clients at a mix r have r R_r + (1 - r) R_w = N (r 1 ms + (1 - r) 3 ms).
query='([.results[] | select(.point == "mean") | {(.type): .target_s}] | add) | (0.75 * .read + 0.25 * .write) / (16 * 0.0015)'
number "$(study migrate "$T/mixed.json" --model "$T/mixed-net.json") > 0.96" "clients that do both keep the server busy (below)"
number "$(study migrate "$T/mixed.json" --model "$T/mixed-net.json") < 1.04" "clients that do both keep the server busy (above)"
query='[.results[] | select(.point == "mean") | [.type, (.target_s * 1e4 | round)]]'
is "$(study migrate "$T/one.json" --model "$T/mixed-net.json")" '[["read",10],["write",30]]' "a single client waits for nobody"
exits 2 "two loads are refused by a net of one" "$blkcast" study consolidate "$T/mixed.json" "$T/one.json" --model "$T/mixed-net.json"
like "$(cat "$T/err")" "calibrated for one VM$" "by name"

# A store of two targets.
cat >"$T/pair.yaml" <<YAML
campaign: pair
targets: {a: {directory: $T}, b: {directory: $T}}
load: {driver: command, command: 'echo "{{\"read_s\": {0.001 * clients}, \"write_s\": {0.002 * clients}}"'}
factors: {clients: [1, 2, 4, 8, 12, 16, 24, 32]}
warm_up: 0
interval: 100ms
intervals: 1
YAML
exits 0 "two targets are measured" "$blkcast" measure "$T/pair.yaml" --db "$T/pair.db" --quiet
query='[.by, (.results[] | (.target_s * 1e3 | round))]'
is "$(study migrate "$T/mixed.json" --db "$T/pair.db" --target b)" '["models",16,32]' "one of them is asked"

# The same storage before and after: what was measured there, whatever the load and however wrong the model is.
measured() { # NAME CLIENTS IN-FLIGHT: reads of 7 ms and writes of 11 ms
	jq --argjson c "$2" --argjson n "$3" '.intensity.closed.clients_mean = $c | .intensity.closed.in_flight_mean = $n |
		(.response_time.read.total, .response_time.write.total) |= (.count = null | .mean_s = 0.007 | .histogram = []) |
		.response_time.write.total.mean_s = 0.011' "$T/mixed.json" >"$T/$1.json"
}
measured waiting 16 16
measured thinking 24 8
measured deep 1 32
query='[.by, (.results[] | .target_s, .change_ratio, .ci[])]'
for load in waiting thinking deep; do
	is "$(study migrate "$T/$load.json" --db "$T/pair.db" --target b --from "$T/pair.db" --from-target b)" \
		'["relative",0.007,0,0.007,0.007,0.011,0,0.011,0.011]' "the identity of a $load load: ratio 1"
done
# Three loads whose numbers agree by Little's law: 32 in flight by one client; sizes from 4 KiB to 128 KiB; and 12 clients that
# wait 8 ms for a request, a tenth of 20 ms for a flush, and think 2 ms. Each gets its own times and its own throughput.
agreeing() { # NAME CLIENTS IN-FLIGHT SECONDS FLUSHES JQ: all requests take so long
	jq --argjson c "$2" --argjson n "$3" --argjson t "$4" --argjson f "$5" '.intensity.closed.clients_mean = $c | .intensity.closed.in_flight_mean = $n |
		.begin_s = 0 | .end_s = 1 | .quality.coverage_ratio = 1 | .requests.read = 750 | .requests.write = 250 | .requests.flush = $f |
		(.response_time.read.total, .response_time.write.total, .response_time.flush.total) |= (.count = null | .mean_s = $t | .histogram = []) |
		.response_time.flush.total.mean_s = 0.020 |'" $6" "$T/mixed.json" >"$T/$1.json"
}
agreeing asynchronous 1 32 0.032 0 .
agreeing sizes 16 8 0.008 0 '.request_size.read.histogram = [[4096, 500], [65536, 250]] | .request_size.write.histogram = [[16384, 125], [131072, 125]]'
agreeing flushing 12 10 0.008 100 .
query='[.by, (.results[] | select(.type != "flush") | .change_ratio, (.ci[1] - .ci[0])), (.throughput[] | (.target_per_s - .offered_per_s | . * 1e6 | round))]'
for load in asynchronous sizes flushing; do
	is "$(study migrate "$T/$load.json" --db "$T/pair.db" --target b --from "$T/pair.db" --from-target b)" '["relative",0,0,0,0,0]' \
		"the identity of the load '$load', its throughput included"
done
sed 's/campaign: pair/campaign: old/; s/targets: .*/targets: {here: {directory: .}}/; s/0.001 \* clients/0.004 * clients/' "$T/pair.yaml" >"$T/old.yaml"
sed -i "s|directory: \.}|directory: $T}|; s/0.002 \* clients/0.004 * clients/" "$T/old.yaml"
exits 0 "an old storage is measured" "$blkcast" measure "$T/old.yaml" --db "$T/old.db" --quiet
query='[.results[] | (.target_s * 1e5 | round)]'
is "$(study migrate "$T/waiting.json" --db "$T/pair.db" --target b --from "$T/old.db")" '[175,550]' "a quarter of reads, half of writes: of what was measured"
query='.throughput[] | [(.offered_per_s | . / 10 | round * 10), (.target_per_s | round)]'
is "$(study migrate "$T/waiting.json" --db "$T/pair.db" --target b --from "$T/old.db")" "[1000,$(awk 'BEGIN { printf "%.0f", 16 / (0.75 * 0.00175 + 0.25 * 0.0055) }' </dev/null)]" "and the throughput that follows"

bad() { # NAME REGEX COMMAND...
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "a ratio without times" "have no measured response time" study migrate "$T/mixed.json" --db "$T/pair.db" --target b --from "$T/old.db"
bad "an old storage of another study" "--from: of migrate" study consolidate "$T/mixed.json" "$T/mixed.json" --db "$T/pair.db" --target b --from "$T/old.db"
bad "two nets" "expected one calibrated net, this is another" study migrate "$T/mixed.json" --model "$T/reads.json,$T/mixed-net.json"
bad "a response that the store lacks" "write_s" study migrate "$T/mixed.json" --db "$T/open.db"
bad "a target without a store" "expected --db beside it" study migrate "$T/mixed.json" --model "$T/reads.json" --target b
cat >"$T/device.json" <<'JSON'
{"schema": "blkcast.model/1", "kind": "device", "read": {"base_s": 0.001}, "write": {"base_s": 0.002}}
JSON
for option in --campaign --target; do
	for by in --model --storage; do
		bad "$option beside a device of $by" "$option: expected --db beside it" study migrate "$T/mixed.json" $by "$T/device.json" $option b
	done
	bad "$option of headroom beside a device" "$option: expected --db beside it" headroom "$T/readers.json" --slo read.p95=1s --storage "$T/device.json" $option b
	bad "$option of a cache beside a device" "$option: expected --db beside it" study cache "$T/readers.json" --storage "$T/device.json" $option b
	bad "$option of a mix beside a device" "$option: expected --db beside it" study mix "$T/readers.json" --slo read.p95=1s --storage "$T/device.json" $option b
	bad "$option of a capacity beside a device" "$option: expected --db beside it" capacity --storage "$T/device.json" $option b
done
bad "a percentile that no net tells" "tells mean, p50, p95 and p99, not p999" headroom "$T/readers.json" --slo read.p999=1s --model "$T/reads.json"
bad "a load variable of a net" "knows clients alone" headroom "$T/readers.json" --slo read.p95=1s --model "$T/reads.json" --load rate
bad "a store that is none" "open.yaml" study migrate "$T/mixed.json" --db "$T/open.yaml"
done_testing
