#!/usr/bin/env bash
# A second reader, written from formats/segment.md, reads what ours reads.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
need python "python3 is not installed" command -v python3
need zstd "the zstd command is not installed" command -v zstd

golden=tests/golden/segment-v1
tool=$BUILD/tests/system/segment_golden
exits 0 "our reader reads the golden file" "$tool" dump $golden.bin
holds "and finds what was written" cmp "$T/out" $golden.jsonl
exits 0 "a reader written from the text alone reads it" python3 tests/golden/read_segment.py $golden.bin
holds "and finds the same" cmp "$T/out" $golden.jsonl

"$tool" make >"$T/today.bin"
exits 0 "it reads what is written today" python3 tests/golden/read_segment.py "$T/today.bin"
holds "and finds the same there" cmp "$T/out" $golden.jsonl
done_testing
