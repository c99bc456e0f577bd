#!/usr/bin/env bash
# blkcast fit --checkpoint: a search that was killed goes on and comes to the same answer.
. tests/support/tap.sh
cmd=$BUILD/blkcast
need jq "no jq" have jq
awk 'BEGIN { srand(3); print "kb,disk,read,y,z"
	for (i = 0; i < 150; i++) { k = 1 + int(rand() * 64); r = int(rand() * 100); d = rand() < 0.5 ? "ssd" : "hdd"
		y = 2 + (k > 32 ? (k - 32) * 0.5 : 0) + (d == "hdd" ? 3 + r * 0.05 : 0) + rand() * 0.2
		printf "%d,%s,%d,%.6f,%.6f\n", k, d, r, y, 2 * y + k } }' >"$T/t.csv"
fit() {
	"$cmd" fit "$T/t.csv" -r y,z -t cart,mars-ia,m5 --s3 splits=2,explorations=2,iterations=3 -q --json \
		-o "$T/m.json" --s3-log "$T/log.csv" "$@"
}
# Everything but what the work itself was: how long it took, and how many models were made.
answer() { jq 'map(del(.provenance) | del(.results[] | .seconds, .model_fits))' "$T/out" && cat "$T"/m-*.json "$T"/log-*.csv; }

exits 0 "a search without a checkpoint" fit
answer >"$T/want"
fits=$(jq '[.[].results[].model_fits] | add' "$T/out")
exits 0 "with one" fit --checkpoint "$T/c"
answer >"$T/got"
holds "gives the same answer" cmp "$T/want" "$T/got"
size=$(stat -c %s "$T/c")
exits 0 "once more" fit --checkpoint "$T/c"
answer >"$T/got"
holds "gives the same answer" cmp "$T/want" "$T/got"
number "$(jq '[.[].results[].model_fits] | add' "$T/out") < $fits / 4" "and makes few models"
is "$(stat -c %s "$T/c")" "$size" "nothing is recorded twice"
for part in 5 13 14 100 $((size / 2)) $((size - 1)); do
	head -c "$part" "$T/c" >"$T/torn"
	exits 0 "from the first $part bytes" fit --checkpoint "$T/torn"
	answer >"$T/got"
	holds "the answer is the same" cmp "$T/want" "$T/got"
	holds "and so is the file in the end" cmp "$T/c" "$T/torn"
done
cp "$T/c" "$T/bad"
printf '\377' | dd of="$T/bad" bs=1 seek=$((size / 2)) conv=notrunc status=none
exits 0 "from a file with a wrong byte" fit --checkpoint "$T/bad"
answer >"$T/got"
holds "the answer is the same" cmp "$T/want" "$T/got"

"$cmd" fit "$T/t.csv" -r y,z -t cart,mars-ia,m5 --s3 splits=2,explorations=2,iterations=3 -q --json \
	-o "$T/m.json" --s3-log "$T/log.csv" --checkpoint "$T/killed" >"$T/out" 2>&1 &
some() { [ "$(stat -c %s "$T/killed" 2>/dev/null || echo 0)" -gt 100 ]; }
holds "records are there while the search works" wait_until 30 some
kill -9 $!
wait $! 2>/dev/null || true
exits 0 "after a kill" fit --checkpoint "$T/killed"
answer >"$T/got"
holds "the answer is the same" cmp "$T/want" "$T/got"
exits 0 "other data" "$cmd" fit "$T/t.csv" -r z -p kb,read -t cart -q --json --checkpoint "$T/c"
cp "$T/out" "$T/other"
"$cmd" fit "$T/t.csv" -r z -p kb,read -t cart -q --json >"$T/out"
is "$(jq 'del(.provenance) | del(.results[] | .seconds, .model_fits)' "$T/other" | sha256sum)" "$(jq 'del(.provenance) | del(.results[] | .seconds, .model_fits)' "$T/out" | sha256sum)" \
	"take no record of these"

cp "$T/t.csv" "$T/copy.csv"
exits 2 "a file of another kind" fit --checkpoint "$T/copy.csv"
like "$(cat "$T/err")" "copy.csv: no checkpoint of blkcast fit: name a new file, or remove it" "is named"
holds "and left as it is" cmp "$T/t.csv" "$T/copy.csv"
exits 1 "one that is in use" flock "$T/c" "$cmd" fit "$T/t.csv" -r y -t lrm --checkpoint "$T/c"
like "$(cat "$T/err")" "another process uses this checkpoint" "is named"
exits 2 "a budget of time" fit --checkpoint "$T/c" --budget 5s
like "$(cat "$T/err")" "whose answer depends on the time" "is refused beside it"
done_testing
