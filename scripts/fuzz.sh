#!/usr/bin/env bash
# scripts/fuzz.sh [DECODER...] | --targets | --hostile | --valgrind TEST... | --memory DECODER...
# Runs fuzz targets (all, or the named), FUZZ_JOBS=1 of them at a time, for FUZZ_SECONDS each, or FUZZ_RUNS
# inputs where that is set, and prints a line of figures for each. A run has three parts. Seventeen in
# twenty inputs are short, up to the half of the committed inputs (at least 768 bytes), since an execution
# takes longer for a longer input; one in twenty is as long as the longest committed one; and two in twenty
# run through the decoders with the buffers and tables that are shipped ($BUILD/shipped; the others are
# smaller, so that their ends are reached). FUZZ_MAX_LEN bounds all. A run is ended by a sanitizer's report,
# by more than 64 MiB of heap or by 1 s of processor for one input (tests/fuzz/watch.c). Found inputs stay
# in $BUILD/corpus, those committed in tests/fuzz/corpus are read beside them; logs and the input that
# failed lie in $BUILD. FUZZ_RESULTS=FILE keeps one line for each target in a table in that file, the
# runs added to those of the same target that stand there.
#
# --targets prints which file formats each target covers.
# --hostile makes valid segments with extreme values from a number and runs the commands over them
# (scripts/fuzz-hostile.sh); --valgrind runs unit tests under valgrind's memcheck; --memory runs targets that
# are built with MemorySanitizer over their committed inputs, and FUZZ_RUNS more of each where that is set.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build/fuzz}
# Freed memory is kept for 1 MiB of allocations: this fits a second-level cache, and is more than nearly all inputs
# free. A report has the stack of the use; its input, run again without these, tells where it was allocated.
export ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=1:thread_local_quarantine_size_kb=64
ASAN_OPTIONS+=:max_malloc_fill_size=64:allocator_release_to_os_interval_ms=-1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 OPENBLAS_NUM_THREADS=1

targets=(
	"account|the file of an agent's account (formats/account/account_file.h)"
	"arch|models of software systems in YAML (docs/arch.schema.json)"
	"blktrace|records of blktrace's files and relay channels"
	"config|the agent's configuration file, and its command line"
	"http|heads of uploads to serve: path and hash, and the segment in the body"
	"http_conversation|whole HTTP conversations with serve"
	"import|traces of others: MSR, SPC, SNIA, blkparse, fio, ... (formats/foreign)"
	"journal|the journal of a store (analyzer/store/store_journal.h)"
	"model|saved regression models in JSON"
	"net|queueing Petri nets in YAML (docs/qpn.schema.json)"
	"object_list|lists of a bucket in XML, as an object store sends them"
	"pcm|Palladio's XML: repository, system, allocation, environment, usage"
	"plan|plans of measurement campaigns in YAML (docs/plan.schema.json)"
	"profile|profiles in JSON (formats/profile/profile.md)"
	"qpe|queueing Petri nets of QPME (.qpe)"
	"scenario|scenarios in YAML (docs/scenario.schema.json)"
	"segment|trace segments (formats/segment/segment.md)"
	"spool|segments that wait in an agent's spool, and the ledger of their loss"
	"stoex|stochastic expressions, of blkcast and of Palladio"
	"storage_model|storage models in JSON"
	"storage_table|measurement tables (CSV) of storage models, and their calibration"
	"summary|summaries that retention left (formats/summary)"
	"table|measurement tables in CSV as data sets of the regression"
	"tokens|the file of tokens of serve"
	"trace_format|format files of the kernel's trace events"
	"trace_page|pages of the kernel's trace buffer"
	"vscsi|histograms of VMware's vscsiStats"
)
case ${1:-} in
--targets)
	printf '%s\n' "${targets[@]}" | awk -F'|' '{ printf "%-18s %s\n", $1, $2 }'
	exit
	;;
--hostile)
	exec bash scripts/fuzz-hostile.sh
	;;
--valgrind)
	shift
	bad=0
	for test; do
		OPENBLAS_NUM_THREADS=1 BLKCAST_TEST_LIMIT=3600 valgrind --quiet --error-exitcode=99 --trace-children=no \
			--child-silent-after-fork=no "$test" >"$test.valgrind" 2>&1
		status=$?
		if grep -q '^==' "$test.valgrind" || [ $status != 0 ]; then
			echo "not ok: ${test##*/} ended with $status under valgrind: $test.valgrind"
			grep -E '^(==|not ok)' "$test.valgrind" | head -n 20
			bad=1
		else
			echo "ok: ${test##*/}"
		fi
	done
	exit $bad
	;;
