#!/usr/bin/env bash
# scripts/run-tests.sh [--fast] [FILE...]
# Runs the tests (all, the fast ones, or the named programs and scripts), each under a time limit, looks for
# kernel complaints since the start, and ends with the line "N passed, N failed, N skipped". Exit 1 where one
# failed, 2 where it was started wrongly.
#
# BLKCAST_JOBS tests run at once. Those that use tests/loop.sh or tests/cluster share this machine's devices, its kernel
# programs or its ports with what they count, so that only one of them runs at a time; all others run beside it. The
# former mostly wait, which is why BLKCAST_JOBS is one more than the number of processors. Results are printed in the
# order of the list, whichever test ends first.
# --fast: unit and command tests but those that tests/not-in-check lists; `make check` runs these.
# BLKCAST_AGAIN=N: a test that fails runs up to N times more. Where it then passes it counts as failed all the
# same, and is named as unsteady at the end, unless tests/unsteady lists it with a date and a reason.
# BLKCAST_REQUIRE: kinds of tests/support/features.h, with commas; what lacks one of them fails instead of being skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
# OpenBLAS' own threads are not instrumented, and the thread sanitizer takes them for races.
export BUILD=${BUILD:-build} LC_ALL=C TZ=UTC OPENBLAS_NUM_THREADS=1
limit=${BLKCAST_TEST_LIMIT:-600} again=${BLKCAST_AGAIN:-0} jobs=${BLKCAST_JOBS:-$(($(nproc) + 1))}
unsteady_list=${BLKCAST_UNSTEADY:-tests/unsteady}

refuse() {
	echo "run-tests.sh: $1" >&2
	exit 2
}
required=${BLKCAST_REQUIRE:-}
for kind in ${required//,/ }; do
	grep -q "^FEATURE($kind," tests/support/features.h ||
		refuse "BLKCAST_REQUIRE names \"$kind\", which is no kind of tests/support/features.h"
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || refuse "BLKCAST_JOBS is \"$jobs\": expected a number of tests from 1 on"
# DATE TEST REASON...: a date, so that whoever reads the list sees how long a test has been left as it is.
max_unsteady=5
listed=$(grep -vE '^(#|$)' "$unsteady_list")
malformed=$(grep -vE '^(20[0-9]{2}-[01][0-9]-[0-3][0-9] tests/[^ ]+ .{10,})?$' <<<"$listed")
[ -z "$malformed" ] || refuse "$unsteady_list: expected a date, a test and a reason in: $malformed"
[ "$(grep -c . <<<"$listed")" -le $max_unsteady ] || refuse "$unsteady_list: more than $max_unsteady tests: mend one"

tests=()
fast=""
if [ "${1:-}" = --fast ]; then
	fast=1
	shift
fi
if [ $# -gt 0 ]; then
	tests=("$@")
else
	tests=(scripts/check-borders.sh scripts/check-style.sh)
	for src in tests/unit/*/test_*.c; do tests+=("$BUILD/${src%.c}"); done
	for t in tests/cli/*.sh; do tests+=("$t"); done
	[ -n "$fast" ] || for t in tests/system/*.sh tests/browser/live*.sh tests/vm/*.sh; do tests+=("$t"); done
fi
# source_of TEST: its name in the tree
source_of() {
	case $1 in
	*.sh) printf '%s\n' "${1#./}" ;;
	*) printf 'tests/unit/%s.c\n' "${1##*/unit/}" ;;
	esac
}
if [ -n "$fast" ]; then
	quick=()
	for t in "${tests[@]}"; do grep -qxF "$(source_of "$t")" tests/not-in-check || quick+=("$t"); done
	tests=("${quick[@]}")
fi

logs=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-tap.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM
# Complaints since now: the log forgets old ones while the tests run.
booted_s=$(cut -d. -f1 /proc/uptime)
oops() {
	dmesg 2>/dev/null | awk -F'[][]' -v since="$booted_s" \
		'/BUG:|WARNING:|Oops|refcount|hung task|soft lockup/ && $2 + 0 > since'
}

