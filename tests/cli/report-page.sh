#!/usr/bin/env bash
# blkcast report: the page's words and data against the commands it names, and what bad usage says.
. tests/support/tap.sh
blkcast=$BUILD/blkcast
make_trace=$BUILD/tests/system/make_trace

$make_trace "$T/one.seg" 60 400 1
$make_trace "$T/three.seg" 20 500 3
$make_trace "$T/limited.seg" 20 40 1 throttled
$make_trace "$T/untimed.seg" 20 40 1 untimed
words() { sed -n 's/<p class="lead">\(.*\)<\/p>/\1/p' "$1"; }

exits 0 "it writes a page" env SOURCE_DATE_EPOCH=1790000000 "$blkcast" report --utc "$T/one.seg" -o "$T/one.html"
cp "$T/one.html" "$T/again.html"
exits 0 "and again" env SOURCE_DATE_EPOCH=1790000000 "$blkcast" report --utc "$T/one.seg" -o "$T/one.html"
holds "the same trace gives the same bytes on the same day" cmp -s "$T/one.html" "$T/again.html"
is "$(sed -n 's/<p class="made">Made by <code>\(.*\)<\/code>, blkcast [0-9].*, on <time datetime="2026-09-21">2026-09-21<\/time>.<\/p>/\1/p' "$T/one.html")" \
	"blkcast report --utc $T/one.seg -o $T/one.html" "its foot has the command, the version and the day"
exits 2 "a page in a folder that is not there" "$blkcast" report "$T/one.seg" -o "$T/none/one.html"
like "$(cat "$T/err")" "^blkcast report: $T/none/one.html: the file cannot be written: No such file or directory; make its folder first, or name another path\$" \
	"is refused with what, where and what to do"
shown=$(sed -n 's/^    blkcast \(report .*\) -o docs\/guide\/heatmap.svg$/\1/p' docs/guide/record-and-report.md)
# shellcheck disable=SC2086 # the command's words
"$blkcast" $shown -o "$T/heatmap.svg"
holds "the guide shows the picture that its command makes" cmp -s "$T/heatmap.svg" docs/guide/heatmap.svg
"$blkcast" report "$T/one.seg" --figure sizes -o "$T/sizes.svg"
"$blkcast" report "$T/one.seg" --figure sizes -o /dev/stdout | cat >"$T/piped.svg"
holds "a pipe behind /dev/stdout gets what a file gets" cmp -s "$T/sizes.svg" "$T/piped.svg"
{ echo before; "$blkcast" report "$T/one.seg" --figure sizes -o /dev/stdout; echo after; } >"$T/several"
{ echo before; cat "$T/sizes.svg"; echo after; } >"$T/wanted"
holds "a file behind /dev/stdout keeps what is before and gets what follows" cmp -s "$T/several" "$T/wanted"
like "$(words "$T/one.html" | head -n 1)" \
	'^More reads than writes \(5[0-9].* reads\), [0-9.]+ reads and writes and [0-9.]+ MiB per second on average: random reads, mostly of 4.{1,3}KiB; sequential writes of .* on average\. Of response times, half of the reads are done within .*, 95.{1,3}% within .*, 99.{1,3}% within .*; half of the writes .*\.$' \
	"it opens on what the workload is"
like "$(words "$T/one.html" | sed -n 2p)" \
	'^The load was of one kind throughout: 60.{1,3}s of random reads and writes \([0-9]+ requests per second, .* each on average\)\. The busiest 1.{1,3}s began at [0-9:]{8}, with .* requests per second\. The slowest 1.{1,3}s began at [0-9:]{8}: .*% of the requests that arrived then took .*ms or longer\.$' \
	"goes on with how it went, and when it was busiest and slowest"
like "$(words "$T/one.html" | tail -n 1)" 'queueing: they spend [0-9.]+.{1,3}% of their time waiting' \
	"and on where the time goes"
