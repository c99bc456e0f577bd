#!/usr/bin/env bash
# One damaged segment hides itself alone: every command on a store reads the rest, names it and ends with 1.
. tests/support/tap.sh
b=$BUILD/blkcast
s=$T/store
"$BUILD/tests/system/sample_store" "$s"
is "$("$b" ls --quiet --store "$s" | grep -c '^damaged')" 0 "a sound store has none"
damaged=segments/db1/b1/00000000000000000005/0000000001.seg
whole=$("$b" dump --quiet --store "$s" --format csv | wc -l)
printf XXXXXXXX | dd of="$s/$damaged" bs=1 seek=300 conv=notrunc 2>"$T/dd"
all() {
	for command in "characterize" "characterize --json" "characterize --window 1s" "dump" "dump --format csv" \
		"dump --profiles" "report -o $T/page.html" "export --format csv -o $T/out.csv" \
		"export --format blkparse -o $T/out.txt" "export --format fio-iolog -o $T/out.log" \
		"export --format segments -o $T/out.seg"; do
		set -- $command
		verb=$1
		shift
		exits 1 "$command: exit 1" "$b" "$verb" --store "$s" "$@"
		is "$(grep -c "$damaged: damaged, left out" "$T/err")" 1 "$command: names the segment once"
		is "$(grep -c -- "check --store $s --repair" "$T/err")" 1 "$command: says what mends it"
	done
	exits 1 "compare: exit 1" "$b" compare "$s" "$s"
	exits 1 "characterize of one host" "$b" characterize --store "$s" --host db1
	exits 0 "the other host is whole" "$b" characterize --store "$s" --host web1
}
all "(the catalog does not know it)"
like "$("$b" dump --quiet --store "$s" --format csv 2>/dev/null | wc -l) $whole" '^[5-9][0-9]{3} ' "the rest is read"
number "$("$b" dump --quiet --store "$s" --format csv 2>/dev/null | wc -l) < $whole" "and the damaged is not"
number "$("$b" characterize --quiet --json --store "$s" --host db1 2>/dev/null | jq '.[0].quality.coverage_ratio') < 0.75" \
	"its time counts as not watched"
rm -f "$s"/catalog.sqlite*
exits 1 "ls: exit 1" "$b" ls --store "$s"
like "$(cat "$T/out")" "^damaged: $damaged" "ls names it"
all "(the catalog knows it)"
exits 0 "check --repair sets it aside" "$b" check --store "$s" --repair
done_testing
