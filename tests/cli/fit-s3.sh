#!/usr/bin/env bash
# blkcast fit with S3 over every technique: results, log, threads, selection, C functions.
. tests/support/tap.sh
cmd="$BUILD/blkcast"
awk 'BEGIN { srand(7); print "kb,disk,read,y"
	for (i = 0; i < 160; i++) { k = 1 + int(rand() * 64); r = int(rand() * 100); d = rand() < 0.5 ? "ssd" : "hdd"
		printf "%d,%s,%d,%.6f\n", k, d, r, 2 + (k > 32 ? (k - 32) * 0.5 : 0) + (d == "hdd" ? 3 + r * 0.05 : 0) + rand() * 0.2 } }' >"$T/t.csv"

exits 0 "every technique is searched" "$cmd" fit "$T/t.csv" -r y --s3 splits=2,explorations=2,iterations=3 \
	--s3-log "$T/log.csv" -o "$T/m.json" --json
cp "$T/out" "$T/fit.json"
is "$(jq -r '[.results[].technique] | join(" ")' "$T/fit.json")" "lrm lrm-ia cart mars mars-ia m5 cubist ensemble gp stack" \
	"each is in the result"
like "$(cat "$T/err")" 'mars-ia: up to 288 settings of its parameters are tried, each on 10 folds' \
	"the bound is printed before the search"
is "$(jq '[.results[] | {(.technique): .}] | add | [.stack.parameters.mars_share + .stack.parameters.cubist_share <= 1.0000001,
	.stack.cv_rmse <= ([."mars-ia", .cubist, .gp] | map(.cv_rmse) | min) * 1.05, .stack.parameters.nnodes == ."mars-ia".parameters.nnodes] | all' "$T/fit.json")" true \
	"a stack has the parameters of its parts, and errs at most a twentieth more than the best of them"
is "$(jq '[.results[] | select(.cv_rmse > .against_standard.cv_rmse * 1.000001)] | length' "$T/fit.json")" 0 \
	"none is worse than its standard parameters"
is "$(jq '[.results[].evaluations] | add' "$T/fit.json")" "$(($(wc -l <"$T/log.csv") + 4))" \
	"the log has every set of the searches"
is "$(head -n 1 "$T/log.csv")" "technique,evaluation,iteration,parameters,cv_rmse" "the log has a header"
is "$(awk -F, '$1 == "cart" { if (b == "" || $5 < b) b = $5 } END { printf "%.12g", b }' "$T/log.csv")" \
	"$(jq -r '.results[] | select(.technique == "cart").cv_rmse' "$T/fit.json" | awk '{ printf "%.12g", $1 }')" \
	"its least is the result"

for t in 1 3; do
	"$cmd" fit "$T/t.csv" -r y --s3 splits=2,explorations=2,iterations=3 --threads $t -q --json |
		jq 'del(.provenance, .results[].seconds)' >"$T/threads.$t"
done
holds "one thread and three give the same result" cmp "$T/threads.1" "$T/threads.3"

exits 0 "a parameter can be fixed and the rest searched" "$cmd" fit "$T/t.csv" -r y -t cart --set cart.cp=0 -q --json
is "$(jq '.results[0].parameters.cp' "$T/out" | awk '{ print $1 + 0 }')" "0" "the fixed one stays"
exits 2 "a parameter outside its range is refused" "$cmd" fit "$T/t.csv" -r y -t cart --set cart.cp=2
like "$(cat "$T/err")" 'cart.cp: expected a number from 0 to 0.999, got 2' "with its range"
exits 2 "a parameter of no technique is refused" "$cmd" fit "$T/t.csv" -r y -t cart --set cart.depth=2

exits 0 "the bootstrap is another objective" "$cmd" fit "$T/t.csv" -r y -t cart --objective bootstrap=5 -q --json
exits 0 "only simple techniques may be asked for" "$cmd" fit "$T/t.csv" -r y --simplicity 5 -q --json
is "$(jq -r '[.results[].technique] | join(" ")' "$T/out")" "lrm" "and they are"

