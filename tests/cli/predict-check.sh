#!/usr/bin/env bash
# blkcast predict --check: errors of a model against rows it was not fitted to, beside another model.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
awk 'BEGIN { print "a,b,y"; for (a = 1; a <= 6; a++) for (b = 1; b <= 6; b++) print a "," b "," a * b + 3 }' >"$T/t.csv"
"$blkcast" fit "$T/t.csv" -r y -t lrm-ia --standard -q -o "$T/ia.json" >/dev/null
"$blkcast" fit "$T/t.csv" -r y -t lrm --standard -q -o "$T/lrm.json" >/dev/null
printf 'a,b,y\n1.5,2,6.6\n2.5,4,13\n1.5,2,5.4\n5.5,6,36\n3.5,3,27\n' >"$T/u.csv"
exits 0 "rows with a response are checked" "$blkcast" predict "$T/ia.json" "$T/u.csv" --check --json
is "$(jq -c '[.schema, .response, .rows, .configurations, .configurations_repeated]' "$T/out")" \
	'["blkcast.check/1","y",5,4,1]' "rows and configurations are counted"
is "$(jq -c '[.model.technique, (.model.mean_error * 1e9 | round), (.model.bias * 1e9 | round)]' "$T/out")" \
	'["lrm-ia",125000000,-125000000]' "with the mean error and bias"
is "$(jq -c '[.deviation, .standard_error] | map(. * 1e9 | round)' "$T/out")" "[141421356,100000000]" "beside the repetitions' own"
exits 0 "a second model" "$blkcast" predict "$T/ia.json" "$T/u.csv" --check --against "$T/lrm.json" --json
"$blkcast" predict "$T/lrm.json" "$T/u.csv" --check --json | jq -c .model.mean_error >"$T/alone"
is "$(jq -c .against.mean_error "$T/out")" "$(cat "$T/alone")" "is checked as if alone"
is "$(jq -c '.t, .p | type' "$T/out" | xargs)" "number number" "with a paired t-test"
exits 0 "and in words" "$blkcast" predict "$T/ia.json" "$T/u.csv" --check --against "$T/lrm.json"
is "$(head -n 4 "$T/out" | tr -s ' ')" "y: 5 rows of 4 configurations

Errors
model mean relative error 95 % of errors below bias" "for people"
like "$(cat "$T/out")" '^lrm-ia +12\.5 % +42\.5 % +-12\.5 %$' "with the errors"
exits 2 "a model of another response is refused" sh -c "sed 's/^a,b,y/a,b,z/' '$T/t.csv' >'$T/z.csv' &&
	$blkcast fit '$T/z.csv' -r z -t lrm --standard -q -o '$T/z.json' >/dev/null; $blkcast predict '$T/ia.json' '$T/u.csv' --check --against '$T/z.json'"
like "$(cat "$T/err")" "a model of 'z', expected one of 'y'" "by name"
cut -d, -f1,2 "$T/u.csv" >"$T/none.csv"
exits 2 "a table without the response is refused" "$blkcast" predict "$T/ia.json" "$T/none.csv" --check
like "$(cat "$T/err")" "'y'" "by name"
exits 2 "--against without --check is refused" "$blkcast" predict "$T/ia.json" "$T/u.csv" --against "$T/lrm.json"

# Answers about whole applications: ten of them, two rows each, one of them off by a factor of two.
awk 'BEGIN { print "app,a,b,y"; for (i = 0; i < 10; i++) for (k = 1; k <= 2; k++) {
	a = 1 + i / 2; b = k + 1.5; print "app" i "," a "," b "," (a * b + 3) * (i == 4 ? 2 : 1 + i / 100) } }' >"$T/apps.csv"
exits 0 "errors by application" "$blkcast" predict "$T/ia.json" "$T/apps.csv" --check --by app --json
is "$(jq -c '[.rows, .applications, (.application_factor * 1e6 | round)]' "$T/out")" "[20,10,2000000]" \
	"of ten applications the worst one bounds a new one at 90 %"
exits 0 "and in words" "$blkcast" predict "$T/ia.json" "$T/apps.csv" --check --by app
like "$(cat "$T/out")" "an answer about a new application is off by a factor of 2 at most" "with a conclusion"
head -n 17 "$T/apps.csv" >"$T/few.csv"
exits 3 "of eight applications nothing can be told" "$blkcast" predict "$T/ia.json" "$T/few.csv" --check --by app --json
is "$(jq -c '[.applications, .application_factor]' "$T/out")" "[8,null]" "which is null"
exits 2 "--by without --check is refused" "$blkcast" predict "$T/ia.json" "$T/few.csv" --by app
exits 2 "a column of applications that is not there" "$blkcast" predict "$T/ia.json" "$T/few.csv" --check --by name
like "$(cat "$T/err")" "'name'" "is named"

# A gap in the middle of a variable, and a hole that no variable shows alone.
awk 'BEGIN { print "a,b,y"; for (a = 1; a <= 15; a++) for (b = 1; b <= 15; b++)
	if (!(a > 4 && a < 12 && b > 4 && b < 12)) print a "," b "," a + b }' >"$T/hole.csv"
"$blkcast" fit "$T/hole.csv" -r y -t lrm --standard -q -o "$T/hole.json" >/dev/null
exits 0 "a question inside a hole of the training rows is answered" "$blkcast" predict "$T/hole.json" --set a=8,b=8 --json
is "$(jq -c '.[0].outside' "$T/out")" "true" "as one from outside"
like "$(cat "$T/err")" "1 of 1 rows lie in a gap that the training rows leave" "with a remark"
exits 0 "a question in a cell of the grid is not" sh -c "$blkcast predict '$T/hole.json' --set a=2.5,b=7.5 --json | jq -e '.[0].outside == false'"
exits 2 "--strict refuses it" "$blkcast" predict "$T/hole.json" --set a=8,b=8 --strict
like "$(cat "$T/err")" "the nearest training row is 0.29 ranges away" "with the distance"

# Errors that grow with the response: the interval does as well.
awk 'BEGIN { srand(5); print "a,b,y"; for (i = 0; i < 300; i++) { a = 1 + rand() * 99; print a "," rand() "," a * (1 + 0.2 * (rand() - 0.5)) } }' >"$T/wide.csv"
"$blkcast" fit "$T/wide.csv" -r y -t lrm --standard -q -o "$T/wide.json" >/dev/null
exits 0 "intervals are as wide as errors are" "$blkcast" predict "$T/wide.json" --set a=10,b=0.5 --json
narrow=$(jq '.[0].upper - .[0].lower' "$T/out")
"$blkcast" predict "$T/wide.json" --set a=90,b=0.5 --json >"$T/out"
is "$(jq --argjson n "$narrow" '.[0].upper - .[0].lower > 3 * $n' "$T/out")" "true" "where a prediction is large they are wider"
done_testing
