#!/usr/bin/env bash
# scripts/fuzz.sh [DECODER...]
# Runs fuzz targets (all, or the named), FUZZ_JOBS=1 of them at a time, for FUZZ_SECONDS each, or FUZZ_RUNS
# inputs where that is set, and prints a line of figures for each. Nineteen in twenty are short, up to the
# half of the committed inputs (at least 768 bytes), as an execution takes what its input is long; then
# the rest, as long as the longest. FUZZ_MAX_LEN bounds both. What ends a run: a sanitizer's report, more
# than 64 MiB of heap or 1 s of processor for one input (tests/fuzz/watch.c). Found inputs stay in
# $BUILD/corpus, those committed in tests/fuzz/corpus are read beside them; logs and the input that
# failed lie in $BUILD.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build/fuzz}
# What is freed is kept for 1 MiB of allocations: a second-level cache, and more than nearly all inputs
# free. A report has the stack of the use; its input, run again without these, tells where it was allocated.
export ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=1:thread_local_quarantine_size_kb=64
ASAN_OPTIONS+=:max_malloc_fill_size=64:allocator_release_to_os_interval_ms=-1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 OPENBLAS_NUM_THREADS=1

[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls fuzz_*.c | sed 's/fuzz_\(.*\)\.c/\1/')

# field NAME LOG: of the last line of tests/fuzz/watch.c
field() { sed -n "s/^watch: inputs.*\b$1 \([0-9]*\).*/\1/p;s/^watch: $1 \([0-9]*\).*/\1/p" "$2" | tail -n 1; }
# done_field NAME LOG: of libFuzzer's last line
done_field() { grep -aE '^#[0-9]+.(DONE|REDUCE|NEW|pulse|RELOAD|INITED)' "$2" | tail -n 1 | sed -n "s/.*$1: \([^ ]*\).*/\1/p"; }

# length DECODER QUARTERS: bytes that so many quarters of the committed inputs do not exceed, at least 512
length() {
	find "tests/fuzz/corpus/$1" -type f -printf '%s\n' | sort -n |
		awk -v quarters="$2" -v least=768 '{ n[NR] = $1 }
			END { at = int((NR * quarters + 3) / 4); print (n[at] > least ? n[at] : least) }'
}

# share OF PART: the limit of a run of that many twentieths
share() {
	if [ -n "${FUZZ_RUNS:-}" ]; then
		echo "-runs=$(((FUZZ_RUNS * $1 + 19) / 20))"
	else
		echo "-max_total_time=$(((${FUZZ_SECONDS:-60} * $1 + 19) / 20))"
	fi
}

# part DECODER NAME TWENTIETHS LENGTH: 0 or what the target ended with
part() {
	local length=$4
	[ "$length" -le "${FUZZ_MAX_LEN:-$length}" ] || length=$FUZZ_MAX_LEN
	"$BUILD/tests/fuzz/fuzz_$1" "$(share "$3")" -timeout=60 -malloc_limit_mb=64 -max_len="$length" \
		-entropic=0 -reload=0 -artifact_prefix="$BUILD/$1-" "$BUILD/corpus/$1" "tests/fuzz/corpus/$1" \
		>"$BUILD/$1.$2.log" 2>&1
}

# figures DECODER PART...: of the parts together; edges and corpus are those of the last
figures() {
	local decoder=$1 log
	shift
	for part; do
		log=$BUILD/$decoder.$part.log
		echo "$(field inputs "$log") $(field cpu_ms "$log") $(field slowest_us "$log")" \
			"$(field largest_bytes "$log") $(done_field cov "$log") $(done_field corp "$log")"
	done | awk -v f="$decoder" '{ nr += $1; cpu += $2; us = $3 > us ? $3 : us; heap = $4 > heap ? $4 : heap }
		END { printf "%-14s %11d %7d %9d %16s %11.1f %9d\n",
			f, nr, $5, cpu ? nr / cpu * 1000 : 0, $6, us / 1000, heap / 1024 }'
}

# run DECODER: both parts, and what they came to
run() {
	mkdir -p "$BUILD/corpus/$1" "tests/fuzz/corpus/$1"
	local of=short status
	part "$1" short 19 "$(length "$1" 2)"
	status=$?
	if [ $status = 0 ]; then
		of="short long"
		part "$1" long 1 "$(length "$1" 4)"
		status=$?
	fi
	figures "$1" $of
	if [ $status != 0 ]; then
		local log=$BUILD/$1.${of##* }.log
		echo "fuzz: $1 ended with $status: $log"
		grep -aE 'ERROR|SUMMARY|watch:|runtime error|Test unit written' "$log" | tail -n 5
	fi
	return $status
}

bad=0
printf '%-14s %11s %7s %9s %16s %11s %9s\n' decoder executions edges exec/cpu-s corpus slowest_ms heap_KiB
for f; do
	while [ "$(jobs -rp | wc -l)" -ge "${FUZZ_JOBS:-1}" ]; do
		wait -n || bad=1
	done
	run "$f" &
done
while [ -n "$(jobs -p)" ]; do
	wait -n || bad=1
done
exit $bad
