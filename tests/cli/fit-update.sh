#!/usr/bin/env bash
# blkcast fit --update: rows that fit, rows that drifted, rows that cannot be used.
. tests/support/tap.sh
cmd="$BUILD/blkcast"
rows() { # NR SEED SHIFT
	awk -v n="$1" -v seed="$2" -v shift="$3" 'BEGIN { srand(seed); print "kb,disk,y"
		for (i = 0; i < n; i++) { k = int(rand() * 64); d = rand() < 0.5 ? "ssd" : "hdd"
			printf "%d,%s,%.9f\n", k, d, 2 + k * 0.5 + (d == "hdd" ? 5 : 0) + rand() + shift } }'
}
rows 100 1 0 >"$T/old.csv"
rows 30 2 0 >"$T/same.csv"
rows 30 3 4 >"$T/moved.csv"
"$cmd" fit "$T/old.csv" -r y -t lrm -q -o "$T/m.json" >/dev/null

exits 0 "rows are added" "$cmd" fit "$T/same.csv" --update "$T/m.json" -o "$T/n.json" --json
is "$(jq -c '[.rows_added, .rows, .drift]' "$T/out")" "[30,130,false]" "rows of the same law fit"
number "$(jq .inside_ratio "$T/out") > 0.7" "most are within the interval"
is "$(jq .data.rows "$T/n.json")" 130 "the new model has them all"
{ cat "$T/old.csv"; tail -n +2 "$T/same.csv"; } >"$T/all.csv"
"$cmd" fit "$T/all.csv" -r y -t lrm -q -o "$T/whole.json" >/dev/null
is "$("$cmd" predict "$T/n.json" "$T/old.csv")" "$("$cmd" predict "$T/whole.json" "$T/old.csv")" \
	"it is the model of all rows fitted at once"
exits 0 "rows that moved" "$cmd" fit "$T/moved.csv" --update "$T/m.json" --json
is "$(jq .drift "$T/out")" true "are a drift"
exits 0 "two rows" "$cmd" fit <(head -n 3 "$T/same.csv") --update "$T/m.json"
like "$(cat "$T/out")" "too few rows to tell" "are too few to tell"
exits 2 "a new level is refused" "$cmd" fit <(printf 'kb,disk,y\n1,tape,3\n') --update "$T/m.json"
exits 2 "a table without the response is refused" "$cmd" fit <(printf 'kb,disk\n1,ssd\n') --update "$T/m.json"
like "$(cat "$T/err")" "no column 'y'" "and it is named"

# Weights: each third row counts three times.
weigh() { awk -F, 'NR == 1 { print $0 ",w" } NR > 1 { print $0 "," (NR % 3 ? 1 : 3) }' "$1"; }
weigh "$T/old.csv" >"$T/old-w.csv"
weigh "$T/same.csv" >"$T/same-w.csv"
{ cat "$T/old-w.csv"; tail -n +2 "$T/same-w.csv"; } >"$T/all-w.csv"
"$cmd" fit "$T/old-w.csv" -r y -t lrm --weight-column w -q -o "$T/m-w.json" >/dev/null
"$cmd" fit "$T/all-w.csv" -r y -t lrm --weight-column w -q -o "$T/whole-w.json" >/dev/null
exits 0 "weighted rows are added to weighted ones" "$cmd" fit "$T/same-w.csv" --update "$T/m-w.json" \
	--weight-column w -o "$T/n-w.json"
is "$("$cmd" predict "$T/n-w.json" "$T/old.csv")" "$("$cmd" predict "$T/whole-w.json" "$T/old.csv")" \
	"it is the model of all weighted rows fitted at once"
exits 2 "rows without weights are not" "$cmd" fit "$T/same.csv" --update "$T/m-w.json"
like "$(cat "$T/err")" "expected a column of weights" "and what is missing is said"
exits 2 "a weight of 0 is refused" "$cmd" fit <(printf 'kb,disk,y,w\n1,ssd,3,0\n') --update "$T/m-w.json" --weight-column w
like "$(cat "$T/err")" "row 1, column 'w': expected a weight above 0" "with its row and column"
done_testing
