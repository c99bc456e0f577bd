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
done_testing
