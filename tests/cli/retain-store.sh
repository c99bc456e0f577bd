#!/usr/bin/env bash
# What is left of a store after retention, against what it was.
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
store=$T/store
"$b" characterize --store "$store" --json >"$T/before.json"
"$b" characterize --store "$store" --json --window 2s --host web1 >"$T/before-windows.json"
"$b" ls --store "$store" --json >"$T/ls-before.json"

exits 2 "a limit is asked for" "$b" retain --store "$store"
exits 2 "profiles do not go before requests" "$b" retain --store "$store" --retain-requests 2d --retain-summaries 1d
exits 2 "a window has a second at least" "$b" retain --store "$store" --retain-requests 2d --retain-window 1ms
exits 2 "a store is an option" "$b" retain "$store" --retain-requests 2d
is "$(head -n 1 "$T/err")" "blkcast retain: --store: expected the folder of the store to go over once" "and it is said which"
exits 2 "more than one is not taken" "$b" retain --store "$store" --retain-requests 2d "$store"
is "$(head -n 1 "$T/err")" "blkcast retain: expected no operand, got 1 operand" "and it is said what"
for age in --retain-requests --retain-summaries; do
	exits 2 "an age without its unit" "$b" retain --store "$store" $age 30
	is "$(head -n 1 "$T/err")" "blkcast retain: $age: expected a time with its unit, such as 12h or 30d, got '30'" \
		"is not taken for seconds"
done
exits 2 "no store is made" "$b" retain --store "$T/none" --retain-requests 1d
is "$(cat "$T/err")" "blkcast retain: $T/none: expected a store: it has no folder \`segments\`" "and the line says so"

exits 0 "younger requests stay" "$b" retain --store "$store" --retain-requests 4000w --json
is "$(jq -c '[.schema, .segments, .requests]' "$T/out")" '["blkcast.retain/1",0,0]' "nothing was done"
exits 0 "requests beyond a size go" "$b" retain --store "$store" --retain-requests-size 40k --retain-window 2s --json
is "$(jq -c '[.segments, .requests, .dropped_requests, .left_out_segments]' "$T/out")" '[5,7500,0,0]' \
	"the oldest, until the rest is below it"
is "$(find "$store" -name '*.seg' | wc -l) $(find "$store" -name '*.sum' | wc -l)" "2 3" "a summary for each window"
exits 0 "the store is sound" "$b" check --store "$store" --json
is "$(jq -c '[.requests, .retention.segments, .retention.summarized_requests, .retention.dropped_requests, .findings]' "$T/out")" \
	'[3000,5,7500,0,[]]' "check balances: there, summarized, dropped"

# Exact: counts, bytes, sizes, histograms and their quantiles; to rounding: means and ratios.
exact='map({host, device, requests, bytes, lost, errors, begin_s, end_s, request_size, request_mix, response_time,
	throughput, quality: (.quality | del(.why))})'
"$b" characterize --store "$store" --json >"$T/after.json"
is "$(jq -cS "$exact" "$T/after.json" | md5sum)" "$(jq -cS "$exact" "$T/before.json" | md5sum)" \
	"what adds up is what the requests gave"
found='map([.arrivals.read.outstanding, .arrivals.write.outstanding | map(.[1]) | add])'
is "$(jq -c "$found" "$T/after.json")" "$(jq -c 'map([.requests.read, .requests.write])' "$T/before.json")" \
	"what each request found under way is still counted"
number "$(jq '[.[].arrivals[] | .seek_distance_sectors, .interarrival_s | map(.[1]) | add] | add' "$T/after.json") > 20000" \
	"and so are distances in time and place"
near='map([.intensity.closed.in_flight_mean, .intensity.open.rate_per_s, .access_pattern.read.stream_ratio,
	.request_size.read.mean_bytes] | map(. * 1e9 | round))'
is "$(jq -c "$near" "$T/after.json")" "$(jq -c "$near" "$T/before.json")" "so are means"
is "$(jq -c '[.[0] | .intensity.open.interarrival_scv, .intensity.open.idc, .intensity.closed.think_time_mean_s,
	.locality.footprint_bytes, .locality.distribution, .locality.miss_ratio_curve] | unique' "$T/after.json")" '[null]' \
	"what takes single requests is unknown"
is "$(jq -c '[.[].source_detail.retention | [.summarized_requests, .summaries]]' "$T/after.json")" \
	'[[1450,1],[1550,1],[2185,2],[2315,2]]' "each profile says which part is merged"
