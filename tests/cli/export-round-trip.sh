#!/usr/bin/env bash
# What is exported comes back, as far as the format can hold it; fio replays its log.
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"

# columns STORE COLUMNS
columns() { "$b" dump --store "$1" --host "${3:-db1}" --format csv | sed 1d | cut -d, -f"$2"; }
for format in csv blkparse fio-iolog; do
	exits 0 "export to $format: exit 0" "$b" export --store "$T/store" --host db1 --format $format -o "$T/db1.$format"
	exits 0 "import of $format: exit 0" "$b" import --quiet --host db1 --store "$T/$format" "$T/db1.$format"
done
is "$(columns "$T/csv" 1-4,6- | md5sum)" "$(columns "$T/store" 1-4,6- | md5sum)" "CSV: every field comes back"
is "$(columns "$T/blkparse" 3,6-10,15,16 | md5sum)" "$(columns "$T/store" 3,6-10,15,16 | md5sum)" \
	"blkparse: operation, place, length, both stages, errors"
times() { columns "$1" 1 | awk -v unit="$2" 'NR == 1 { t = $1 } { printf "%.0f\n", ($1 - t) * 1e9 / unit }' | md5sum; }
# awk's numbers hold 53 bits: seconds of 2026 leave a quarter of a microsecond
is "$(columns "$T/blkparse" 1 | cut -d. -f2 | tail -n 1)" \
	"$(columns "$T/store" 1 | awk -F. 'NR == 1 { f = $2 } END { printf "%09d\n", $2 - f }')" "blkparse: times to the ns"
is "$(columns "$T/fio-iolog" 4,6-8 | md5sum)" "$(columns "$T/store" 4,6-8 | md5sum)" "fio's log: operation, place, length"
is "$(columns "$T/fio-iolog" 1 | tail -n 1 | cut -c1-8)" "$(columns "$T/store" 1 | awk -F. 'NR == 1 { s = $1; f = $2 } END { printf "%.6f\n", $1 - s + ($2 - f) / 1e9 - 5e-7 }')" \
	"fio's log: times in microseconds"
is "$("$b" export --store "$T/store" --host db1 --device sdb --limit 1 --format csv 2>&1 | head -c 30)" \
	"blkcast export: --limit: no su" "no option that it has not"
is "$("$b" export --store "$T/store" --host db1 --device sdb --operation write --format csv | sed 1d | cut -d, -f4,6 | sort -u)" \
	"sdb,write" "a selection alone"
exits 2 "an unknown format: exit 2" "$b" export --store "$T/store" --format pdf
exits 2 "no format: exit 2" "$b" export --store "$T/store"
exits 1 "a folder that is not there: exit 1 or 2" bash -c "'$b' export --store '$T/store' --format csv -o '$T/no/file'; [ \$? != 0 ] && exit 1"

if command -v fio >/dev/null; then
	truncate -s 64M "$T/disk.img"
	for i in $(seq 0 199); do echo "$i.5,R,$((i * 7 % 128 * 4096)),4096"; done | sed 's/R/W/;n' |
		"$b" import --quiet --store "$T/small" --map time=1:ms,op=2,offset=3,size=4 -
	"$b" export --store "$T/small" --format fio-iolog --target "$T/disk.img" -o "$T/replay.log"
	timeout 60 fio --name=replay --read_iolog="$T/replay.log" --replay_no_stall=1 --output-format=json \
		>"$T/fio.json" 2>"$T/fio.err"
	is "$? $(grep -o '"total_ios" : [0-9]*' "$T/fio.json" | head -n 2 | awk '{ print $3 }' | tr '\n' ' ')" \
		"0 100 100 " "fio replays it: 100 reads and 100 writes"
else
	note "skipped: no fio"
fi
done_testing
