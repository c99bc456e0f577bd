#!/usr/bin/env bash
# A second reader, written from formats/segment/segment.md, reads what ours reads.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
need python3 "python3 is not installed" command -v python3
need zstd "the zstd command is not installed" command -v zstd

tool=$BUILD/tests/system/segment_golden
for version in 1 2 4 8; do
	golden=tests/golden/segment-v$version
	exits 0 "version $version: our reader reads the golden file" "$tool" dump $golden.bin
	holds "and finds what was written" cmp "$T/out" $golden.jsonl
	exits 0 "a reader written from the text alone reads it" python3 tests/golden/read_segment.py $golden.bin
	holds "and finds the same" cmp "$T/out" $golden.jsonl

	"$tool" make ${version#1} >"$T/today.bin"
	exits 0 "it reads what is written today" python3 tests/golden/read_segment.py "$T/today.bin"
	holds "and finds the same there" cmp "$T/out" $golden.jsonl
done
done_testing
