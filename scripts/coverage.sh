#!/usr/bin/env bash
# scripts/coverage.sh TEST...
# Runs the tests built with --coverage and prints, for each file that must not lose data, how many of
# its branches they took, and every branch that they did not: file, line and text.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
files="agent/spool/spool.c agent/spool/spool_ledger.c base/system/durable.c agent/spool/tally.c agent/spool/account.c agent/spool/account_copies.c
agent/spool/account_half.c formats/account/account_file.c formats/ledger.c formats/segment/segment.c formats/segment/segment_read.c
formats/segment/segment_header_unpack.c formats/segment/column_read.c formats/segment/plane.c base/memory/varint.c analyzer/store/intake/ingest.c
analyzer/store/intake/ingest_commit.c analyzer/store/segment_place.c analyzer/store/store_journal.c"
find "$build" -name '*.gcda' -delete
for t in "$@"; do
	timeout 3000 "$t" >"$build/coverage.log" 2>&1 || { echo "coverage: $t failed" >&2; exit 1; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-coverage.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$PWD taken=0 all=0
for f in $files; do
	[ -e "$f" ] || { echo "coverage: $f is not there: its branches would go uncounted" >&2; exit 1; }
	(cd "$root" && gcov -b -c -o "$build/$(dirname "$f")" "$build/${f%.c}.o" >/dev/null 2>&1)
	gcov=$(basename "$f").gcov
	[ -e "$gcov" ] || { echo "coverage: nothing of $f" >&2; continue; }
	mv ./*.gcov "$work/"
	awk -v f="$f" -v missed="$work/missed" '
		/^ *[0-9#=-]+\*?: *[0-9]+:/ { line = $0; sub(/^[^:]*: */, "", line) }
		/^branch/ { n++; if ($0 ~ /taken [1-9]/) t++; else if (line != last) { last = line; print f ":" line >missed } }
		END { printf "%-34s %4d of %4d branches taken, %5.1f %%\n", f, t, n, n ? 100 * t / n : 100; print t + 0, n + 0 >"/dev/stderr" }
	' "$work/$gcov" 2>"$work/sum"
	[ ! -e "$work/missed" ] || { cat "$work/missed" >>"$work/all"; rm "$work/missed"; }
	read -r t n <"$work/sum"
	taken=$((taken + t)) all=$((all + n))
done
awk -v t=$taken -v n=$all 'BEGIN { printf "%-34s %4d of %4d branches taken, %5.1f %%\n", "together", t, n, 100 * t / n }'
echo "not taken:"
cat "$work/all" 2>/dev/null || true
