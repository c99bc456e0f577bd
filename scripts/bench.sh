#!/usr/bin/env bash
# scripts/bench.sh [FILE...]
# Runs the benchmarks (all, or those named) one after another and prints their figures as a table:
# name, value, unit, goal, whether it is met, and the peer or note. A benchmark prints, for each
# figure, a line "figure<TAB>name<TAB>value<TAB>unit<TAB>goal<TAB>note"; a goal is "<= x", ">= x",
# "a..b" or empty. The figures stay in $BUILD/bench.tsv. Goals that are missed do not fail the run:
# machines differ; docs/measured.md says where and when each figure was taken.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
export BUILD=${BUILD:-build} LC_ALL=C TZ=UTC
out=$BUILD/bench.tsv

if [ $# -gt 0 ]; then
	benches=("$@")
else
	benches=()
	for src in tests/bench/bench_*.c; do benches+=("$BUILD/${src%.c}"); done
	for t in tests/bench/*.sh; do benches+=("$t"); done
fi

status=0
: >"$out"
for b in "${benches[@]}"; do
	echo "running $b" >&2
	if ! "$b" >"$out.one"; then
		echo "bench: $b failed" >&2
		status=1
	fi
	grep -v '^figure' "$out.one" >&2
	grep '^figure' "$out.one" >>"$out"
done
rm -f "$out.one"

awk -F'\t' '
	function met(v, g,   a, n) {
		if (g == "" || v !~ /^-?[0-9.]/) return ""
		n = split(g, a, " ")
		if (a[1] == "<=") return v + 0 <= a[2] + 0 ? "yes" : "NO"
		if (a[1] == ">=") return v + 0 >= a[2] + 0 ? "yes" : "NO"
		n = split(g, a, /\.\./)
		if (n == 2) return v + 0 >= a[1] + 0 && v + 0 <= a[2] + 0 ? "yes" : "NO"
		return ""
	}
	BEGIN { printf "%-62s %14s %-12s %-10s %-4s %s\n", "figure", "value", "unit", "goal", "met", "note" }
	{ printf "%-62s %14s %-12s %-10s %-4s %s\n", $2, $3, $4, $5, met($3, $5), $6 }' "$out"
exit $status
