#!/usr/bin/env bash
# scripts/run-tests.sh [FILE...]
# Runs the tests (all, or the named programs and scripts) under prove, one after another, each under
# a time limit, looks for kernel complaints since the start, and ends with the line
# "N passed, N failed, N skipped". Exit 1 where one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
# OpenBLAS' own threads are not instrumented, and the thread sanitizer takes them for races.
export BUILD=${BUILD:-build} LC_ALL=C TZ=UTC OPENBLAS_NUM_THREADS=1
limit=${BLKCAST_TEST_LIMIT:-600}

if [ $# -gt 0 ]; then
	tests=("$@")
else
	tests=(scripts/check-borders.sh scripts/check-style.sh)
	for src in tests/unit/test_*.c; do tests+=("$BUILD/${src%.c}"); done
	for t in tests/cli/*.sh tests/system/*.sh tests/vm/*.sh; do [ -e "$t" ] && tests+=("$t"); done
fi

log=$(mktemp "${TMPDIR:-/tmp}/blkcast-tap.XXXXXX")
trap 'rm -f "$log"' EXIT
# Complaints since now: the log forgets old ones while the tests run.
booted_s=$(cut -d. -f1 /proc/uptime)
oops() {
	dmesg 2>/dev/null | awk -F'[][]' -v since="$booted_s" \
		'/BUG:|WARNING:|Oops|refcount|hung task|soft lockup/ && $2 + 0 > since'
}

one() {
	local t=$1 out status=0
	out=$(timeout -k 10 "$limit" "$t" 2>&1) || status=$?
	printf '%s\n' "$out" >"$log.one"
	# What a test program's lines say; a death or a missing plan is one more failure.
	awk -v t="$t" -v status="$status" -v limit="$limit" '
		/^ok .*# SKIP/ { s++; print "  skipped: " t ": " $0; next }
		/^ok /         { p++; next }
		/^not ok /     { f++; print "  FAILED:  " t ": " $0; bad = 1; next }
		/^1\.\.0 # SKIP/ { s++; plan = 1; none = 1; print "  skipped: " t ": " $0; next }
		/^1\.\.[0-9]+/ { plan = 1; want = substr($1, 4) + 0; next }
		/^#/           { held = held "    " $0 "\n"; next }
		{ held = held "    " $0 "\n" }
		END {
			if (status == 124 || status == 137)
				{ f++; bad = 1; print "  FAILED:  " t ": over its " limit " s" }
			else if (!plan)
				{ f++; bad = 1; print "  FAILED:  " t ": no plan, exit " status }
			else if (!none && want != p + f + s)
				{ f++; bad = 1; print "  FAILED:  " t ": " want " tests planned, " p + f + s " ran" }
			else if (status && !f)
				{ f++; bad = 1; print "  FAILED:  " t ": exit " status }
			if (bad) printf "%s", held
			printf "%d %d %d\n", p, f, s > "'"$log.count"'"
		}' "$log.one"
	rm -f "$log.one"
}

passed=0 failed=0 skipped=0
start=$SECONDS
for t in "${tests[@]}"; do
	began=$SECONDS
	one "$t"
	read -r p f s <"$log.count"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-52s %4d passed %3d failed %3d skipped %4d s\n' "$t" "$p" "$f" "$s" \
		$((SECONDS - began))
done
rm -f "$log.count"

if [ -n "$(oops)" ]; then
	failed=$((failed + 1))
	echo "  FAILED:  the kernel log has new complaints:"
	oops | tail -n 5
fi
echo "in $((SECONDS - start)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