"$blkcast" report --utc "$T/three.seg" -o "$T/three.html"
like "$(words "$T/three.html" | sed -n 2p)" \
	'^The load had 3 phases: 9.*s of random .*, then 900.{1,3}ms of partly sequential .*, then 9\.9.*s of random ' \
	"a burst of other requests is a phase of its own"
"$blkcast" report "$T/limited.seg" -o "$T/limited.html"
like "$(words "$T/limited.html" | tail -n 1)" 'not the device: .* I/O limit or throttle' \
	"a throttled guest does not look like a slow device"
"$blkcast" report "$T/untimed.seg" -o "$T/untimed.html"
like "$(words "$T/untimed.html" | head -n 1)" 'does not tell how long requests took' \
	"a trace without response times says so"
is "$(words "$T/untimed.html" | sed -n 2p | grep -c slowest)" 0 "and names no slowest moment"

# A day between two minutes of load that nobody watched; one request alone; flushes alone.
map=time=1:s,offset=2,size=3,op=4,response=5:us
awk 'BEGIN { print "t,offset,size,op,us"; for (i = 0; i < 3000; i++) printf "%.2f,%d,4096,R,100\n", i / 50, i % 7 * 1e6 }' >"$T/minute.csv"
for day in 01 02; do
	"$blkcast" import -q --store "$T/days" --map $map --host h --begin 2026-01-${day}T00:00:00Z "$T/minute.csv" >"$T/out"
done
"$blkcast" report --utc --store "$T/days" -o "$T/days.html"
like "$(words "$T/days.html" | sed -n 2p)" \
	'had 2 phases: 60.{1,3}s of [^,]*, [^,]*, then 1.{1,3}d that nobody watched, then 60.{1,3}s of ' \
	"phases are as long as they were watched, and the day between them is none"
like "$(words "$T/days.html" | head -n 1)" '^Reads only, 50 requests and .* per second on average' "a load of reads alone has requests"
is "$(grep -c '<dt>Reads, writes/s</dt>' "$T/one.html")" 1 "the tile of the rate says what it counts"
printf 'fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n10 /dev/sda read 0 4096\n' >"$T/one.log"
"$blkcast" import -q --store "$T/single" --format fio-iolog "$T/one.log" >"$T/out"
"$blkcast" report --store "$T/single" -o "$T/single.html"
like "$(words "$T/single.html")" '^Reads only, 1 request of 4.{1,3}KiB in all, too short a time for a rate: ' "one request has no rate"
is "$(words "$T/single.html" | grep -c 'busiest')" 0 "and no busiest time"
awk 'BEGIN { print "t,offset,size,op,us"; for (i = 0; i < 30; i++) printf "%.2f,0,0,F,100\n", i / 50 }' >"$T/flushes.csv"
"$blkcast" import -q --store "$T/flushes" --map $map "$T/flushes.csv" >"$T/out"
exits 1 "flushes alone make no page" "$blkcast" report --store "$T/flushes" -o "$T/flushes.html"
like "$(cat "$T/err")" 'its 30 requests are flushes, discards and others' "and the message counts them"

# Every command in the page works, and writes what the page holds.
# Percent signs back to bytes.
decode() { sed 's/%/\\x/g' | xargs -0 printf '%b'; }
for page in one three; do
	"$blkcast" report --utc "$T/$page.seg" -o "$T/$page.html"
	sed -n 's/.*<pre class="command">blkcast report \(.*\)<\/pre>/\1/p' "$T/$page.html" >"$T/commands"
	sed -n 's/.*href="data:text\/csv;charset=utf-8,\([^"]*\)".*/\1/p' "$T/$page.html" >"$T/links"
	differing=""
	n=0
	while read -r command; do
		n=$((n + 1))
		eval "\"$blkcast\" report --quiet $command" >"$T/csv" 2>"$T/err" || differing="$differing $n:exit"
		sed -n "${n}p" "$T/links" | tr -d '\n' | decode >"$T/want"
		cmp -s "$T/csv" "$T/want" || differing="$differing $n"
	done <"$T/commands"
	is "$differing" "" "the commands in the page of '$page' write the data that it holds"
	number "$n == $(wc -l <"$T/links") && $n >= 12" "one command and one link for each picture ($n)"
