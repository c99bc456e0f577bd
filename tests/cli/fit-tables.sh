#!/usr/bin/env bash
# What fit and predict make of tables: ties as R's rpart has them, bounds of what is predicted, kinds of variables.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

# Sums of splines in a cell without rows: y is 46 at most where a and b are large apart, and never seen together.
awk 'BEGIN { print "a,b,y"; for (a = 0; a <= 10; a++) for (b = 0; b <= 10; b++) if (a < 6 || b < 6)
	print a "," b "," (a > 5 ? 8 * (a - 5) : 0) + (b > 5 ? 8 * (b - 5) : 0) + (a + b) / 10 }' >"$T/gap.csv"
"$blkcast" fit "$T/gap.csv" -r y -t mars --standard -q -o "$T/mars.json" >/dev/null
is "$(jq -c '.limits as $l | [.data.y | max, min] as [$max, $min] | [$l[1] - $max - ($max - $min) / 10, $l[0] - $min + ($max - $min) / 10]
	| map(fabs < 1e-9)' "$T/mars.json")" "[true,true]" "a model keeps to the range of its responses and a tenth beyond"
exits 0 "an empty cell is asked for" "$blkcast" predict "$T/mars.json" --set a=10,b=10 --json
is "$(jq -c --slurpfile m "$T/mars.json" '.[0].predicted == $m[0].limits[1]' "$T/out")" "true" "the answer is no larger"
"$blkcast" predict "$T/mars.json" --c >"$T/predict.c"
printf '#include <stdio.h>\nint main(void)\n{\n\tdouble x[] = { 10, 10 };\n\tprintf("%%.17g\\n", predict(x));\n}\n' >>"$T/predict.c"
holds "the C function compiles" cc -o "$T/c" "$T/predict.c" -lm
number "$("$T/c") - $(jq -r ".limits[1]" "$T/mars.json") < 1e-12" "and keeps to it too"
jq -c 'del(.limits)' "$T/mars.json" >"$T/without.json"
exits 2 "a model without its limits is refused" "$blkcast" predict "$T/without.json" --set a=1,b=1
like "$(cat "$T/err")" 'limits: expected' "by name"

# Henderson, Velleman, Biometrics 37, 1981; the tree below is that of R's rpart 4.1.19 with minsplit 2 and cp 0.
cat >"$T/cars.csv" <<'CSV'
mpg,cyl,disp,hp,drat,wt,qsec,vs,am,gear,carb
21,6,160,110,3.9,2.62,16.46,0,1,4,4
21,6,160,110,3.9,2.875,17.02,0,1,4,4
22.8,4,108,93,3.85,2.32,18.61,1,1,4,1
21.4,6,258,110,3.08,3.215,19.44,1,0,3,1
18.7,8,360,175,3.15,3.44,17.02,0,0,3,2
18.1,6,225,105,2.76,3.46,20.22,1,0,3,1
14.3,8,360,245,3.21,3.57,15.84,0,0,3,4
24.4,4,146.7,62,3.69,3.19,20,1,0,4,2
22.8,4,140.8,95,3.92,3.15,22.9,1,0,4,2
19.2,6,167.6,123,3.92,3.44,18.3,1,0,4,4
17.8,6,167.6,123,3.92,3.44,18.9,1,0,4,4
16.4,8,275.8,180,3.07,4.07,17.4,0,0,3,3
17.3,8,275.8,180,3.07,3.73,17.6,0,0,3,3
15.2,8,275.8,180,3.07,3.78,18,0,0,3,3
10.4,8,472,205,2.93,5.25,17.98,0,0,3,4
10.4,8,460,215,3,5.424,17.82,0,0,3,4
14.7,8,440,230,3.23,5.345,17.42,0,0,3,4
32.4,4,78.7,66,4.08,2.2,19.47,1,1,4,1
30.4,4,75.7,52,4.93,1.615,18.52,1,1,4,2
33.9,4,71.1,65,4.22,1.835,19.9,1,1,4,1
21.5,4,120.1,97,3.7,2.465,20.01,1,0,3,1
15.5,8,318,150,2.76,3.52,16.87,0,0,3,2
15.2,8,304,150,3.15,3.435,17.3,0,0,3,2
13.3,8,350,245,3.73,3.84,15.41,0,0,3,4
19.2,8,400,175,3.08,3.845,17.05,0,0,3,2
27.3,4,79,66,4.08,1.935,18.9,1,1,4,1
26,4,120.3,91,4.43,2.14,16.7,0,1,5,2
30.4,4,95.1,113,3.77,1.513,16.9,1,1,5,2
15.8,8,351,264,4.22,3.17,14.5,0,1,5,4
19.7,6,145,175,3.62,2.77,15.5,0,1,5,6
15,8,301,335,3.54,3.57,14.6,0,1,5,8
21.4,4,121,109,4.11,2.78,18.6,1,1,4,2
CSV
"$blkcast" fit "$T/cars.csv" -r mpg -t cart --set cart.minsplit=2 --set cart.cp=0 --folds 2 -q -o "$T/cart.json" >/dev/null
is "$("$blkcast" predict "$T/cart.json" --show | sed -n '/^wt >= 2.26/,$s/ *\([a-z]* >= [0-9.]*\).*/\1/p' | tr '\n' ' ')" \
	"$(echo 'wt >= 2.26 hp >= 77.5 hp >= 96 qsec >= 15.98 vs >= 0.5 qsec >= 19.725 wt >= 3.3275 qsec >= 18.6 disp >= 196.3' \
	'cyl >= 7 disp >= 311 hp >= 165 qsec >= 17.5 qsec >= 17.8 disp >= 339 disp >= 380 hp >= 205 disp >= 326 qsec >= 15.005' \
	'disp >= 400 drat >= 3.48 disp >= 450 ')" "ties between variables end as in rpart"

