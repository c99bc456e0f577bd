#!/usr/bin/env bash
# blkcast fit and predict with least squares, end to end; bad input.
. tests/support/tap.sh
cmd="$BUILD/blkcast"
awk 'BEGIN { print "kb,disk,y"
	for (i = 0; i < 40; i++) { d = i % 2 ? "ssd" : "hdd"
		print i ",\"" d "\"," 3 + 2 * i + (d == "ssd" ? -1.5 : 0) + i * (d == "ssd" ? 0.25 : 0) } }' >"$T/t.csv"

exits 0 "a fit with products of variables" "$cmd" fit "$T/t.csv" -r y -t lrm-ia -o "$T/m.json" --json
is "$(jq -r '.schema, .response, .rows, .selected' "$T/out" | paste -sd' ')" "blkcast.fit/1 y 40 lrm-ia" \
	"the result says what was fitted"
number "$(jq '.results[0].cv_rmse' "$T/out") < 1e-10" "an exact relation is found on held-out rows"
exits 0 "a prediction from values" "$cmd" predict "$T/m.json" --set kb=10,disk=ssd
like "$(sed -n 2p "$T/out")" '^10,ssd,(24$|24,|23\.999999|24\.000000)' "the prediction is the relation's"
like "$(sed -n 2p "$T/out")" ',0$' "a value within the training range is not marked"
exits 0 "a prediction outside the training range" "$cmd" predict "$T/m.json" --set kb=100,disk=hdd --json
is "$(jq -r '.[0].outside' "$T/out")" true "is marked"
exits 2 "is refused with --strict" "$cmd" predict "$T/m.json" --strict --set kb=100,disk=hdd
like "$(cat "$T/err")" "row 1: 'kb' lies outside the training range 0 to 39" "and says why"
exits 2 "a level never seen is refused" "$cmd" predict "$T/m.json" --set kb=1,disk=tape
like "$(cat "$T/err")" "row 1, column 'disk': level 'tape' was never seen" "and named"
exits 0 "the model is shown as a formula" "$cmd" predict "$T/m.json" --show
like "$(cat "$T/out")" '0.25 +\* kb \* \[disk = ssd\]|\[disk = ssd\] \* kb' "with its product"

"$cmd" predict "$T/m.json" --c >"$T/f.c"
cat >>"$T/f.c" <<'C'
#include <stdio.h>
int main(void) { double x[2] = { 10, 1 }; printf("%.17g\n", predict(x)); return 0; }
C
holds "the C function compiles without a warning" cc -std=c99 -Wall -Wextra -Werror -o "$T/f" "$T/f.c"
"$cmd" predict "$T/m.json" --set kb=10,disk=ssd | awk -F, 'NR == 2 { print $3 }' >"$T/want"
number "($("$T/f") - $(cat "$T/want"))^2 < 1e-24" "the C function gives the same number"

# The logarithm of the response: exp(1 + kb/10) is a straight line then.
awk 'BEGIN { print "kb,y"; for (i = 0; i < 40; i++) printf "%d,%.17g\n", i, exp(1 + i / 10) }' >"$T/log.csv"
exits 0 "the logarithm is learned" "$cmd" fit "$T/log.csv" -r y -t lrm --log -o "$T/log.json" --json
number "$(jq '.results[0].mean_relative_error' "$T/out") < 1e-12" "exactly"
"$cmd" predict "$T/log.json" --set kb=20 | awk -F, 'NR == 2 { print $2 }' >"$T/want"
number "($(cat "$T/want") / 20.085536923187668 - 1)^2 < 1e-24" "and predictions are of the response"
"$cmd" predict "$T/log.json" --c >"$T/g.c"
echo '
#include <stdio.h>
int main(void) { double x = 20; printf("%.17g\n", predict(&x)); return 0; }' >>"$T/g.c"
cc -std=c99 -Wall -Wextra -Werror -o "$T/g" "$T/g.c" -lm
number "($("$T/g") / $(cat "$T/want") - 1)^2 < 1e-24" "as C too"

# bad input: one line, exit 2
bad() { # NAME REGEX ARGS...
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$cmd" "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
}
bad "a missing cell" "row 2, column 'a'" fit <(printf 'a,y\n1,2\n,3\n') -r y
bad "text in a number" "row 2, column 'a': expected a number" fit <(printf 'a,y\n1,2\nx,3\n4,4\n5,5\n') -r y
bad "NaN" "row 2, column 'y': expected a finite number" fit <(printf 'a,y\n1,2\n2,nan\n') -r y
bad "a logarithm of 0" "row 2, column .y.: expected a number above 0" fit <(printf 'a,y\n1,2\n2,0\n') -r y --log
bad "1e300" "at most 1e100" fit <(printf 'a,y\n1,2\n2,1e300\n') -r y
bad "too few rows" "2 rows are too few for 10 folds" fit <(printf 'a,y\n1,2\n2,3\n') -r y
bad "an unknown column" "no column 'z'; there are a, y" fit <(printf 'a,y\n1,2\n2,3\n') -r z
bad "an unknown technique" "expected auto or some of lrm" fit "$T/t.csv" -r y -t magic
printf '{"schema":"blkcast.model/1","kind":"regression","technique":"lrm","scale":"linear"}' >"$T/bad.json"
bad "half a model" "response: missing" predict "$T/bad.json" --set a=1
jq '.data.rows = 1e7' "$T/m.json" >"$T/bad.json"
bad "a model with an impossible count" "data.x: expected a list of as many numbers as rows" predict "$T/bad.json" --set kb=1,disk=ssd
jq '.terms[1].factors[0].variable = 77' "$T/m.json" >"$T/bad.json"
bad "a model with an impossible variable" "terms\[1\]" predict "$T/bad.json" --set kb=1,disk=ssd

printf 'a,b,y\n' >"$T/c.csv"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "7,$i,0" >>"$T/c.csv"; done
exits 0 "a constant column and a response of zeros are fitted" "$cmd" fit "$T/c.csv" -r y -t lrm --json
is "$(jq '.results[0].r2, .results[0].mean_relative_error' "$T/out" | paste -sd' ')" "null null" \
	"and what cannot be known is null"
done_testing
