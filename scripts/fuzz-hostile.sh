#!/usr/bin/env bash
# scripts/fuzz-hostile.sh: random valid segments with extreme values through the commands that read them, with limits.
#
# HOSTILE_RUNS=N runs N segments, else as many as HOSTILE_SECONDS=60 allows; HOSTILE_FIRST=1 is the number of
# the first one. Each command gets HOSTILE_CPU_S=20 seconds of processor and HOSTILE_KIB=1048576 KiB of memory.
# The first finding ends it with the number, whose segment and outputs stay: HOSTILE_FIRST=<number> HOSTILE_RUNS=1
# repeats it. A finding is a command that a signal or a limit ended, or whose exit status is none of 0 to 3.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build} first=${HOSTILE_FIRST:-1} runs=${HOSTILE_RUNS:-0} seconds=${HOSTILE_SECONDS:-60}
cpu_s=${HOSTILE_CPU_S:-20} kib=${HOSTILE_KIB:-1048576}
export LC_ALL=C TZ=UTC OPENBLAS_NUM_THREADS=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# A program built with AddressSanitizer reserves terabytes of addresses, which no limit of them allows.
! grep -qa __asan_init "$BUILD/blkcast" || kib=0
T=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-hostile.XXXXXX") || exit 2
end=$(($(date +%s) + seconds)) nr=0 nr_commands=0 refused=0

# limited NAME COMMAND...: 0 where it ended by itself with an exit status of the contract
limited() {
	local name=$1 status
	shift
	nr_commands=$((nr_commands + 1))
	(
		ulimit -t "$cpu_s"
		[ "$kib" = 0 ] || ulimit -v "$kib"
		exec timeout -k 5 $((cpu_s * 10)) "$@"
	) >"$T/$name.out" 2>"$T/$name.err" </dev/null
	status=$?
	[ "$name" != import ] || import_status=$status
	[ $status -le 3 ] && ! grep -qE 'runtime error|AddressSanitizer|LeakSanitizer' "$T/$name.err"
}

# finding NUMBER NAME
finding() {
	echo "hostile: segment random-$1: blkcast $2 broke a limit or was ended by a signal; see $T/$2.err"
	tail -n 5 "$T/$2.err"
	echo "hostile: HOSTILE_FIRST=$1 HOSTILE_RUNS=1 scripts/fuzz-hostile.sh repeats it"
	exit 1
}

one() {
	local b=$BUILD/blkcast s=$T/store seg=$T/x.seg name
	rm -rf "$s" "$seg"
	"$BUILD/tests/system/make_hostile" "random-$1" "h$1" "$seg" >/dev/null || { echo "hostile: random-$1 cannot be made"; exit 2; }
	limited import "$b" import --store "$s" "$seg" || finding "$1" import
	[ "$import_status" = 0 ] || { refused=$((refused + 1)); return; }
	limited characterize "$b" characterize --store "$s" --json || finding "$1" characterize
	limited compare "$b" compare "$seg" "$seg" || finding "$1" compare
	limited report "$b" report --store "$s" -o "$T/page.html" || finding "$1" report
	limited ls "$b" ls --store "$s" || finding "$1" ls
	limited dump "$b" dump --store "$s" || finding "$1" dump
	limited check "$b" check --store "$s" || finding "$1" check
	limited retain "$b" retain --store "$s" --retain-requests 1s || finding "$1" retain
	for name in ls check characterize; do
		limited "retained-$name" "$b" "$name" --store "$s" || finding "$1" "retained-$name"
	done
}

while [ "$runs" -gt 0 ] && [ $nr -lt "$runs" ] || { [ "$runs" = 0 ] && [ "$(date +%s)" -lt $end ]; }; do
	one $((first + nr))
	nr=$((nr + 1))
done
rm -rf "$T"
echo "hostile: $nr segments from random-$first on, $nr_commands commands, $refused segments refused: nothing found"