# What a column is taken for is shown; what looks like a mistake is refused with its place.
awk 'BEGIN { srand(3); print "id,size,kind,y"; for (i = 1; i <= 40; i++) print "r" i "," 4096 * i "," (i % 2 ? "a" : "b") "," i + rand() }' >"$T/rows.csv"
exits 2 "a column with a text of its own in each row is refused" "$blkcast" fit "$T/rows.csv" -r y -t lrm --standard -q
like "$(cat "$T/err")" "column 'id' has a different text in each of 40 rows" "by name"
exits 0 "without it" "$blkcast" fit "$T/rows.csv" -r y -p size,kind -t lrm --standard -q -o "$T/m.json"
like "$(cat "$T/out")" '^size +number +4096 to 163840$' "numbers are shown with their range"
like "$(cat "$T/out")" '^kind +factor of 2 levels +a b$' "factors with their levels"
for cell in 1,001 4k 1e400 1e150 1e-200 '?'; do
	cut -d, -f2- "$T/rows.csv" | awk -F, -v c="\"$cell\"" 'BEGIN { OFS = "," } NR == 8 { $1 = c } 1' >"$T/cell.csv"
	exits 2 "a cell '$cell' among numbers is refused" "$blkcast" fit "$T/cell.csv" -r y -t lrm --standard -q
	like "$(cat "$T/err")" "cell.csv:8: .*declare 'size' a factor .*--factors" "with its line"
done
printf 'size,y\n%s' "$(for i in 1 2 4 8 16; do printf '%sk,%s\n%sk,%s\n' $i $i $i $i; done)" >"$T/k.csv"
exits 2 "so is a column of sizes with units" "$blkcast" fit "$T/k.csv" -r y -t lrm --standard -q --folds 2
exits 0 "unless it is meant" "$blkcast" fit "$T/k.csv" -r y -t lrm --standard -q --folds 2 --factors size
cut -d, -f2- "$T/rows.csv" | tr , ';' >"$T/semicolon.csv"
cut -d, -f2- "$T/rows.csv" | tr , '\t' >"$T/tab.csv"
cut -d, -f2- "$T/rows.csv" | tr '\n' '\r' >"$T/cr.csv"
cut -d, -f2- "$T/rows.csv" >"$T/comma.csv"
"$blkcast" fit "$T/comma.csv" -r y -t lrm --standard -q --json | jq -c '[.rows, .results[0].cv_rmse]' >"$T/want"
for kind in semicolon tab cr; do
	exits 0 "a file by $kind is read" "$blkcast" fit "$T/$kind.csv" -r y -t lrm --standard --json
	is "$(jq -c '[.rows, .results[0].cv_rmse]' "$T/out")" "$(cat "$T/want")" "as that by commas"
	like "$(cat "$T/err")" "$kind.csv: (cells are parted by|lines end with)" "and it is said"
done
tr . , <"$T/semicolon.csv" >"$T/decimal.csv"
exits 2 "decimal commas are refused" "$blkcast" fit "$T/decimal.csv" -r y -t lrm --standard -q
like "$(cat "$T/err")" "decimal.csv:2: .*'y'.*decimal comma" "as what they are"

