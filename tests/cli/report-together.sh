#!/usr/bin/env bash
# blkcast report --together: the fleet's sums, tables and rhythm, against the dump and the single reports.
. tests/support/tap.sh
blkcast=$BUILD/blkcast
make_trace=$BUILD/tests/system/make_trace

$make_trace "$T/a.seg" 20 100 2 plain hosta
$make_trace "$T/b.seg" 20 300 1 plain hostb
fleet() { "$blkcast" report --utc --together "$@" "$T/a.seg" "$T/b.seg"; }
exits 0 "a page of a fleet" fleet -o "$T/fleet.html"
cp "$T/out" "$T/text"
fleet --json >"$T/json"
"$blkcast" characterize --together --json "$T/a.seg" "$T/b.seg" >"$T/together.json"
is "$(jq -c '[.schema, .nr_hosts, .nr_devices]' "$T/json")" '["blkcast.fleet/1",2,3]' "it counts hosts and devices"
is "$(jq -c '[.requests_per_s_mean, .requests_per_s_p95, .requests_per_s_max, .requests_max_begin_s, .own_peaks_per_s]' "$T/json")" \
	"$(jq -c '.requests_per_s | [.mean, .p95, .max, .max_begin_s, .own_peaks_sum]' "$T/together.json")" \
	"sums by the second are those of characterize --together"
is "$(jq -c '[.devices[] | {host, device, requests}] | sort_by(.host, .device)' "$T/json")" \
	"$("$blkcast" dump --json "$T/a.seg" "$T/b.seg" | jq -cs 'group_by(.host, .device) |
		map({host: .[0].host, device: .[0].device, requests: length}) | sort_by(.host, .device)')" \
	"each device has its requests"
is "$(jq -c '[(.devices | map(.requests) | . == (sort | reverse)), (.hosts | map(.requests) | . == (sort | reverse)),
	((.devices | map(.requests_ratio) | add) - 1 | fabs < 1e-9), (.hosts[0].host == .devices[0].host)]' "$T/json")" \
	'[true,true,true,true]' "the busiest come first, and shares add up to one"
is "$(jq -c ".hosts | map([.host, .devices]) | sort" "$T/json")" '[["hosta",2],["hostb",1]]' "hosts have their devices"
# 20 s of 2026-09-10, 00:26:40 UTC, a Thursday.
is "$(jq -c '[.week | length, (map(select(.watched_s > 0)) | length), (map(select(.requests > 0)) | .[0] | [.day, .hour])]' "$T/json")" \
	'[168,1,["Thursday",0]]' "one hour of the week was watched"
is "$(jq -c '[(.week | map(.requests) | add) == (.devices | map(.requests) | add), .peak_hour_begin_s]' "$T/json")" \
	"[true,$(date -u -d '2026-09-10 00:00' +%s)]" "and has all requests"
is "$(jq -c '(.peak_hour_per_s / ((.devices | map(.requests) | add) / (.end_s - .begin_s)) - 1 | fabs) < 0.01' "$T/json")" true \
	"its rate is over the time that was watched"
is "$(fleet --csv | wc -l) $(fleet --csv --figure hosts | wc -l) $(fleet --csv --figure week | wc -l)" "4 3 169" "each table is there as CSV"
is "$(fleet --csv --figure hosts | cut -d, -f1-3 | sort | tail -n 2)" \
	"$(jq -r '.hosts | sort_by(.host)[] | [.host, .devices, .requests] | join(",")' "$T/json" | sort)" "with the same rows"
# A name that would be a formula, and instants that are the same in every time zone.
$make_trace "$T/c.seg" 20 50 1 plain -2-3
TZ=Asia/Tokyo "$blkcast" report --together --csv "$T/c.seg" "$T/a.seg" >"$T/names.csv"
cat >"$T/names.py" <<-'END'
	import csv, sys, datetime
	rows = list(csv.DictReader(open(sys.argv[1], newline="")))
	begins = [datetime.datetime.fromisoformat(row["begin"].replace("Z", "+00:00")) for row in rows]
	print(sorted({row["host"] for row in rows}), {begin.isoformat()[:16] for begin in begins},
		all(row["end"] > row["begin"] for row in rows))
