#!/usr/bin/env bash
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
all=$T/all.json

exits 0 "a store is characterized" "$b" characterize --store "$T/store" --json
cp "$T/out" "$all"
is "$(jq -c '[.[] | [.schema, .host, .device_name, .device, .requests.read, .duration_s,
	.quality.coverage_ratio]]' "$all")" '[["blkcast.profile/1","db1","sda","8:0",1123,4,0.75],["blkcast.profile/1","db1","sdb","8:16",1179,4,0.75],["blkcast.profile/1","web1","sda","8:0",1501,4,1],["blkcast.profile/1","web1","sdb","8:16",1527,4,1]]' \
	"one profile per host and device"
# db1 was watched for 3 s of 4, web1 for all, and both have the same load
intensity() { jq "[.[] | select(.host == \"$1\" and .device_name == \"sda\")][0] | $2" "$all"; }
is "$(intensity db1 '[.quality.watched_s, .intensity.open.rate_per_s * 3 | round]' | jq -c .)" "[3,2191]" \
	"the rate is over the time watched"
is "$(intensity db1 '(.throughput.read_bytes_per_s * 3 | round) == .bytes.read')" true "and so is the throughput"
number "$(intensity db1 '.intensity.open.interarrival_scv') < 1" "no gap between arrivals reaches over the time not watched"
number "$(intensity db1 '.intensity.open.interarrival_mean_s * .intensity.open.rate_per_s') < 1.01" \
	"their mean is that of the time watched"
number "$(intensity db1 '[.intensity.open.idc[0][1], .intensity.open.idc[1][1]] | max') < 1" \
	"time not watched is no burst"
number "$(intensity db1 .intensity.closed.in_flight_mean) > 0.9 * $(intensity web1 .intensity.closed.in_flight_mean)" \
	"as many requests are in flight as on the other host"
is "$("$b" characterize --store "$T/store" --json --window 1s | jq '[.[].requests.read] | add')" \
	"$(jq '[.[].requests.read] | add' "$all")" "the windows' requests add up to the whole"
is "$("$b" characterize --store "$T/store" --json --window 1s | jq -c \
	'[.[] | select(.host == "db1" and .device_name == "sda") | .begin_s]')" \
	"[1767225600,1767225601,1767225603]" "a window that nobody watched is left out"
columns() { awk '{ print match($0, / (host|guest) /) }' | sort -u; }
is "$(TZ=IST-5:30 "$b" characterize docs/examples/demo.seg --window 300ms -q | columns)" 30 "windows of a fraction of a second stand below their titles"
is "$("$b" characterize --json "$T"/store/segments/*/*/*/*.seg)" "$(cat "$all")" \
	"the segment files give what the store gives"
is "$("$b" characterize --store "$T/store" --json --device sdb --cgroup /web --host web1 |
	jq '.[0].requests | .read + .write')" \
	"$("$b" dump --store "$T/store" --format csv --device sdb --cgroup /web --host web1 | sed 1d | wc -l)" \
	"a selection counts what dump shows"
is "$("$b" characterize --store "$T/store" --json --process nobody 2>/dev/null)" "[]" \
	"nothing selected is an empty array"
is "$("$b" characterize --store "$T/store" --host web1 --device sda | sed -n '1,2p')" \
	"web1 sda (8:0), source bpf, layer device
2026-01-01T00:00:00+00:00 to 2026-01-01T00:00:04+00:00 (4 s)" "the text says what and when"
found() { jq -c '[.[] | [.arrivals.read.outstanding, .arrivals.write.outstanding | map(.[1]) | add] ==
	[.requests.read, .requests.write]] | unique' "$1"; }
is "$(found "$all")" "[true]" "what each request found under way is counted"
"$b" characterize --store "$T/store" --host web1 --device sda >"$T/text"
like "$(grep -A 1 'reads found' "$T/text" | tr -s ' \n' ' ')" \
	'reads found p50 [0-9]+, p95 [0-9]+ others under way; p50 .*s, p95 .*s after the one before .* ended, .* within 128 KiB' \
	"the text says what reads found when they arrived"
# The demonstration has 14 s, and its requests came in 10 of them.
"$b" characterize docs/examples/demo.seg >"$T/demo"
like "$(cat "$T/demo")" 'arrivals      1\.05 k per second of the whole time, 658 µs apart from the first to the last ' \
	"the text says over which times rate and distance of arrivals are"
for what in "--device wrong" "--host wrong" "--process nobody" "--cgroup /nowhere" "--begin 2040-01-01" "--end 2000-01-01"; do
	for command in characterize "characterize --together" "characterize --window 1s" dump "export --format csv" \
		"dump --profiles" "mimic --replay --target /dev/sdx -o $T/replay.fio" \
		"mimic --replay --run --target /dev/sdx"; do
		exits 2 "$command $what: exit 2" "$b" $command --store "$T/store" $what
		like "$(cat "$T/err")" "no request is in the selection .* the devices are: .*sda of (db1|web1)" \
			"$command $what: names the devices"
	done
done
exits 2 "a period that nobody recorded" "$b" characterize --utc --store "$T/store" --begin 2040-01-01
like "$(cat "$T/err")" "; they were recorded from [0-9T:-]{19}Z to [0-9T:-]{19}Z$" "is answered by the recorded one"
for command in characterize dump report; do
	exits 2 "$command of a folder without --store" "$b" $command "$T/store"
	like "$(cat "$T/err")" "store: expected a segment file, and this is a folder: --store .*/store reads it as a store$" \
		"$command says how a store is named"
done
for what in "--host wrong" "--begin 2040-01-01" "--end 2000-01-01"; do
	exits 2 "export of segments $what: exit 2" "$b" export --format segments --store "$T/store" $what -o "$T/out.seg"
	like "$(cat "$T/err")" "the devices are: .*sda of (db1|web1)" "export of segments $what: names the devices"
done
exits 2 "mimic of a device that is not there: exit 2" "$b" mimic "$T/store" --device wrong --target /dev/sdx
like "$(cat "$T/err")" "store: nothing is in the selection; the devices are: .*sda of (db1|web1)" "and the devices are named"
"$b" characterize --store "$T/store" --json >"$T/profiles.json"
exits 2 "mimic of a profile that is not in the file: exit 2" "$b" mimic "$T/profiles.json" --device wrong --target /dev/sdx
like "$(cat "$T/err")" "json: nothing is in the selection; the devices are: .*sda of (db1|web1)" "and those of the file are named"
chmod a-w "$T/store"
is "$("$b" characterize --store "$T/store" --json)" "$(cat "$all")" "again, with its catalog"
rm -f "$T"/store/catalog.sqlite*
exits 2 "--end before --begin is bad usage" "$b" characterize --store "$T/store" --begin @9 --end @8
done_testing