# one TEST LOG: runs it; leaves what it printed in LOG and "PASSED FAILED SKIPPED" in LOG.count
one() {
	local t=$1 log=$2 status=0 by=()
	case $t in *.sh) by=(bash) ;; esac # whether its file may be executed or not
	timeout -k 10 "$limit" "${by[@]}" "$t" >"$log" 2>&1 </dev/null || status=$?
	# Counts what a test program's lines say; a death or a missing plan is one more failure.
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

# attempts TEST LOG: runs it until it passes or its attempts are used up. What one() says is in LOG.said. A test
# that passed only when it ran again leaves the failures of its first run in LOG.unsteady.
attempts() {
	local t=$1 log=$2 left=$again began=$SECONDS first="" f
	while one "$t" "$log" && read -r _ f _ <"$log.count" && [ "$f" != 0 ] && [ "$left" != 0 ]; do
		left=$((left - 1))
		echo "  again:   $t"
		[ -n "$first" ] || first=$f
	done
	[ -z "$first" ] || [ "$f" != 0 ] || echo "$first" >"$log.unsteady"
	echo $((SECONDS - began)) >"$log.seconds"
}

passed=0 failed=0 skipped=0 unsteady=()
# counted TEST LOG: its lines, and its share of the sums
counted() {
	local t=$1 log=$2 p f s name why
	cat "$log.said"
	read -r p f s <"$log.count"
	if [ -e "$log.unsteady" ]; then
		name=$(source_of "$t")
		why=$(awk -v name="$name" '$2 == name { $2 = ""; print; exit }' <<<"$listed")
		unsteady+=("$name:${why:- it counts as failed}")
		# The program's tests all passed in the end, so one of the passes is taken back.
		[ -n "$why" ] || p=$((p - 1)) f=$((f + 1))
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-52s %4d passed %3d failed %3d skipped %4d s\n' "$t" "$p" "$f" "$s" "$(cat "$log.seconds")"
	rm -f "$log" "$log".*
}

# One lane for the tests with devices, the remaining ones for the others, and all lanes for them once the former are
# done. Guests come first there: the longest tests are not to be the last ones.
alone=() beside=() guests=()
for i in "${!tests[@]}"; do
	if [[ ${tests[i]} == *.sh ]] && grep -qE '^[^#]*tests/(loop|cluster)' "${tests[i]}"; then
		alone+=("$i")
	elif [[ ${tests[i]} == *tests/vm/* ]]; then
		guests+=("$i")
	else
		beside+=("$i")
	fi
done
beside=("${guests[@]}" "${beside[@]}")

start=$SECONDS next=0 running=0 alone_pid="" printed=0
launch() {
	attempts "${tests[$1]}" "$logs/$1" >"$logs/$1.said" 2>&1 &
	running=$((running + 1))
}
print_finished() {
	while [ $printed -lt ${#tests[@]} ] && [ -e "$logs/$printed.seconds" ]; do
		counted "${tests[printed]}" "$logs/$printed"
		printed=$((printed + 1))
	done
}
while :; do
	if [ -z "$alone_pid" ] && [ ${#alone[@]} != 0 ] && [ $running -lt "$jobs" ]; then
		launch "${alone[0]}"
		alone_pid=$!
		alone=("${alone[@]:1}")
	fi
	while [ $running -lt "$jobs" ] && [ $next -lt ${#beside[@]} ]; do
		launch "${beside[next]}"
		next=$((next + 1))
	done
	[ $running != 0 ] || break
	wait -n -p ended
	running=$((running - 1))
	[ "$ended" != "$alone_pid" ] || alone_pid=""
	print_finished
done
print_finished

if [ -n "$(oops)" ]; then
	failed=$((failed + 1))
	echo "  FAILED:  the kernel log has new complaints:"
	oops | tail -n 5
fi
echo "in $((SECONDS - start)) s"
for t in "${unsteady[@]}"; do echo "unsteady, passed only when it ran again: $t"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