END
is "$(python3 "$T/names.py" "$T/names.csv")" "[\"'-2-3\", 'hosta'] {'2026-09-10T00:26'} True" "a name is no formula, and instants are ISO 8601 in UTC"
like "$(cat "$T/text")" 'Peak hour: +2026-09-10T00:00:00Z' "the text has the peak hour"
like "$(cat "$T/text")" '^Of 3 devices on 2 hosts the busiest is hostb sda with ' "and a conclusion"
is "$(grep -oE '<div[^>]*><dt>(Hosts|Period|Peak hour)<' "$T/fleet.html" | tr -d '\n')" \
	'<div class="wide"><dt>Period<<div><dt>Hosts<<div class="wide"><dt>Peak hour<' "whose instants have wide tiles"
like "$(cat "$T/fleet.html")" '<rect class="box h9"[^>]*><title>Thursday 00:00: ' "which draws the week"
like "$(grep 'class="made"' "$T/fleet.html")" 'blkcast report --utc --together -o ' "and names its command"
# Two hosts, each watched for another 10 minutes of the same hour.
for at in 1789000000 1789001200; do
	{
		echo 'time,op,offset,size'
		for i in $(seq 0 60 600); do echo "$((at + i)),R,$((4096 * i)),4096"; done
	} >"$T/$at.csv"
	"$blkcast" import -q --store "$T/store" --host "h$at" --map time=time:s,op=op,offset=offset,size=size "$T/$at.csv" >/dev/null
done
is "$("$blkcast" report --utc --together --json --store "$T/store" |
	jq -c '[.week[] | select(.requests > 0) | .watched_s, .requests, .requests_per_s * 1200]')" '[1200,22,22]' \
	"the rate of an hour is over the time in which any host was watched"
is "$("$blkcast" report --utc --together --json --store "$T/store" | jq -c '.requests_per_s_mean * 1200 / 22 - 1 | fabs < 0.01')" true \
	"and so is the mean of the sum"
is "$("$blkcast" characterize --together --json --store "$T/store" | jq -c '[.intervals, .requests_per_s.mean * 1200]')" "[1202,22]" \
	"percentiles are over every second that was watched or has a request"
is "$("$blkcast" characterize --together --json --store "$T/store" | jq -c '.requests_per_s | [.mean, .p95]')" \
	"$("$blkcast" report --utc --together --json --store "$T/store" | jq -c '[.requests_per_s_mean, .requests_per_s_p95]')" \
	"characterize --together takes it over the same time"
# Both ends of a recording lie within a second.
{
	echo 'time,op,offset,size'
	for i in $(seq 0 300); do echo "$((1789000000500 + 10 * i)),R,$((4096 * i)),4096"; done
} >"$T/halves.csv"
"$blkcast" import -q --store "$T/halves" --host h --map time=time:ms,op=op,offset=offset,size=size "$T/halves.csv" >/dev/null
"$blkcast" report --utc --together --json --store "$T/halves" >"$T/halves.json"
is "$(jq -c '(.requests_per_s_mean - 301 / 3 | fabs) < 1e-6' "$T/halves.json")" true "the mean is over the time that was watched of such seconds"
is "$(jq -c '.requests_per_s_mean as $mean | [.hosts[0], .devices[0], (.week[] | select(.requests > 0)) | .requests_per_s / $mean - 1 | fabs < 1e-6]' \
	"$T/halves.json")" "[true,true,true]" "as the rates of the host, the device and the hour are"
exits 2 "an unknown table is refused" fleet --csv --figure pie
exits 2 "so is a picture alone" fleet --figure week
exits 2 "and objectives" fleet --slo read.p95=1ms
done_testing