esac
# Decoders of files get theirs in memory.
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")") || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
if [ "${1:-}" = --memory ]; then
	shift
	bad=0
	# A read of what was never set must be found, or the runs below say nothing.
	MEMORY_BORDERS_FAIL=1 "$BUILD/tests/fuzz/fuzz_$1" -runs=0 >"$BUILD/memory.log" 2>&1 && bad=1
	grep -q 'use-of-uninitialized-value' "$BUILD/memory.log" || bad=1
	[ $bad = 0 ] || echo "not ok: MemorySanitizer does not find a read of what was never set: $BUILD/memory.log"
	for f; do
		log=$BUILD/$f.memory.log
		if "$BUILD/tests/fuzz/fuzz_$f" -runs="${FUZZ_RUNS:-0}" -max_len="$((1 << 16))" -artifact_prefix="$BUILD/$f-" \
			"tests/fuzz/corpus/$f" >"$log" 2>&1; then
			echo "ok: $f, $(sed -n 's/^watch: inputs \([0-9]*\).*/\1/p' "$log") inputs"
		else
			echo "not ok: $f: $log"
			grep -E 'WARNING|SUMMARY|^    #[0-5] ' "$log" | head -n 12
			bad=1
		fi
	done
	exit $bad
fi
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

# part DECODER NAME TWENTIETHS LENGTH [FOLDER]: 0 or what the target ended with
part() {
	local length=$4
	[ "$length" -le "${FUZZ_MAX_LEN:-$length}" ] || length=$FUZZ_MAX_LEN
	"$BUILD/${5:-.}/tests/fuzz/fuzz_$1" "$(share "$3")" -timeout=60 -malloc_limit_mb=64 -max_len="$length" \
		-entropic=0 -reload=0 -artifact_prefix="$BUILD/$1-" "$BUILD/corpus/$1" "tests/fuzz/corpus/$1" \
		>"$BUILD/$1.$2.log" 2>&1
}

# figures DECODER PART...: of the parts together; edges and corpus are those of the long part, whose
# build also says how many edges there are in all that is linked with the target
figures() {
	local decoder=$1 log
	shift
	for part; do
		log=$BUILD/$decoder.$part.log
		echo "$(field inputs "$log") $(field cpu_ms "$log") $(field slowest_us "$log")" \
			"$(field largest_bytes "$log") $(done_field cov "$log") $(done_field corp "$log")" \
			"$(sed -n 's/^INFO: Loaded 1 modules *(\([0-9]*\) .*counters.*/\1/p' "$log" | head -n 1)" "$part"
	done | awk -v f="$decoder" '{ nr += $1; cpu += $2; us = $3 > us ? $3 : us; heap = $4 > heap ? $4 : heap }
		$8 != "shipped" { edges = $5; corpus = $6; all = $7 }
		END { printf "%-17s %11d %7d %7d %9d %16s %11.1f %9d %7d\n",
			f, nr, edges, all, cpu ? nr / cpu * 1000 : 0, corpus, us / 1000, heap / 1024, cpu / 1000 }'
}

# note STATUS LINE: into the table of FUZZ_RESULTS, runs and seconds added up
note() {
	[ -n "${FUZZ_RESULTS:-}" ] || return 0
	(
		flock 9
		awk -v status="$1" -v line="$2" -v day="$(date +%F)" '
			function row(nr, s, bad) {
				printf "| %s | %d | %d | %d | %d | %s | %s | %s |\n", v[1], nr, v[3], v[4], s, day, bad,
					nr < 20e6 ? "below 20 M" : "yes"
			}
			BEGIN { split(line, v, " ") }
			/^\| [a-z_]+ \| [0-9]/ && $2 == v[1] {
				row($4 + v[2], $10 + v[9], $14 + (status != 0)); found = 1; next
			}
			{ print }
			END { if (!found) row(v[2], v[9], status != 0) }' "$FUZZ_RESULTS" >"$FUZZ_RESULTS.new" &&
			mv "$FUZZ_RESULTS.new" "$FUZZ_RESULTS"
	) 9>"$BUILD/results.lock"
}

# run DECODER: all parts, and what they came to
run() {
	mkdir -p "$BUILD/corpus/$1" "tests/fuzz/corpus/$1"
	local of=short status line
	part "$1" short 17 "$(length "$1" 2)"
	status=$?
	if [ $status = 0 ]; then
		of="short long"
		part "$1" long 1 "$(length "$1" 4)"
		status=$?
	fi
	if [ $status = 0 ]; then
		of="short long shipped"
		part "$1" shipped 2 "$(length "$1" 4)" shipped
		status=$?
	fi
	line=$(figures "$1" $of)
	echo "$line"
	note "$status" "$line"
	if [ $status != 0 ]; then
		local log=$BUILD/$1.${of##* }.log
		echo "fuzz: $1 ended with $status: $log"
		grep -aE 'ERROR|SUMMARY|watch:|runtime error|Test unit written' "$log" | tail -n 5
	fi
	return $status
}

bad=0
printf '%-17s %11s %7s %7s %9s %16s %11s %9s %7s\n' \
	decoder executions edges of exec/cpu-s corpus slowest_ms heap_KiB cpu_s
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