"$b" characterize --store "$store" --json --window 2s --host web1 >"$T/after-windows.json"
is "$(jq -cS '.[0:2] | map(del(.source_detail))' "$T/after-windows.json" | md5sum)" \
	"$(jq -cS '.[0:2] | map(del(.source_detail))' "$T/before-windows.json" | md5sum)" \
	"a window summarized as a whole has all that it had, locality too"
exits 0 "the text says it too" "$b" characterize --store "$store" --host web1 --device sda --utc
is "$(sed -n 3p "$T/out")" "of which 2185 requests of 2026-01-01T00:00:00Z to 2026-01-01T00:00:03Z are merged from summaries" \
	"in its head"

"$b" ls --store "$store" --json >"$T/ls-after.json"
same='.hosts | map([.host, .requests, .captured, .lost, .missing_segments, .coverage_ratio, .gaps, .devices])'
is "$(jq -cS "$same" "$T/ls-after.json")" "$(jq -cS "$same" "$T/ls-before.json")" "ls counts what was taken"
is "$(jq -c '[.hosts[].retention.summarized.requests]' "$T/ls-after.json")" "[3000,4500]" "and what is summarized"
exits 0 "dump has what is there" "$b" dump --store "$store" --format csv
is "$(sed 1d "$T/out" | wc -l) $(grep -c 'only summarized (retention)' "$T/err")" "3000 1" "and says what is not"
exits 0 "process and cgroup take requests" "$b" characterize --store "$store" --json --process fio
is "$(grep -c '7500 requests are not in it' "$T/err")" 1 "summaries have none, which is said"
exits 0 "times cut no summary" "$b" characterize --store "$store" --json --host web1 --begin 2026-01-01T00:00:01Z
is "$(jq '[.[].requests | .read + .write] | add' "$T/out") $(grep -c '3000 requests are not in it' "$T/err")" "3000 1" \
	"one that they cut through is left out, which is said"
exits 0 "a report of both" "$b" report --store "$store" -o "$T/report.html" --json
is "$(jq -c '[.requests, .summarized_requests]' "$T/out")" '[10500,7500]' "counts the summarized requests"
is "$(grep -c 'Retention removed 7[^0-9]*500 of the requests, from ' "$T/report.html")" 1 "and says on its page what they are drawn from"
like "$(sed -n '/<section id="access-1">/,/<\/section>/p' "$T/report.html")" 'retention removed are not in it' "a picture of single requests says what it lacks"
cp -r "$store" "$T/gone"
"$b" retain --store "$T/gone" --retain-requests 1h --retain-window 2s >/dev/null
exits 0 "a report of profiles alone" "$b" report --store "$T/gone" -o "$T/gone.html"
figure_sum() { "$b" report --store "$T/gone" --figure "$1" --csv | sed 1d | awk -F, '{ for (i = 2; i <= NF; i++) s += $i } END { print s }'; }
is "$(figure_sum requests) $(figure_sum heatmap)" "10500 10500" "draws all requests and all their response times"
is "$(figure_sum outstanding)" 10500 "and what each of them found under way"
number "$(figure_sum seek) > 10400 && $(figure_sum interarrival) > 10400" "and how far each was from the one before"
is "$("$b" report --store "$T/gone" --figure requests --csv | wc -l)" 3 "in columns as long as the periods of the profiles"
is "$(sed -n '/<section id="access-1">/,/<\/section>/p' "$T/gone.html" | grep -c 'cannot be drawn: retention removed the requests')" 1 \
	"and says which picture it cannot draw, and why"
exits 1 "one picture that it cannot draw" "$b" report --store "$T/gone" --host web1 --figure access
like "$(cat "$T/err")" 'access: nothing to show: It cannot be drawn: retention removed the requests' "is refused by a sentence"
exits 0 "objectives are judged by profiles too" "$b" report --store "$T/gone" --slo read.p95=1s -o "$T/gone.html" --json
is "$(jq -c '[.objectives[].window_s] | unique' "$T/out")" "[2]" "in windows that are not shorter than a profile's period"
hash_of() { "$b" report --store "$1" --host "$2" -o "$T/gone.html" --json | jq -r .data_xxh3; }
is "$([ "$(hash_of "$T/gone" web1)" = "$(hash_of "$T/gone" db1)" ] && echo same)" "" "profiles of different requests have different hashes"
"$b" report --store "$T/gone" --host web1 --device sda -o "$T/gone.html"
like "$(cat "$T/gone.html")" 'no profile of the selection has them' "what other devices did is not called dropped"

