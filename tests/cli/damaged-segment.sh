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
for response in read_s read_p95_s; do
	awk 'BEGIN { print "threads,request_kb,'$response'"; for (t = 1; t <= 32; t++) for (k = 4; k <= 64; k *= 2)
		printf "%d,%d,%.9f\n", t, k, 0.001 + 0.001 * t + 0.00001 * k }' >"$T/$response.csv"
	"$b" fit --quiet "$T/$response.csv" --response $response --techniques lrm -o "$T/$response.json" >/dev/null
done
all() {
	for command in "characterize" "characterize --json" "characterize --window 1s" "dump" "dump --format csv" \
		"dump --profiles" "report -o $T/page.html" "export --format csv -o $T/out.csv" \
		"export --format blkparse -o $T/out.txt" "export --format fio-iolog -o $T/out.log" \
		"export --format segments -o $T/out.seg" "mimic --replay --target /dev/sdx -o $T/replay.fio" \
		"mimic $s --host db1 --device sda --target /dev/sdx -o $T/mimic.fio" "study cache $s" \
		"study migrate $s --model $T/read_s.json" "headroom $s --model $T/read_p95_s.json --slo read.p95=1s"; do
		case $command in
		*" $s"*) set -- $command ;;
		*) set -- ${command%% *} --store "$s" $(cut -s -d' ' -f2- <<<"$command") ;;
		esac
		exits 1 "$command: exit 1" "$b" "$@"
		is "$(grep -c "$damaged: damaged, left out" "$T/err")" 1 "$command: names the segment once"
		is "$(grep -c -- "check --store $s --repair" "$T/err")" 1 "$command: says what mends it"
	done
	exits 1 "compare: exit 1" "$b" compare "$s" "$s"
	exits 1 "characterize of one host" "$b" characterize --store "$s" --host db1
	exits 0 "the other host is whole" "$b" characterize --store "$s" --host web1
}
all "(the catalog does not know it)"
cp -r "$s" "$T/kept"
exits 1 "retain: exit 1" "$b" retain --store "$T/kept" --retain-requests 1d
like "$(cat "$T/out")" "; 1 segments left as they are: blkcast check says why" "retain: leaves it as it is, and says so"
like "$("$b" dump --quiet --store "$s" --format csv 2>/dev/null | wc -l) $whole" '^[5-9][0-9]{3} ' "the rest is read"
number "$("$b" dump --quiet --store "$s" --format csv 2>/dev/null | wc -l) < $whole" "and the damaged is not"
number "$("$b" characterize --quiet --json --store "$s" --host db1 2>/dev/null | jq '.[0].quality.coverage_ratio') < 0.75" \
	"its time counts as not watched"
rm -f "$s"/catalog.sqlite*
exits 1 "ls: exit 1" "$b" ls --store "$s"
like "$(cat "$T/out")" "^damaged: $damaged" "ls names it"
all "(the catalog knows it)"
cp -r "$s" "$T/known"
exits 1 "retain of a store whose catalog knows it: exit 1" "$b" retain --store "$T/known" --retain-requests 1d
is "$(grep -c "$damaged: damaged, left out" "$T/err")" 1 "retain: names the segment once"
exits 0 "check --repair sets it aside" "$b" check --store "$s" --repair
# One that cannot be read may be whole, and nobody is led to set it aside. Root may read all, so nobody looks here.
as=""
if [ "$(id -u)" = 0 ]; then as="setpriv --reuid nobody --clear-groups"; fi
closed=segments/db1/b1/00000000000000000005/0000000000.seg
chmod 0 "$s/$closed"
serve_owns "$s"
linked=segments/db1/b1/00000000000000000005/0000000003.seg
folder=segments/web1/b1/00000000000000000005/0000000001.seg
pipe=segments/web1/b1/00000000000000000005/0000000002.seg
mv "$s/$linked" "$T/elsewhere" && ln -s "$T/elsewhere" "$s/$linked"
rm "$s/$folder" "$s/$pipe" && mkdir "$s/$folder" && mkfifo "$s/$pipe"
for command in characterize dump "export --format segments"; do
	set -- ${command%% *} --store "$s" $(cut -s -d' ' -f2- <<<"$command")
	exits 1 "$command of a store with some that cannot be read: exit 1" timeout 20 $as "$b" "$@"
	is "$(grep -c "$closed: cannot be read, left out: .*Permission denied" "$T/err")" 1 "$command: says that it cannot be read"
	is "$(grep -c "$linked: cannot be read, left out: .*: is a symbolic link, which is not followed" "$T/err")" 1 \
		"$command: says what a link is"
	is "$(grep -cE "($folder|$pipe): cannot be read, left out: .*: expected a regular file" "$T/err")" 2 \
		"$command: a folder and a pipe do not end or hold it"
	is "$(grep -c -- "--repair" "$T/err")" 0 "$command: recommends no repair"
done
done_testing
