#!/usr/bin/env bash
# scripts/studies.sh: what docs/studies/results.txt says comes out of its tables again, the same each time.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
export BUILD
refit() { # OUT STUDIES [COMMAND...]
	local out=$1
	export STUDIES=$2
	shift 2
	"$@" scripts/studies.sh "$out"
}
export RESPONSES=read_s TECHNIQUES="lrm-ia cart"
exits 0 "one response and two techniques are refitted" refit "$T/a" disk
exits 0 "again, on one processor" refit "$T/b" disk taskset -c 0
holds "with the same result" cmp "$T/a/results.txt" "$T/b/results.txt"
is "$(sed -n 2p "$T/a/results.txt")" "$(grep "^disk: read_s," docs/studies/results.txt)" "rows and configurations are those published"
for t in $TECHNIQUES; do
	line=$(grep "^| $t |" "$T/a/results.txt")
	published=$(sed -n '/^disk: read_s,/,/^$/p' docs/studies/results.txt | grep "^| $t |")
	number "$(paste -d' ' <(grep -oE '[0-9.]+ %' <<<"$line") <(grep -oE '[0-9.]+ %' <<<"$published") |
		awk '{ d = $1 - $3; if (d < 0) d = -d; if (d > most) most = d } END { print NR == 7 ? most + 0 : 99 }') < 0.5" \
		"$t: its errors are those published, to half a percent of rounding"
done
exits 0 "capacity is computed again" refit "$T/c" capacity
is "$(cat "$T/c/results.txt")" "$(sed -n '/^capacity:/,$p' docs/studies/results.txt | cat <(echo) -)" "as published"
done_testing