# Loads of a trace without a date begin at 1970, where the tolerance before a profile has no room.
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) printf "%d /dev/sda read %d 4096\n", i * 10000, i * 8192 }' >"$T/log"
"$b" import --format fio-iolog --store "$T/early" -q "$T/log" >"$T/out"
"$b" retain --store "$T/early" --retain-requests 1d --retain-window 1h >"$T/out"
exits 0 "a report from 1970 on" "$b" report --store "$T/early" --figure requests -o "$T/early.svg"
is "$(grep -c 'class="unwatched" x="64"' "$T/early.svg")" 0 "has no gap where a profile covers it"
# A period that lies in two columns of its length: 10 s from the third second on.
"$b" import --format fio-iolog --begin 2026-01-01T00:00:03Z --store "$T/odd" -q "$T/log" >"$T/out"
"$b" retain --store "$T/odd" --retain-requests 1d --retain-window 1h >"$T/out"
exits 0 "a report of an odd period" "$b" report --store "$T/odd" --figure requests -o "$T/odd.svg"
like "$(cat "$T/odd.svg")" 'class="area s7" d="M64 [0-9.]* ?L64 [0-9.]*L406 ' "draws both columns whole, half of the picture each"
like "$(cat "$T/odd.svg")" 'Requests per second: mean 100, 95th percentile 100, peak 100, over windows of 10' \
	"at the rate of the time in them that was watched"
is "$(grep -c 'class="unwatched"' "$T/odd.svg")" 2 "and shades what was not, before the period and after it"
exits 0 "compare takes a store partly summarized" "$b" compare "$T/before.json" "$store" --json

rm -f "$store"/catalog.sqlite*
"$b" ls --store "$store" --json >"$T/ls-anew.json"
is "$(jq -cS . "$T/ls-anew.json" | md5sum)" "$(jq -cS . "$T/ls-after.json" | md5sum)" "a catalog made anew says the same"

exits 0 "profiles go by age" "$b" retain --store "$store" --retain-requests 1h --retain-summaries 2h --json
is "$(jq -c '[.requests, .dropped_requests]' "$T/out")" '[3000,10500]' "the rest and the summaries"
exits 0 "it is told what is gone" "$b" characterize --store "$store" --json
is "$(cat "$T/out") $(grep -c '10500 requests of .* were dropped (retention)' "$T/err")" "[] 1" "by interval and cause"
"$b" ls --store "$store" --json >"$T/ls-gone.json"
is "$(jq -cS "$same" "$T/ls-gone.json")" "$(jq -cS "$same" "$T/ls-before.json")" "ls still counts what was taken"
is "$(jq -c '[.hosts[].retention.dropped | [.cause, .requests]]' "$T/ls-gone.json")" \
	'[["retention",4500],["retention",6000]]' "and what was dropped, by cause"
exits 0 "the store is sound" "$b" check --store "$store"

# Damage is found, set aside, and a summary that is left over is removed.
sum=$(find "$store" -name '*.sum' | sort | head -n 1)
cp "$sum" "$T/good.sum"
printf x | dd of="$sum" bs=1 seek=60 conv=notrunc 2>"$T/dd"
exits 1 "a damaged summary is found" "$b" check --store "$store"
like "$(cat "$T/out")" "checksum: the content is not what was written" "and why"
exits 0 "and set aside" "$b" check --store "$store" --repair
exits 0 "what is left is sound" "$b" check --store "$store"

# A step that fails leaves its segments, and the pass goes on with those of the others.
"$BUILD/tests/system/sample_store" "$T/whole"
cp -a "$T/whole" "$T/stuck"
"$b" retain --store "$T/whole" --retain-requests 1s >"$T/out" 2>"$T/err"
first=$(cd "$T/whole" && find . -name '*.sum' | sort | head -n 1)
mkdir -p "$T/stuck/$first/in-the-way"
"$b" retain --store "$T/stuck" --retain-requests 1s >"$T/out" 2>"$T/err"
is "$?" 2 "a step that fails is said"
like "$(cat "$T/err")" "${first#./}" "with the file"
is "$(cd "$T/stuck" && find . -name '*.sum' -type f | sort | sed 's/-[0-9]*\.sum$//')" \
	"$(cd "$T/whole" && find . -name '*.sum' -type f | sort | sed '1d; s/-[0-9]*\.sum$//')" "all others are summarized"
holds "and its segments are there" test -n "$(find "$T/stuck/${first%/*}" -name '*.seg')"
done_testing
