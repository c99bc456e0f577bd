#!/usr/bin/env bash
# scripts/run-tests.sh [FILE...]
# Runs the tests (all, or the named programs and scripts) one after another, each under a time limit,
# looks for kernel complaints since the start, and ends with the line "N passed, N failed, N skipped".
# Exit 1 where one failed. Those that emulate for minutes and measure no time run beside the others.
# BLKCAST_AGAIN=N: a test of a real kernel (tests/system, tests/vm) that fails runs up to N times more.
# Its first answer is printed, and a line at the end names it as unsteady where a later one passes.
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

again=${BLKCAST_AGAIN:-0}
beside=tests/vm/s390x-formats.sh

logs=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-tap.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$logs"' EXIT
# Complaints since now: the log forgets old ones while the tests run.
booted_s=$(cut -d. -f1 /proc/uptime)
oops() {
	dmesg 2>/dev/null | awk -F'[][]' -v since="$booted_s" \
		'/BUG:|WARNING:|Oops|refcount|hung task|soft lockup/ && $2 + 0 > since'
}

# one TEST LOG: runs it; leaves what it printed in LOG and "PASSED FAILED SKIPPED" in LOG.count
one() {
	local t=$1 log=$2 status=0
	timeout -k 10 "$limit" "$t" >"$log" 2>&1 || status=$?
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
		}' "$log"
}

# attempts TEST LOG: runs it until it passes or its attempts are used up; LOG.seconds, LOG.unsteady
attempts() {
	local t=$1 log=$2 left=0 began=$SECONDS
	case $t in tests/system/* | tests/vm/*) left=$again ;; esac
	while one "$t" "$log" && read -r _ f _ <"$log.count" && [ "$f" != 0 ] && [ "$left" != 0 ]; do
		left=$((left - 1))
		echo "  again:   $t"
		echo "$t" >"$log.unsteady"
	done
	echo $((SECONDS - began)) >"$log.seconds"
}

passed=0 failed=0 skipped=0 unsteady=()
# counted TEST LOG: its line, and its share of the sums
counted() {
	local t=$1 log=$2 p f s
	read -r p f s <"$log.count"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	[ "$f" = 0 ] && [ -e "$log.unsteady" ] && unsteady+=("$t")
	printf '%-52s %4d passed %3d failed %3d skipped %4d s\n' "$t" "$p" "$f" "$s" "$(cat "$log.seconds")"
	rm -f "$log" "$log".*
}

start=$SECONDS
printf '%s\n' "${tests[@]}" | grep -qxF "$beside" || beside=
if [ -n "$beside" ]; then
	attempts "$beside" "$logs/beside" >"$logs/said" 2>&1 &
	beside_pid=$!
	renice -n 10 $beside_pid >/dev/null
fi
for t in "${tests[@]}"; do
	[ "$t" = "$beside" ] && continue
	attempts "$t" "$logs/one"
	counted "$t" "$logs/one"
done
if [ -n "$beside" ]; then
	wait $beside_pid
	cat "$logs/said"
	counted "$beside" "$logs/beside"
fi

if [ -n "$(oops)" ]; then
	failed=$((failed + 1))
	echo "  FAILED:  the kernel log has new complaints:"
	oops | tail -n 5
fi
echo "in $((SECONDS - start)) s"
[ ${#unsteady[@]} = 0 ] || echo "unsteady, passed when run again: ${unsteady[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