done

# Sums: every picture counts each request once.
column_sum() { awk -F, -v from="$1" 'NR > 1 { for (i = from; i <= NF; i++) s += $i } END { printf "%d", s }'; }
figure() { "$blkcast" report "$T/one.seg" --figure "$1" --csv; }
is "$(figure heatmap | column_sum 2)" "$(figure requests | column_sum 2)" \
	"the heat map counts as many requests as arrived"
is "$(figure access | column_sum 2)" "$(figure requests | column_sum 2)" "so does the access map"
is "$(figure sizes | awk -F, 'NR > 1 { s += $2 + $3 } END { print s }')" \
	"$(figure requests | column_sum 2)" "and the sizes"
is "$(figure throughput | column_sum 2)" \
	"$(figure sizes | awk -F, 'NR > 1 { s += $4 + $5 } END { printf "%d", s }')" \
	"throughput and sizes move the same bytes"

# What is known of a request from those before: all but the first of the device has a distance and a time.
is "$(figure seek | column_sum 2)" "$(($(figure requests | column_sum 2) - 1))" "all but the first have a distance"
is "$(figure interarrival | column_sum 2)" "$(figure seek | column_sum 2)" "and a time since the one before"
is "$(figure outstanding | column_sum 2)" "$(figure heatmap | column_sum 2)" "each timed request finds some number of others under way"
is "$(figure flush | column_sum 2)" "$("$blkcast" dump --json --operation flush "$T/one.seg" | wc -l)" "each flush has a bin"
is "$("$blkcast" report docs/examples/demo.seg --figure regions | sed -n 's/.* over \([0-9]*\) equal regions.*/\1/p')" \
	"$("$blkcast" characterize docs/examples/demo.seg --json | jq '.[0].locality.distribution.regions')" \
	"the access distribution is over the regions of the fit"

# Flushes: their times are told, and are those of the requests.
flushes=$("$blkcast" dump --json --operation flush "$T/one.seg" | jq -cs \
	'[length, (map(.total_s) | add / length), (map(.queue_s) | add / length)]')
number "$(jq '.[0]' <<<"$flushes") > 100" "the trace has flushes"
"$blkcast" characterize --json "$T/one.seg" >"$T/profile.json"
is "$(jq -c --argjson want "$flushes" '.[0].response_time.flush |
	[.total.count == $want[0], (.total.mean_s / $want[1] - 1 | fabs < 1e-9),
	(.queue.mean_s / $want[2] - 1 | fabs < 1e-9)]' "$T/profile.json")" "[true,true,true]" \
	"the profile has their number and their means, in all and in the queue"
"$blkcast" characterize "$T/one.seg" >"$T/text"
is "$(awk '$1 == "flush" && $2 ~ /^(total|queue|device)$/ { print $2, $3 }' "$T/text" | tr '\n' ' ')" \
	"$(jq -r '.[0] as $n | "total \($n) queue \($n) device \($n) "' <<<"$flushes")" "the text has a row for each stage of them"
is "$(figure tail | awk -F, '$1 == "flush" && $2 == "total" { print $3 }')" "$(jq '.[0]' <<<"$flushes")" \
	"the table of response times has them"
like "$(grep -o 'Flushes, 95 % within</dt><dd>[^/]*' "$T/one.html")" 'median [0-9]' "and so have the figures of the page"
like "$(words "$T/one.html" | head -n 1)" 'half of the flushes are done within' "and its words"
exits 0 "one picture alone" "$blkcast" report "$T/one.seg" --figure tail -o "$T/tail.svg"
like "$(head -c 60 "$T/tail.svg")" '^<svg xmlns="http://www.w3.org/2000/svg"' "is an SVG file"
holds "that is well-formed" python3 -c "import sys, xml.dom.minidom as m; m.parse('$T/tail.svg')"
exits 0 "facts for machines" "$blkcast" report --json "$T/one.seg" -o "$T/j.html"
like "$(tr -d ' \n' <"$T/out")" '"schema":"blkcast.report/1".*"data_xxh3":"[0-9a-f]{16}"' "have a hash of the data"
is "$(jq -c 'keys' "$T/out")" '["cgroups","data_xxh3","devices","figures","output","processes","provenance","requests","schema","size_bytes","summarized_requests"]' \
	"and the keys that the manual has"
