#!/usr/bin/env bash
# One grammar for questions: loads, models and objectives are said alike, and the guide's table says where.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
guide=docs/guide/which-question.md

# The table of the guide: command | loads | models | device | objectives, "yes" or "no".
sed -n '/^| question | loads /,/^$/p' "$guide" | sed '1,2d' | tr -d '`' | sed 's/^| *//; s/ *| */|/g; /^$/d' >"$T/table"
is "$(cut -d'|' -f1 "$T/table" | tr '\n' ',')" \
	"study migrate,study consolidate,study interference,study mix,study cache,study scenario,headroom,capacity," "the guide lists every question"
has() { # YES-OR-NO OPTIONS...: whether the help has all of them
	local wanted=$1 option nr=0
	shift
	for option in "$@"; do
		grep -qE "^ +(-[a-z], )?--$option( |=|$)" "$T/help" && nr=$((nr + 1))
	done
	if [ "$wanted" = yes ]; then
		is "$nr" $# "$name has --$*, as the guide says"
	else
		number "$nr < $#" "$name does without --$*, as the guide says"
	fi
}
while IFS='|' read -r name loads models device objectives; do
	# shellcheck disable=SC2086
	"$blkcast" $name --help >"$T/help"
	has "$loads" store profile host device begin end
	has "$models" model db
	has "$device" storage
	has "$objectives" slo
done <"$T/table"

# Two devices in a store: one of them by operand, as a profile and from the store is one load, whatever asks.
for d in sda sdb; do
	awk -v d=$d 'BEGIN { print "fio version 3 iolog\n0 /dev/" d " add\n0 /dev/" d " open"
		for (i = 0; i < 1000; i++) printf "%d /dev/%s read %d %d\n", i * 1000, d, i * 8192, d == "sda" ? 4096 : 8192 }' </dev/null >"$T/$d"
done
"$blkcast" import --format fio-iolog --store "$T/store" --host web -q "$T/sda" "$T/sdb" >/dev/null
"$blkcast" characterize --store "$T/store" --device sda --json -q | jq '.[0]' >"$T/sda.json"
awk 'BEGIN { print "clients,read_s"; for (i = 1; i <= 40; i++) printf "%d,%.9f\n", i, 0.0001 + 0.00005 * i }' </dev/null >"$T/table.csv"
"$blkcast" fit "$T/table.csv" --response read_s --techniques lrm -o "$T/read.json" -q >/dev/null 2>&1
ask() { # NAME COMMAND...: the same answer for the load in three ways
	local name=$1 way
	shift
	"$blkcast" "$@" "$T/sda.json" --json -q >"$T/operand" 2>"$T/err"
	number "$(wc -c <"$T/operand") > 10" "$name answers"
	for way in "--profile $T/sda.json" "--store $T/store --device sda --host web"; do
		# shellcheck disable=SC2086
		"$blkcast" "$@" $way --json -q 2>"$T/err" >"$T/other"
		is "$(jq -cS 'del(.provenance, (.. | .name?, .load?))' "$T/other" | sum)" "$(jq -cS 'del(.provenance, (.. | .name?, .load?))' "$T/operand" | sum)" "$name: the same load by ${way%% *}"
	done
}
ask migrate study migrate --model "$T/read.json"
ask headroom headroom --slo read.mean=1ms --model "$T/read.json"
ask capacity capacity --measure 4k:read=20000,write=5000
ask mix study mix --measure 4k:read=20000,write=5000
ask cache study cache
# Copies: LOAD=COUNT is COUNT loads, whatever asks.
copies() { # NAME JQ COMMAND...: the same answer for LOAD=2 as for the load named twice
	local name=$1 query=$2
	shift 2
	"$blkcast" "$@" "$T/sda.json" "$T/sda.json" --json -q 2>"$T/err" | jq -cS "$query | del(.provenance)" >"$T/operand"
	"$blkcast" "$@" "$T/sda.json=2" --json -q 2>"$T/err" | jq -cS "$query | del(.provenance)" >"$T/other"
	number "$(wc -c <"$T/operand") > 10" "$name answers about two"
	is "$(cat "$T/other")" "$(cat "$T/operand")" "$name: two copies are two loads"
}
copies migrate . study migrate --model "$T/read.json"
copies consolidate . study consolidate --model "$T/read.json"
copies headroom . headroom --slo read.mean=1ms --model "$T/read.json"
copies capacity . capacity --measure 4k:read=20000,write=5000
copies cache . study cache
is "$("$blkcast" study interference "$T/sda.json" "$T/sda.json=3" --model "$T/read.json" --json -q | jq -c '[.results[] | select(.case != "alone").target_s * 1e6 | round] | unique')" \
	"$("$blkcast" study consolidate "$T/sda.json=4" --model "$T/read.json" --json -q | jq -c '[.results[] | select(.case != "alone").target_s * 1e6 | round] | unique')" \
	"interference: copies of a neighbour are beside the load together"
