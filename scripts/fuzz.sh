#!/usr/bin/env bash
# scripts/fuzz.sh [DECODER...]
# Runs fuzz targets (all, or the named) one after another for FUZZ_SECONDS each, or FUZZ_RUNS inputs where
# that is set, and prints a line of figures for each. What ends a run: a sanitizer's report, more than
# 64 MiB of heap or 1 s of processor for one input (tests/fuzz/watch.c). Found inputs stay in
# $BUILD/corpus, those committed in tests/fuzz/corpus are read beside them; logs and the input that
# failed lie in $BUILD.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build/fuzz}
limit=(-max_total_time="${FUZZ_SECONDS:-60}")
[ -z "${FUZZ_RUNS:-}" ] || limit=(-runs="$FUZZ_RUNS")
# What is freed is kept for 4 MiB of allocations; more only costs cache.
export ASAN_OPTIONS=malloc_context_size=3:quarantine_size_mb=4:allocator_release_to_os_interval_ms=-1
export UBSAN_OPTIONS=print_stacktrace=1 OPENBLAS_NUM_THREADS=1

[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls fuzz_*.c | sed 's/fuzz_\(.*\)\.c/\1/')

# field NAME LOG: of the last line of tests/fuzz/watch.c
field() { sed -n "s/^watch: inputs.*\b$1 \([0-9]*\).*/\1/p;s/^watch: $1 \([0-9]*\).*/\1/p" "$2" | tail -n 1; }
# done_field NAME LOG: of libFuzzer's last line
done_field() { grep -aE '^#[0-9]+.(DONE|REDUCE|NEW|pulse|RELOAD|INITED)' "$2" | tail -n 1 | sed -n "s/.*$1: \([^ ]*\).*/\1/p"; }

# longest DECODER: of an input in bytes: as the longest that is committed, at least 512
longest() {
	find "tests/fuzz/corpus/$1" -type f -printf '%s\n' | sort -n | tail -n 1 |
		awk -v least=512 '{ n = $1 } END { print (n > least ? n : least) }'
}

bad=0
printf '%-14s %11s %7s %9s %16s %11s %9s\n' decoder executions edges exec/cpu-s corpus slowest_ms heap_KiB
for f; do
	mkdir -p "$BUILD/corpus/$f" "tests/fuzz/corpus/$f"
	log=$BUILD/$f.log
	"$BUILD/tests/fuzz/fuzz_$f" "${limit[@]}" -timeout=60 -malloc_limit_mb=64 -max_len="${FUZZ_MAX_LEN:-$(longest "$f")}" \
		-entropic=0 -reload=0 -artifact_prefix="$BUILD/$f-" "$BUILD/corpus/$f" "tests/fuzz/corpus/$f" \
		>"$log" 2>&1
	status=$?
	nr=$(field inputs "$log") cpu=$(field cpu_ms "$log") slowest=$(field slowest_us "$log")
	awk -v f="$f" -v nr="${nr:-0}" -v cpu="${cpu:-0}" -v us="${slowest:-0}" \
		-v heap="$(field largest_bytes "$log")" -v edges="$(done_field cov "$log")" \
		-v corpus="$(done_field corp "$log")" 'BEGIN { printf "%-14s %11d %7d %9d %16s %11.1f %9d\n",
			f, nr, edges, cpu ? nr / cpu * 1000 : 0, corpus, us / 1000, heap / 1024 }'
	if [ $status != 0 ]; then
		bad=1
		echo "fuzz: $f ended with $status: $log"
		grep -aE 'ERROR|SUMMARY|watch:|runtime error|Test unit written' "$log" | tail -n 5
	fi
done
exit $bad