is "$(jq -c '.provenance | del(.made_s) | walk(if type == "number" then round else . end)' "$T/out")" \
	"$(jq -cn --arg t "$T" --argjson n "$(jq .requests "$T/out")" --arg v "$("$blkcast" --version | cut -d' ' -f2)" \
	'{begin_s: 1789000000, end_s: 1789000060} as $period |
	{command: "blkcast report --json \($t)/one.seg -o \($t)/j.html", version: $v} + $period +
	{devices: [{host: "db1.example", device: "8:0", device_name: "sda", source: "bpf", file_system: "vfat,ext4",
	size_bytes: 214748364800} + $period + {requests: $n}], origins: []}')" "and what the page was made from"
like "$(grep 'class="period"' "$T/one.html")" '\(60.{1,3}s\), 200.{1,3}GiB with vfat,ext4</p>' "the page names size and file systems"

# Two hosts on one clock, a file name with a quote, and losses.
$make_trace "$T/a's.seg" 20 100 1 plain hosta
$make_trace "$T/b.seg" 20 200 1 lossy hostb
exits 0 "a page of two hosts" "$blkcast" report --utc "$T/a's.seg" "$T/b.seg" -o "$T/hosts.html"
like "$(grep -o '<h1>[^<]*' "$T/hosts.html")" '2 devices on 2 hosts' "names them"
like "$(grep -c '<h2 class="device">hostb sda' "$T/hosts.html")" 1 "the device carries its host"
command=$(sed -n "s/.*<pre class=\"command\">blkcast report \(--figure access .*host hosta .*\)<\/pre>/\1/p" "$T/hosts.html")
is "$(eval "\"$blkcast\" report --quiet $command" | column_sum 2)" \
	"$("$blkcast" report "$T/a's.seg" --figure access --csv | column_sum 2)" \
	"a quote in a name does not break the command of one device"
is "$("$blkcast" report "$T/a's.seg" "$T/b.seg" --figure devices --csv | cut -d, -f1 | tail -n 2 | tr '\n' ,)" \
	"sum on one clock,own peaks added up," "their loads are summed on one clock"
like "$(grep -A1 '<footer>' "$T/hosts.html" | tail -n 1)" 'Lost: ring_full 123;' "what was lost is said by cause"
like "$(grep -o 'Quality .*requests are known to be lost' "$T/hosts.html")" '123 requests' "and at the top"

# A store: a part of it, by host, device and time; what is missing is said.
"$BUILD/tests/system/sample_store" "$T/store"
exits 0 "a page of a store" "$blkcast" report --utc --store "$T/store" -o "$T/store.html"
like "$(grep -o '<h1>[^<]*' "$T/store.html")" '4 devices on 2 hosts' "has all its hosts"
like "$(cat "$T/store.html")" '1 segments? missing in sequence' "and says that a segment is missing"
like "$(cat "$T/store.html")" '1 more device has no access map here' "and what it leaves out"
exits 0 "a part of it" "$blkcast" report --utc --store "$T/store" --host web1 --device sdb \
	--begin 2026-01-01T00:00:01Z --end 2026-01-01T00:00:03Z --figure sizes --csv
want=$("$blkcast" characterize --json --store "$T/store" --host web1 --device sdb \
	--begin 2026-01-01T00:00:01Z --end 2026-01-01T00:00:03Z | jq '.[0].requests | .read + .write')
is "$(awk -F, 'NR > 1 { s += $2 + $3 } END { print s }' "$T/out")" "$want" \
	"counts what characterize counts"

# Who made the requests: the report and characterize against the requests and the names of their ids.
by_dump=$("$blkcast" dump --json --store "$T/store" | jq -cs 'group_by(.pid) | map([{"100": "fio", "200": "cat"}[.[0].pid | tostring],
	length, (map(select(.operation == "read" or .operation == "write") | .bytes) | add)]) | sort_by([-.[1], .[0]])')