exits 2 "a count that is none" "$blkcast" study migrate "$T/sda.json=0" --model "$T/read.json"
like "$(cat "$T/err")" "sda.json=0: expected LOAD=COUNT, 1 to 256" "is refused"
is "$("$blkcast" study consolidate --store "$T/store" --model "$T/read.json" --json -q | jq '[.results[].load] | max')" 2 "the devices of a store are loads"
cluster="pg://nobody@127.0.0.1:1/db?objects=http://127.0.0.1:1/bucket"
"$blkcast" study cache "$cluster&keys=$T/none" --json -q >"$T/out" 2>"$T/err" || true
is "$(grep -c "LOAD=COUNT" "$T/err")" 0 "what stands behind = in the URL of a cluster is not a count"
exits 2 "a count behind the URL" "$blkcast" study cache "$cluster=0" --json -q
like "$(cat "$T/err")" "expected LOAD=COUNT, 1 to 256" "is one"
exits 2 "a period of a profile is refused" "$blkcast" study migrate "$T/sda.json" --begin 2020-01-01 --model "$T/read.json"
like "$(cat "$T/err")" "a profile holds no single requests" "since it holds no requests"
exits 2 "a period of a replay is refused" "$blkcast" study migrate --store "$T/store" --end 2030-01-01 --run "$T"
like "$(cat "$T/err")" "^blkcast study: --begin, --end: of answers by --model or --db" "by name"
exits 2 "an unknown device is refused" "$blkcast" headroom --store "$T/store" --device sdz --slo read.mean=1ms --model "$T/read.json"

# One simulated device for all that take one: the demonstration's requests on four servers of 1 and 2 ms.
cat >"$T/device.json" <<'JSON'
{"schema": "blkcast.model/1", "kind": "device", "servers": 4, "read": {"base_s": 0.001}, "write": {"base_s": 0.002}, "flush": {"base_s": 0.003},
 "covered": {"concurrency": 4000, "flush": true, "durable": true, "read": {"low_bytes": 512, "high_bytes": 1048576, "random": true, "sequential": true},
  "write": {"low_bytes": 512, "high_bytes": 1048576, "random": true, "sequential": true}}}
JSON
demo=docs/examples/demo.seg
"$blkcast" study migrate "$demo" --storage "$T/device.json" --json -q >"$T/alone"
read_s=$(jq '.results[] | select(.type == "read" and .point == "mean").target_s' "$T/alone")
exits 0 "migrate takes objectives of the device" "$blkcast" study migrate "$demo" --storage "$T/device.json" --slo "read.mean=1s,write.p95=1s" --json -q
is "$(jq -r .conclusion "$T/out")" "$(jq -r .conclusion "$T/alone")" "which hold, and then need no word"
exits 1 "and of those one that is broken" "$blkcast" study migrate "$demo" --storage "$T/device.json" --slo "read.mean=1s,write.mean=1ms" --json -q
like "$(jq -r .conclusion "$T/out")" "write.mean=1ms of .* does not hold: 2.1[0-9] ms\.$" "is named"
exits 3 "a time that the answer does not have cannot be judged" "$blkcast" study migrate "$demo" --storage "$T/device.json" --slo read.p99=1s --duration 50ms --json -q
"$blkcast" headroom "$demo" --slo read.mean=1s --storage "$T/device.json" --json -q --duration 100ms >"$T/out"
number "$(jq '.objectives[0].headroom.factor' "$T/out") >= 1" "headroom takes the device"
mix() { "$blkcast" study mix "$@" --storage "$T/device.json" --json -q >"$T/out" 2>"$T/err"; }
mix "$demo=1" --slo "read.mean=$(awk "BEGIN { printf \"%.0f\", $read_s * 1.01e9 }" </dev/null)ns"
is "$? $(jq .fits "$T/out")" "0 true" "one of a load fits under an objective just above what migrate says"
mix "$demo=1" --slo "read.mean=$(awk "BEGIN { printf \"%.0f\", $read_s * 0.99e9 }" </dev/null)ns"
is "$? $(jq .fits "$T/out")" "1 false" "and not under one just below"
mix "$demo=40" --slo read.mean=1000s
is "$? $(jq .fits "$T/out")" "1 false" "more of it than the device serves do not fit, whatever the objective"
like "$(jq -r .conclusion "$T/out")" "the target cannot carry this load" "since less is served than they offer"
exits 2 "a mix of profiles is refused" "$blkcast" study mix "$T/sda.json=1" --slo read.mean=1s --storage "$T/device.json"
exits 0 "cache takes the device" "$blkcast" study cache "$demo" --hit-time 100us --storage "$T/device.json" --json -q
is "$(jq '.loads[0].miss_s as $miss | $miss > 0.001 and $miss < 0.1' "$T/out")" true "and misses take the device's time"
exits 2 "but not beside a time of misses" "$blkcast" study cache "$demo" --miss-time 1ms --storage "$T/device.json"
exits 2 "a period of a mix is refused" "$blkcast" study mix "$demo=1" --slo read.mean=1s --storage "$T/device.json" --begin 2020-01-01
like "$(cat "$T/err")" "^blkcast study: --begin, --end: not beside --storage" "since all stored requests are simulated"
exits 2 "and so is one of a cache" "$blkcast" study cache "$demo" --hit-time 100us --storage "$T/device.json" --end 2030-01-01
exits 0 "capacity takes the device" "$blkcast" capacity --storage "$T/device.json" --mix read=50 --json
is "$(jq -c '[.sizes[] | (.capacity / 4000 > 0.98 and .capacity / 4000 < 1.02)] | unique' "$T/out")" "[true]" "four servers of 1 ms serve 4000 reads per second of any size"
jq '.covered.read.high_bytes = 4096 | .covered.write.high_bytes = 4096 | .covered.concurrency = 25000' "$T/device.json" >"$T/edge.json"
exits 0 "more requests under way than a simulation has otherwise" "$blkcast" capacity --storage "$T/edge.json" --json
is "$(jq -c '[.sizes[] | [.bytes, (.capacity / 4000 > 0.98 and .capacity / 4000 < 1.02)]]' "$T/out")" \
	"[[512,true],[2048,true],[4096,true]]" "and the smallest and the largest measured size belong to it"
