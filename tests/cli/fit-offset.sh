#!/usr/bin/env bash
# blkcast fit --offset: what a response is known to be proportional to is taken off before, and put back.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
# 1 / (1 + threads / 4) ms: bytes/s of reads = threads x size x read / 100 / R
awk 'BEGIN { print "threads,size,read,pattern,read_bytes_per_s"
	for (t = 1; t <= 32; t += 3) for (s = 4096; s <= 65536; s *= 4) for (r = 1; r < 100; r += 14)
		printf "%d,%d,%d,%s,%.17g\n", t, s, r, (t + r) % 2 ? "random" : "sequential", t * s * (100 - r) / (0.1 * exp(0.05 * t)) }' </dev/null >"$T/law.csv"
fit() { "$blkcast" fit "$T/law.csv" -r read_bytes_per_s --log -t "$1" -q --standard "${@:3}" -o "$T/$2.json" --json >"$T/$2.fit"; }
offset='threads*size*(100-read)'
exits 0 "with an offset" fit lrm law --offset "$offset"
number "$(jq '.results[0].cv_rmse' "$T/law.fit") < 1e-9" "what is left is a line"
exits 0 "without" fit lrm plain
number "$(jq '.results[0].cv_rmse' "$T/plain.fit") > 0.1" "is none"
is "$(jq -r .offset "$T/law.json")" "$offset" "the model says so"
is "$(jq -r 'has("offset")' "$T/plain.json")" false "one without says nothing"
exits 0 "predictions" "$blkcast" predict "$T/law.json" "$T/law.csv" -q --check --json
number "$(jq '.model.mean_error' "$T/out") < 1e-9" "have it again"
at() { "$blkcast" predict "$T/law.json" --set threads="$1",size="$2",read="$3",pattern=random --json -q 2>/dev/null | jq '.[0] // . | .predicted'; }
number "$(at 4 8192 50) / $(at 4 4096 50) - 2 < 1e-9" "twice the size is twice the rate"
is "$(at 4 4096 100)" 0 "nothing of it is none"
exits 0 "an interval" "$blkcast" predict "$T/law.json" --set threads=4,size=4096,read=50,pattern=random -q
for t in mars-ia cubist cart; do
	exits 0 "$t" fit $t $t --offset "$offset"
	"$blkcast" predict "$T/$t.json" --c >"$T/$t.c"
	printf '#include <stdio.h>\nint main(void)\n{\n\tconst double x[] = { 7, 16384, 29, 0 };\n\tprintf("%%.17g\\n", predict(x));\n}\n' >>"$T/$t.c"
	${CC:-cc} -o "$T/$t" "$T/$t.c" -lm
	number "$("$T/$t") / $("$blkcast" predict "$T/$t.json" --set threads=7,size=16384,read=29,pattern=random --json -q 2>/dev/null |
		jq '.[0] // . | .predicted') - 1 < 1e-12" "$t as a C function"
done
exits 0 "more rows of the same" "$blkcast" fit "$T/law.csv" --update "$T/law.json" -q -o "$T/more.json" --json
is "$(jq -r .offset "$T/more.json")" "$offset" "keep it"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" fit "$T/law.csv" -r read_bytes_per_s -t lrm -q "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "an offset without a logarithm" "expected --log beside it" --offset threads
bad "a name that nobody has" "'thread' is none" --log --offset thread*size
bad "a name that is no number" "'pattern' is none" --log --offset pattern
bad "half a parenthesis" "expected \(NUMBER-VARIABLE\), got '\(100-read'" --log --offset 'size*(100-read'
bad "words after it" "expected \* before 'size'" --log --offset '(100-read)size'
bad "an empty one" "'' is none" --log --offset ''
bad "an offset of nothing" "row 1: expected an offset above 0, got 0" --log --offset '(1-threads)'
sed 's/\("offset": *\)"[^"]*"/\1"threads*nobody"/' "$T/law.json" >"$T/broken.json"
exits 2 "a model with a broken one is refused" "$blkcast" predict "$T/broken.json" "$T/law.csv"
like "$(cat "$T/err")" "'nobody' is none" "by name"
done_testing
