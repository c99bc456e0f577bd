#!/usr/bin/env bash
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
"$b" characterize --store "$T/store" --host web1 --device sda --json >"$T/a.json"
# The same profile, its reads four times slower: two octaves up the grid of 32 buckets each.
jq '.[0].response_time.read.total |= (.histogram |= map(.[0] += 64) | .mean_s *= 4 | .min_s *= 4
	| .max_s *= 4 | .sum_s *= 4 | .sum_rest_ns *= 4)' "$T/a.json" >"$T/slow.json"

verdict() { jq -r --arg d "$1" '.pairs[0].dimensions[] | select(.dimension == $d) | .verdict' "$T/out"; }

exits 0 "a profile against itself" "$b" compare "$T/a.json" "$T/a.json" --json --fail-on-worse
is "$(jq -c '[.schema, .worse, .better, .different]' "$T/out")" '["blkcast.compare/1",0,0,0]' \
	"a profile is no better or worse than itself"
is "$(verdict read.response.total.p95)" same "p95 against itself is the same"
is "$(jq '[.pairs[].dimensions[] | select(.difference != 0 and .difference != null)] | length' "$T/out")" 0 \
	"and differs in nothing"

exits 1 "slower reads fail with --fail-on-worse" "$b" compare "$T/a.json" "$T/slow.json" --json \
	--fail-on-worse
is "$(verdict read.response.total.p95)" worse "reads four times slower are worse"
is "$(verdict write.response.total.p95)" same "writes are as they were"
exits 0 "without --fail-on-worse it is a result" "$b" compare "$T/a.json" "$T/slow.json"
like "$(cat "$T/out")" "read.response.total.p95 .* worse$" "the text says worse"
like "$(sed -n 2p "$T/out")" '^  [0-9]+ worse: read.response.total\.[^ ]+ .* \(\+300\.0 %\)' \
	"the second line names what became worse, and by how much"
is "$(awk '/^  dimension/ { on = 1; next } on && NF { print $NF }' "$T/out" | grep -n worse | tail -n 1 | cut -d: -f1)" \
	"$(grep -c ' worse$' "$T/out")" "the rows that changed come first"
"$BUILD/tests/system/make_hostile" plain host "$T/idle.seg"
exits 0 "reads that never wait" "$b" compare "$T/idle.seg" "$T/idle.seg"
is "$(grep -c 'response.queue' "$T/out")" 0 "queue times of zero have no row"
like "$(cat "$T/out")" '5 rows of queue times that are zero in A and B are left out' "and are counted"
jq '.[0].intensity.open.rate_per_s *= 4' "$T/slow.json" >"$T/loaded.json"
exits 0 "a load four times as high" "$b" compare "$T/a.json" "$T/loaded.json"
like "$(sed -n 2p "$T/out")" 'The loads differ, so better and worse may come from the load: 1 different: arrivals.rate ' \
	"is said before any better or worse"
like "$(sed -n 3p "$T/out")" 'Beside the load: [0-9]+ worse: ' "which follow"
exits 2 "a device that a profile does not hold" "$b" compare "$T/a.json" "$T/a.json" --device wrong
like "$(cat "$T/err")" "a.json: nothing is in the selection; the devices are: sda of web1" "is answered by those it holds"
exits 2 "a device that a store does not hold" "$b" compare "$T/store" "$T/store" --device wrong
like "$(cat "$T/err")" "store: nothing is in the selection; the devices are: .*sda of web1" "likewise"
exits 0 "the other way round" "$b" compare "$T/slow.json" "$T/a.json" --json --fail-on-worse
is "$(verdict read.response.total.p95)" better "and the other way round they are better"

exits 0 "a page of it" "$b" compare "$T/a.json" "$T/slow.json" --report "$T/page.html"
headline=$(sed -n 2p "$T/out" | sed 's/^ *//; s/ *$//')
like "$(sed -n 's/.*<p class="lead">\(.*\)<\/p>.*/\1/p' "$T/page.html")" "^${headline:0:40}" "begins with the headline of the text"
is "$(grep -o '<td class="words">[a-z]*\.[a-z.0-9]*</td>' "$T/page.html" | head -1 | sed 's/<[^>]*>//g')" \
	"$(awk 'NF && /^  [a-z]+\./ { print $1; exit }' "$T/out")" "and its first row is the largest change"
is "$(grep -c '<td class="words">better\|<td class="words">worse' "$T/page.html")" \
	"$(grep -cE '(better|worse)$' "$T/out")" "every verdict of a change is on it"
lead=$(sed -n 's/.*<p class="lead">\(.*\)<\/p>.*/\1/p' "$T/page.html")
is "$(grep -oF -- "$lead" "$T/page.html" | wc -l)" 1 "and it says its conclusion once"
"$b" compare "$T/store" "$T/store" --host web1 --report "$T/pairs.html" >"$T/pairs"
like "$(sed -n 's/.*<p class="lead">\(.*\)<\/p>.*/\1/p' "$T/pairs.html")" \
	'^Of 2 pairs of devices, 0 values became worse, 0 better, and 0 are different; ' "two pairs have a conclusion together"
is "$(grep -A1 '<h2>A: ' "$T/pairs.html" | grep -c '<p class="soft">')" 2 "and each one of its own"
exits 2 "a page that cannot be written" "$b" compare "$T/a.json" "$T/slow.json" --report "$T/none/page.html"

exits 0 "a store against a store" "$b" compare "$T/store" "$T/store" --host web1 --json
is "$(jq -c '[.pairs[].device_a]' "$T/out")" '["sda","sdb"]' "devices are paired by name"
like "$(jq -r '[.pairs[].dimensions[].method] | unique | join(";")' "$T/out")" 'batch means' \
	"a trace has windows to take batch means of"
is "$(jq -c '[.worse, .better, .different]' "$T/out")" '[0,0,0]' "and is no different from itself"
exits 2 "one operand is bad usage" "$b" compare "$T/a.json"
echo '[{"schema":"blkcast.profile/1"}]' >"$T/bad.json"
exits 2 "a profile that lacks its fields" "$b" compare "$T/bad.json" "$T/a.json"
like "$(cat "$T/err")" "^blkcast compare: $T/bad.json: profile 0: " "is told by file and field"
done_testing