exits 2 "an objective that no device tells" "$blkcast" capacity --storage "$T/device.json" --slo read.p999=1s
like "$(cat "$T/err")" "objectives: a simulated device tells mean, p50, p95 and p99, and no p999" "is not taken for another one"
exits 2 "a device whose campaign measured nothing has no capacity" "$blkcast" capacity --storage <(jq 'del(.covered)' "$T/device.json")

# A load in a hole of the table: its sizes are 4 KiB, and the model was trained at 512 bytes and from 16 KiB on.
awk 'BEGIN { print "clients,size,read_s"; for (i = 1; i <= 8; i++) for (k = 0; k < 12; k++)
	printf "%d,%d,%.9f\n", i, k < 4 ? 512 + k : 16384 + k * 256, 0.001 * i }' </dev/null >"$T/hole.csv"
"$blkcast" fit "$T/hole.csv" --response read_s --techniques lrm -o "$T/hole.json" -q >/dev/null 2>&1
exits 3 "a load in a hole of the table cannot be told" "$blkcast" study migrate "$T/sda.json" --model "$T/hole.json" --json -q
like "$(jq -r .conclusion "$T/out")" "^Cannot tell: 'size' lies outside what the target's model knows; a run on the target would tell" "and the variable is named"
exits 3 "headroom cannot tell there either" "$blkcast" headroom "$T/sda.json" --slo read.mean=5ms --model "$T/hole.json" --json -q

# What counters do not tell: the pattern is asked at both ends, 1 ms in order and 3 ms at random.
awk 'BEGIN { print "pattern,clients,read_s"; for (i = 1; i <= 40; i++) for (k = 0; k < 2; k++) printf "%d,%d,%.9f\n", k, i, 0.003 - 0.002 * k }' </dev/null >"$T/pattern.csv"
"$blkcast" fit "$T/pattern.csv" --response read_s --techniques lrm -o "$T/pattern.json" -q >/dev/null 2>&1
jq '(.access_pattern.read, .access_pattern.write, .access_pattern.all) |= with_entries(.value = null) | .locality |= with_entries(if .key == "file_count_mean" then . else .value = null end) |
	.intensity.closed.clients_mean = null | .intensity.closed.in_flight_mean = 2 | .request_size.read.histogram = null | .durability = null' "$T/sda.json" >"$T/counters.json"
"$blkcast" study migrate "$T/counters.json" --model "$T/pattern.json" --json 2>"$T/err" >"$T/out"
is "$(jq -c '.results[0] | [(.target_s, .ci[]) | . * 1e4 | round]' "$T/out")" '[20,10,30]' "an answer from what is there, with a wider interval"
like "$(cat "$T/err")" "does not tell: clients, the distribution of sizes, access pattern, range of addresses, forced writes, percentiles" "and a line that says what was missing"
"$blkcast" study migrate "$T/counters.json" --model "$T/pattern.json" --set pattern=1 --json -q >"$T/out" 2>&1
is "$(jq -c '.results[0] | [(.target_s * 1e4 | round), .ci]' "$T/out")" '[10,null]' "which the caller can say instead"
done_testing
