#!/usr/bin/env bash
# What a saved model of trees or rules says where it was changed by hand: the place, and what was expected there.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

awk 'BEGIN { srand(5); print "kind,size,y"; for (i = 0; i < 240; i++) { k = i % 3; s = 1 + int(rand() * 64)
	print substr("abc", k + 1, 1) "," s "," (k == 1 ? 40 : 3 * s) + (s > 30 ? 50 : 0) + rand() } }' >"$T/rows.csv"
for technique in cart cubist; do
	"$blkcast" fit "$T/rows.csv" -r y -t $technique --standard -q -o "$T/$technique.json" >/dev/null
done
# bad TECHNIQUE WHAT CHANGE PATTERN
bad() {
	jq -c "$3" "$T/$1.json" >"$T/bad.json"
	exits 2 "$1: $2 is refused" "$blkcast" predict "$T/bad.json" --set kind=a,size=4
	like "$(cat "$T/err")" "bad.json: .*$4" "with its place"
}
exits 0 "a model of trees as it was saved" "$blkcast" predict "$T/cart.json" --set kind=a,size=4
factor='first(.forest.trees[0] | .. | objects | select(.levels))'
bad cart "a forest without trees" '.forest.trees = []' 'forest.trees: expected a list of 1 to 1000'
bad cart "a variable beyond the last" '.forest.trees[0].left.variable = 9' \
	'forest.trees\[0\].left: variable: expected a number below 2'
bad cart "a text in place of a number" '.forest.trees[0].left.value = "x"' 'forest.trees\[0\].left.value: expected a number'
bad cart "a split with one side" 'del(.forest.trees[0].right)' 'forest.trees\[0\]: right: missing: expected a leaf or a split'
bad cart "a split without its bound" "$factor |= del(.levels)" 'levels: missing: expected a list'
bad cart "a level that is not there" "$factor.levels = [3]" 'levels\[0\]: expected a number below 3'
bad cart "a tree too deep" 'def deep(n): if n == 0 then {rows: 1, value: 1} else
	{rows: 1, value: 1, variable: 1, cut: 4, left: deep(n - 1), right: {rows: 1, value: 1}} end; .forest.trees[0] = deep(220)' \
	'forest.trees\[0\].left.*expected at most 200 splits above each other'

exits 0 "a model of rules as it was saved" "$blkcast" predict "$T/cubist.json" --set kind=a,size=4
number='first(.rules.sets[][] | .if[] | select(.levels | not))' levels='first(.rules.sets[][] | .if[] | select(.levels))'
bad cubist "no set" '.rules.sets = []' 'rules.sets: expected a list of 1 to 1000'
bad cubist "no fallback" 'del(.rules.fallback)' 'rules: fallback: missing: expected a number'
bad cubist "limits the wrong way round" '.rules.sets[0][0].low = 1e9' 'rules.sets\[0\]\[0\]: low: expected at most high'
bad cubist "a condition on two sides" "$number |= (.above = 1 | .upto = 2)" 'if\[[0-9]+\]: expected above or upto, not both'
bad cubist "a condition on no side" "$number |= {variable}" 'if\[[0-9]+\]: upto: missing: expected a number'
bad cubist "a bound for a factor" "$levels |= {variable, upto: 3}" "if\[[0-9]+\]: expected levels, since 'kind' is a factor"
bad cubist "levels of a number" "$number |= {variable, levels: [0]}" "if\[[0-9]+\]: expected above or upto, since 'size' is a number"
bad cubist "a variable beyond the last" "$number.variable = 9" 'if\[[0-9]+\]: variable: expected a number below 2'
bad cubist "a level that is not there" "$levels.levels = [3]" 'levels\[0\]: expected a number below 3'
bad cubist "a level for a number" '.rules.sets[0][0].linear = [[1, 0, 2.5]]' \
	"linear\[0\]: expected a level of 'size', or -1 for a number"
bad cubist "a factor without a level" '.rules.sets[0][0].linear = [[0, -1, 2.5]]' "linear\[0\]: expected a level of 'kind'"
bad cubist "a level that is no number" '.rules.sets[0][0].linear = [[1, "a", 2.5]]' \
	'linear\[0\]\[1\]: expected the number of a level, or -1'
done_testing