exits 0 "the requests by process and control group" "$blkcast" characterize --who --json --store "$T/store"
is "$(jq -c '[.processes[] | [.name, .requests, .bytes]]' "$T/out")" "$by_dump" "are those that a dump counts"
is "$(jq -c '[(.cgroups | length > 0), ([.cgroups[].requests] | add) == .requests,
	([.processes[].requests_ratio] | add | . * 1000 | round)]' "$T/out")" "[true,true,1000]" "and add up to all"
jq -c '[.processes, .cgroups]' "$T/out" >"$T/who"
"$blkcast" report --json --store "$T/store" -o "$T/store.html" >"$T/out"
holds "a report has the same as JSON" cmp -s "$T/who" <(jq -c '[.processes, .cgroups]' "$T/out")
is "$("$blkcast" report --store "$T/store" --figure who --csv | awk -F, '$1 == "process" { print $2, $3 }' | tr '\n' ' ')" \
	"$(jq -r '.[0][] | "\(.name) \(.requests) "' "$T/who" | tr -d '\n')" "and as CSV"
like "$(words "$T/store.html" | head -n 1)" '(Most of it is by|The busiest process is) (fio|cat): [0-9.]+.{1,3}% of the requests, .* The busiest control group is /' \
	"and says it in its first words"
like "$("$blkcast" characterize --who --store "$T/store")" '^ +[0-9]+ +[0-9.]+% +[0-9.]+% +[0-9.]+% +[0-9.]+  fio$' "and so does the text"
is "$(figure who 2>&1 | tr -d '\n')" "blkcast report: who: nothing to show: the selection does not have it" \
	"a trace without names has no such table"
exits 2 "a table is no picture" "$blkcast" report --store "$T/store" --figure who -o "$T/x"
exits 2 "who is not told by window" "$blkcast" characterize --who --window 1s --store "$T/store"

# Objectives. The limit of 2^-8 s is the end of a histogram's bucket, so that all counts are exact.
exits 1 "an objective that is broken fails" "$blkcast" report --utc --json "$T/one.seg" \
	--slo write.p99=10s,read.p95=3906250ns,read.p50=3906250ns -o "$T/slo.html"
cp "$T/out" "$T/slo.json"
is "$(jq -c '[.objectives[] | [.verdict, .objective, .host, .device, .device_name, .percentile, .below_s]]' "$T/slo.json")" \
	"$(jq -c '[.objectives[0] | .host as $h | .device as $d |
		["fail", "read.p95=3906250ns", $h, $d, "sda", 95, 0.00390625],
		["pass", "read.p50=3906250ns", $h, $d, "sda", 50, 0.00390625],
		["pass", "write.p99=10s", $h, $d, "sda", 99, 10]]' "$T/slo.json")" "each has its verdict, the worst first"
"$blkcast" dump --json --operation read "$T/one.seg" | jq -cs '{requests: length,
	slow_ratio: ((map(select(.total_s > 0.00390625)) | length) / length)} + (
	[group_by(.arrival_s + .total_s | floor)[] | select(length >= 20) |
		{at: (.[0] | .arrival_s + .total_s | floor), slow: ((map(select(.total_s > 0.00390625)) | length) / length)}] |
	{windows: length, windows_broken_ratio: ((map(select(.slow > 0.05)) | length) / length),
		worst_begin_s: max_by([.slow, -.at]).at, worst_slow_ratio: max_by(.slow).slow})' >"$T/want.json"
is "$(jq -c --slurpfile w "$T/want.json" '.objectives[0] | [.requests == $w[0].requests,
	(.slow_ratio - $w[0].slow_ratio | fabs) < 1e-9, .window_s == 1, .windows == $w[0].windows,
	(.windows_broken_ratio - $w[0].windows_broken_ratio | fabs) < 1e-9, .worst_begin_s == $w[0].worst_begin_s,
	(.worst_slow_ratio - $w[0].worst_slow_ratio | fabs) < 1e-9]' "$T/slo.json")" \
	"[true,true,true,true,true,true,true]" "shares, windows and the worst moment are those of the requests"