# The C function of each technique gives the same numbers.
for t in lrm-ia cart mars-ia m5 cubist ensemble mars-bag gp stack; do
	set=""
	[ $t = cubist ] && set="--set cubist.ntrees=3,cubist.ninstances=4"
	[ $t = ensemble ] && set="--set ensemble.ntrees=3,ensemble.ninstances=4,ensemble.bags=2"
	# shellcheck disable=SC2086
	"$cmd" fit "$T/t.csv" -r y -t $t --standard $set -q -o "$T/$t.json" >/dev/null
	{
		"$cmd" predict "$T/$t.json" --c
		echo '#include <stdio.h>'
		echo 'int main(void) { double x[3]; while (scanf("%lf,%lf,%lf", x, x + 1, x + 2) == 3) printf("%.17g\n", predict(x)); return 0; }'
	} >"$T/$t.c"
	cc -O0 -std=c99 -Wall -Wextra -Werror -ffp-contract=off -o "$T/$t" "$T/$t.c" -lm
	awk -F, 'NR > 1 { print $1 "," ($2 == "ssd") "," $3 }' "$T/t.csv" | "$T/$t" >"$T/c.out"
	"$cmd" predict "$T/$t.json" "$T/t.csv" | awk -F, 'NR > 1 { print $5 }' >"$T/p.out"
	is "$(paste "$T/c.out" "$T/p.out" | awk '{ d = $1 - $2; if (d * d > 1e-24 * $2 * $2) n++ } END { print NR, n + 0 }')" \
		"160 0" "$t as C gives the same numbers to 1e-12"
done

exits 0 "the ensemble is searched by its name, part by part" "$cmd" fit "$T/t.csv" -r y -t ensemble --s3 splits=1,explorations=1,iterations=2 \
	--s3-log "$T/parts.csv" -o "$T/m.json" -q --json
is "$(jq -r '.results[0] | [.technique, (.parameters | keys | length), .evaluations > 20] | join(" ")' "$T/out")" "ensemble 7 true" \
	"with the parameters of both and the number of bags"
is "$(cut -d, -f1 "$T/parts.csv" | sort -u | xargs)" "cubist mars-ia technique" "and their searches in the log"
is "$(jq -r '[.members[] | .technique, .share] | join(" ")' "$T/m.json")" "mars-ia 0.5 cubist 0.5" "and both in the model"
"$cmd" predict "$T/m.json" --show >"$T/show"
like "$(cat "$T/show")" "the weighted mean of 2 models" "which is shown with its models"
"$cmd" predict "$T/m.json" --report "$T/page.html"
like "$(cat "$T/page.html")" "the mean of mars-ia and cubist" "and in pictures"
awk 'BEGIN { print "x,y"; for (i = 0; i < 2001; i++) print i "," i * i % 91 }' >"$T/large.csv"
exits 2 "a Gaussian process refuses a table that is too large" "$cmd" fit "$T/large.csv" -r y -t gp
like "$(cat "$T/err")" "gp: the table has 2001 rows, and this technique learns from at most 2000" "with a sentence"
exits 0 "the automatic choice does without it there" "$cmd" fit "$T/large.csv" -r y --standard --folds 2 --json
is "$(jq '[.results[].technique] | length, index("gp")' "$T/out" | paste -sd' ')" "8 null" "and tries the others"
like "$(cat "$T/err")" "gp: left out, the table has too many rows for it" "and says so"

awk -F, 'NR == 1 { print "kb,read,read_s,read_p95_s,read_p999_s" } NR > 1 { print $1 "," $3 "," $4 "," 2 * $4 "," 5 * $4 }' "$T/t.csv" >"$T/q.csv"
for q in 95:read_p95_s p99.9:read_p999_s; do
	exits 0 "the column of a percentile is learned" "$cmd" fit "$T/q.csv" -r read_s --response-quantile "${q%%:*}" -p kb,read -t lrm -q --json
	is "$(jq -r .response "$T/out")" "${q##*:}" "by its name"
done
exits 2 "a percentile that is none is refused" "$cmd" fit "$T/q.csv" -r read_s --response-quantile high -p kb -t lrm
like "$(cat "$T/err")" "expected one like 95 or 99.9, got 'high'" "with what was expected"
exits 2 "one that was not measured" "$cmd" fit "$T/q.csv" -r read_s --response-quantile 90 -p kb -t lrm
like "$(cat "$T/err")" "read_p90_s" "is named"
done_testing