# predict: names, values and intervals that the model does not know.
exits 2 "a variable that the model has not is refused" "$blkcast" predict "$T/m.json" --set sise=8192,kind=a,size=4096
like "$(cat "$T/err")" 'predict: sise: the model has no such variable; did you mean size' "with the nearest"
exits 0 "a size may have a unit" "$blkcast" predict "$T/m.json" --set size=32k,kind=a --json
cp "$T/out" "$T/k.json"
"$blkcast" predict "$T/m.json" --set size=32768,kind=a --json >"$T/plain.json"
is "$(jq .[0].predicted "$T/k.json")" "$(jq .[0].predicted "$T/plain.json")" "and means what it means elsewhere"
exits 2 "an interval that cannot be given is refused" "$blkcast" predict "$T/m.json" --set size=32k,kind=a --interval 0.99
like "$(cat "$T/err")" 'interval of 0.99: the model knows the errors of 40 rows' "with the number of rows"

# Rows by a condition.
awk 'BEGIN { print "threads,size,disk,read_s,write_s"; for (t = 1; t <= 12; t++) for (s = 1; s <= 5; s++) for (d = 0; d < 2; d++)
	print t "," s * 4096 "," (d ? "ssd" : "hdd") "," (t == 7 && s == 3 ? "" : t * s / 1000) "," t * s * (d + 1) / 500 }' >"$T/w.csv"
exits 0 "rows are chosen by a condition" "$blkcast" fit "$T/w.csv" -r write_s -p threads,size -t lrm --standard --json \
	--where 'threads * 2 <= 16 && size >= 8k && disk == ssd'
is "$(jq .rows "$T/out")" 32 "of numbers, of arithmetic with units, and of text"
like "$(cat "$T/err")" "where: 32 of 120 rows" "and their number is told"
exits 0 "a row without a value that the condition names" "$blkcast" fit "$T/w.csv" -r read_s -p threads,size -t lrm --standard --json --where 'read_s > 0'
is "$(jq .rows "$T/out")" 118 "is not chosen"
like "$(cat "$T/err")" "2 rows have no value of a column that it names" "which is told"
for bad in 'threads' 'threads <' 'disk < ssd' 'thread == 3' 'threads > 100' 'threads / 0 > 1' '1 < 2' 'threads < disk'; do
	exits 2 "a condition that cannot be used is refused: $bad" "$blkcast" fit "$T/w.csv" -r write_s -p threads,size -t lrm --standard --where "$bad"
	like "$(cat "$T/err")" "where '$bad'" "by name"
done

awk 'BEGIN { for (i = 1; i <= 300; i++) printf "c%d,", i; print "y"; for (r = 0; r < 40; r++) { for (i = 0; i < 300; i++) printf "%d,", r + i; print r } }' </dev/null >"$T/wide.csv"
exits 2 "a condition on more columns than it may name is refused" "$blkcast" fit "$T/wide.csv" -r y -p c1 -t lrm --standard --where "$(seq -s+ -f c%g 300) > 0"
like "$(cat "$T/err")" "it names more than 256 columns" "by their number"

# Several responses in one call: none of them is a predictor of another, and each has its own files.
exits 0 "several responses are learned in one call" "$blkcast" fit "$T/w.csv" -r read_s,write_s -t lrm --standard --json \
	--where 'threads != 7' -o "$T/several.json" --s3-log "$T/several.csv"
is "$(jq -c '[.[] | [.response, .rows, (.variables | map(.name) | join(" "))]]' "$T/out")" \
	'[["read_s",110,"threads size disk"],["write_s",110,"threads size disk"]]' "from the same rows and columns"
for r in read_s write_s; do
	"$blkcast" fit "$T/w.csv" -r $r -p threads,size,disk -t lrm --standard -q --where 'threads != 7' -o "$T/one.json" >/dev/null
	holds "the model of $r is that of a call of its own" cmp "$T/one.json" "$T/several-$r.json"
	like "$(cat "$T/several-$r.csv")" "technique,evaluation" "with a log of its own"
done
exits 0 "and in words" "$blkcast" fit "$T/w.csv" -r read_s,write_s -t lrm --standard -q --where 'threads != 7'
is "$(grep -c '^Response' "$T/out")" 2 "one after the other"
exits 0 "from standard input too" sh -c "$blkcast fit - -r read_s,write_s -t lrm --standard -q --json --where 'threads != 7' <'$T/w.csv'"
exits 2 "a response that is not there" "$blkcast" fit "$T/w.csv" -r write_s,seek_s -p threads,size -t lrm --standard -q
like "$(cat "$T/err")" "seek_s" "is named"
done_testing