number "$(jq '.objectives[0].value_s > 0.00390625 and .objectives[1].value_s <= 0.00390625 | if . then 1 else 0 end' "$T/slo.json") == 1" \
	"a value is above the limit where it is broken alone"
like "$(words "$T/slo.html" | head -n 1)" "^1 of 3 objectives on devices fail, most of all 'read.p95=3906250ns' on sda: 95 % of the reads are done within .* not within 3\.91" \
	"the page opens on the verdict"
is "$(grep -o '<td class="words">\(fail\|pass\)</td>' "$T/slo.html" | wc -l)" 3 "and has them as a table"
exits 1 "the heat map alone" "$blkcast" report "$T/one.seg" --slo read.p95=3906250ns --figure heatmap -o "$T/heat.svg"
is "$(grep -c '<line class="line law"' "$T/heat.svg") $(grep -c 'note start halo.*>read.p95=3906250ns<' "$T/heat.svg")" "3 3" \
	"has the limit as a line with its name, in each of its crops"
exits 1 "the verdicts stand beside the page" "$blkcast" report --utc "$T/one.seg" --slo read.p95=3906250ns -o "$T/slo.html"
like "$(cat "$T/out")" 'fail +read\.p95=3906250ns +.* sda .* [0-9.]+ %' "as text"
cat >"$T/objectives.yaml" <<-'YAML'
	objectives:
	  - {name: all reads, percentile: 99, below: 16s}
	  - {name: elsewhere, host: "mail*", percentile: 99, below: 1s}
YAML
exits 3 "an objective without requests cannot be judged" "$blkcast" report --objectives "$T/objectives.yaml" "$T/one.seg" -o "$T/slo.html"
like "$(cat "$T/out")" '1 of 2 objectives cannot be judged' "and the answer says so"
exits 0 "the objectives of a file and of the command are judged together" "$blkcast" report \
	--objectives <(sed '/elsewhere/d' "$T/objectives.yaml") --slo write.p99=10s "$T/one.seg" -o "$T/slo.html"
for bad in read.mean=1ms read.p95=1ns pie read.p95=1ms,read.p95=1ms; do
	exits 2 "--slo $bad is refused" "$blkcast" report --slo $bad "$T/one.seg" -o "$T/x"
done

# Hardly anything is still a page, and no number in it is none.
for t in "0.001 1000 1" "0.0001 20000 1" "100000 0.01 1" "3 1 9"; do
	# shellcheck disable=SC2086
	$make_trace "$T/few.seg" $t
	exits 0 "a page of few requests ($t)" "$blkcast" report "$T/few.seg" -o "$T/few.html"
	is "$(grep -ciE '[^a-z](nan|inf)[^a-z]' "$T/few.html")" 0 "has no number that is none ($t)"
done

exits 2 "an unknown picture is refused" "$blkcast" report "$T/one.seg" --figure pie
like "$(cat "$T/err")" '^blkcast report: --figure: expected one of heatmap, .*; got .pie' "by name"
exits 2 "data without a picture is refused" "$blkcast" report "$T/one.seg" --csv -o "$T/x"
exits 2 "a missing file is refused" "$blkcast" report "$T/none.seg" -o "$T/x"
exits 2 "an empty selection is bad usage" "$blkcast" report "$T/one.seg" --begin 2030-01-01 -o "$T/x"
like "$(cat "$T/err")" 'no request is in the selection .* the devices are: sda of ' "and names the devices there"
exits 2 "so is a device that is not there" "$blkcast" report "$T/one.seg" --device wrong -o "$T/x"
exits 1 "a picture that the trace does not have fails" \
	"$blkcast" report "$T/untimed.seg" --figure heatmap -o "$T/x"
exits 2 "a page that has no place to go is refused" "$blkcast" report "$T/one.seg" -o "$T/no/such/folder"
done_testing
