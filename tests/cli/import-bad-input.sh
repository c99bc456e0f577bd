#!/usr/bin/env bash
# What makes no sense is skipped, counted and shown; more than 1 % of it stores nothing.
. tests/support/tap.sh
b=$BUILD/blkcast

# refused NAME REGEX FILE [OPTION...]: exit 2, one line first, and no store left
refused() {
	local name=$1 regex=$2 file=$3
	shift 3
	rm -rf "$T/s"
	exits 2 "$name: exit 2" "$b" import --store "$T/s" "$@" "$file"
	like "$(cat "$T/err")" "^blkcast import: $regex" "$name: it is told"
	holds "$name: nothing is left" test ! -e "$T/s"
}

: >"$T/empty"
refused "an empty file" "$T/empty: expected a trace, the file is empty$" "$T/empty"
head -c 3000 "$b" >"$T/b"
refused "a binary of another kind" "$T/b: expected a trace of a known format; --format names one" "$T/b"
refused "a file that is not there" ".*missing: No such file" "$T/missing"
refused "a folder" "$T: expected a trace file, it is a folder" "$T"

for i in $(seq 1000); do echo "$i,W,$((i * 4096)),4096,$((1577808000000000 + i * 1000))"; done >"$T/good"
sed '500s/.*/500,W,-1,4096,1577808000500000/; 700s/4096,/x,/' "$T/good" >"$T/two"
rm -rf "$T/s"
exits 0 "2 bad records in 1000: exit 0" "$b" import --store "$T/s" "$T/two"
like "$(cat "$T/err")" "998 requests, 2 records skipped" "they are counted"
like "$(cat "$T/err")" "skipped: $T/two:500: offset: expected bytes" "and the first are shown with their lines"
is "$("$b" ls --store "$T/s" --json | tr -d ' \n' | grep -o '"decode":[0-9]*')" '"decode":2' "and are losses of the trace"
sed 's/^\(.*[05]\),W/\1,X/' "$T/good" >"$T/many"
refused "a fifth of bad records" "200 of 1000 records make no sense, nothing is stored; the first: $T/many:5: opcode: expected R or W.*; --lenient stores the rest" "$T/many"
sed '50~100s/,W/,X/' "$T/good" >"$T/hundredth"
rm -rf "$T/s"
exits 0 "10 bad records in 1000: exit 0" "$b" import --quiet --store "$T/s" "$T/hundredth"
sed '51s/,W/,X/' "$T/hundredth" >"$T/more"
refused "one more" "11 of 1000 records make no sense, nothing is stored" "$T/more"
exits 0 "--lenient: exit 0" "$b" import --lenient --quiet --store "$T/s" "$T/many"
is "$("$b" dump --store "$T/s" --format csv | sed 1d | wc -l)" 800 "--lenient stores the rest"

sed '100,$s/1577808/9/' "$T/good" >"$T/mixed"
refused "absolute and relative stamps mixed" ".*mixed:100: time: expected one within a year of those before it" "$T/mixed"
refused "another format than named" ".*none: $T/good:1: expected 7 fields" "$T/good" --format msr
printf '0 0 1 1 1\n1 0 9 1 1\n' >"$T/relative"
refused "times of day beside times from a start" ".*relative: expected times of day as in the files before" \
	"$T/good" "$T/relative"

# A cell of a CSV file that is no value of its column never counts as success or as unknown.
{
	echo time,op,offset,size,tid,pid,cgroup_id,queue_depth,requeues,error,flags
	echo 1,R,0,4096,,,,,,,
	echo 2,R,0,4096,,,,,,EIO,
	echo 3,R,0,4096,,,,,,70000,
	echo 4,R,0,4096,7,-1,,,,,
	echo 5,R,0,4096,4294967296,7,,,,,
	echo 6,R,0,4096,7,7,/system,,,,
	echo 7,R,0,4096,7,7,1,many,,,
	echo 8,R,0,4096,7,7,1,2,65536,,
	echo 9,R,0,4096,7,7,1,2,65535,5,0x10000
	echo 10,R,0,4096,7,7,1,2,65535,5,0
} >"$T/cells.csv"
refused "cells of CSV that are no values" \
	"8 of 10 records make no sense.*cells.csv:3: error: expected a whole number of at most 65535" "$T/cells.csv" --format csv
is "$("$b" import --lenient --format csv --json --store "$T/s" "$T/cells.csv" 2>"$T/err" | jq -c '[.requests, .skipped]')" "[2,8]" \
	"an empty cell is unknown, a wrong one skips its record"
is "$("$b" import --lenient --format csv --store "$T/s5" - < <(sed 2,9d "$T/cells.csv") 2>&1 | grep -o 'flags: .*')" \
	"flags: expected a hexadecimal number of at most 0xffff" "also flags that there are not"

# Three records and a half of vscsi, version 1
record() { # SECONDS
	printf '\001\000\000\000\000\020\000\000\001\000\000\000\052\000\000\001\010\000\000\000\000\000\000\000'
	# shellcheck disable=SC2059
	printf "\\00$1\\000\\000\\000\\000\\000\\000\\000"
}
{ for i in 1 2 3; do record $i; done; record 4 | head -c 16; } >"$T/cut.vscsi"
refused "a cut record" "1 of 4 records .*cut.vscsi:offset 96: expected a record of 32 bytes, 16 are left" "$T/cut.vscsi"
exits 0 "the same, leniently: exit 0" "$b" import --lenient --quiet --store "$T/v" "$T/cut.vscsi"
is "$("$b" dump --store "$T/v" --format csv | sed 1d | cut -d, -f6-8 | sort -u)" "write,8,4096" "its whole records are there"
gzip -c "$T/good" | head -c 2000 >"$T/cut.gz"
refused "cut gzip data" "$T/cut.gz: expected more compressed data, the file is cut" "$T/cut.gz"
exits 2 "no store named: exit 2" "$b" import "$T/good"
exits 2 "an unknown format: exit 2" "$b" import --store "$T/s" --format nonsense "$T/good"
exits 2 "the same file twice: exit 2" "$b" import --store "$T/s3" "$T/good" "$T/good"

# A trace that went on after it was imported is not counted twice.
for i in $(seq 70000); do echo "1,W,$((i * 4096)),4096,$((1577808000000000 + i * 1000))"; done >"$T/grown"
head -n 66000 "$T/grown" >"$T/before"
exits 0 "the beginning of a trace: exit 0" "$b" import --quiet --host h --store "$T/g" "$T/before"
exits 1 "the whole of it later: refused" "$b" import --host h --store "$T/g" "$T/grown"
like "$(cat "$T/err")" "holds a trace that begins as this one does and goes on differently" "and why"
is "$("$b" dump --store "$T/g" --format csv | sed 1d | wc -l)" 66000 "nothing of it is stored"
done_testing
