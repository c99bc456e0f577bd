#!/usr/bin/env bash
# blkcast qpn calibrate: tables that cannot be, each refused in one line that names file, line and what was expected.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
blkcast=$BUILD/blkcast
head=type,pattern,clients,size_bytes,file_set_bytes,response_time_s,response_sd_s,histogram
good=read,random,10,4096,1g,1e-3,,

# refused WHAT MESSAGE HEADER ROW...: by --model hardware, after a line that is good; T.csv stands for the file
refused() {
	local what=$1 message=$2
	shift 2
	printf '%s\n' "$@" >"$T/t.csv"
	exits 2 "$what is refused" "$blkcast" qpn calibrate --model "${model:-hardware}" "$T/t.csv" -o "$T/x.json"
	is "$(cat "$T/err")" "blkcast qpn: $T/t.csv$message" "$what: in one line"
}

refused "a column too few" ": no column 'response_time_s'; there are type, clients, size_bytes, file_set_bytes" \
	type,clients,size_bytes,file_set_bytes read,1,4096,1g
refused "a hardware table without file sets" ": no column 'file_set_bytes'; there are type, clients, size_bytes, response_time_s" \
	type,clients,size_bytes,response_time_s read,1,4096,1
refused "a column twice" ":1: two columns are named 'type'" "$head,type" "$good,read"
refused "a short row" ":3: row 2: expected 8 cells, got 3" $head $good read,random,10
refused "an empty table" ": no row is left" $head
cell() { refused "$1" ":3: $2" $head $good "$3"; }
cell "a negative time" "response_time_s: expected a number above 0, got -0.001" read,random,10,4096,1g,-1e-3,,
cell "a time of zero" "response_time_s: expected a number above 0, got 0" read,random,10,4096,1g,0,,
cell "a time that is none" "row 2, column 'response_time_s': expected a finite number, got 'nan'" read,random,10,4096,1g,nan,,
cell "an infinite time" "row 2, column 'response_time_s': expected a finite number, got 'inf'" read,random,10,4096,1g,inf,,
cell "a time with a unit" "row 2, column 'response_time_s': expected a number, got '1ms'" read,random,10,4096,1g,1ms,,
cell "a missing time" "row 2, column 'response_time_s': expected a number, got a missing cell ''" read,random,10,4096,1g,,,
cell "a negative spread" "response_sd_s: expected a number of 0 or more, got -1" read,random,10,4096,1g,1e-3,-1,
cell "no client" "clients: expected a number above 0, got 0" read,random,0,4096,1g,1e-3,,
cell "half a client" "clients: expected a whole number up to 100000, got '1.5'" read,random,1.5,4096,1g,1e-3,,
cell "too many clients" "clients: expected a whole number up to 100000, got '1e9'" read,random,1e9,4096,1g,1e-3,,
cell "a negative size" "size_bytes: expected a size above 0, got '-4096'" read,random,10,-4096,1g,1e-3,,
cell "a missing file set" "file_set_bytes: expected a size above 0, got ''" read,random,10,4096,,1e-3,,
cell "another type" "type: expected read or write, got 'erase'" erase,random,10,4096,1g,1e-3,,
cell "another pattern" "pattern: expected random or sequential, got 'mixed'" read,mixed,10,4096,1g,1e-3,,
for h in 5 5: 5:x :5 '5:1;6:2' 5:-1 '5:1 x' 5:1:2 '-400:5 -401:3' '-400:5 -400:5' 99999:1 5:99999999999999999999; do
	cell "the histogram $h" "histogram: expected ascending BUCKET:COUNT of formats/histogram.h, got '$h'" "read,random,10,4096,1g,1e-3,,$h"
done
cell "a histogram of nothing" "histogram: expected a count above 0 somewhere, got '5:0'" "read,random,10,4096,1g,1e-3,,5:0"
refused "a class twice in a configuration" ":3: the same class as in line 2 of the same configuration" \
	"configuration,$head" "a,$good" "a,$good"

# What is too little says what is needed.
few=": random reads: runs of 2 clients or more: more levels of clients and sizes are needed, at least 5 runs in all and 3 file sets beyond the cache"
refused "one run" "$few" $head read,random,1,4096,1g,1e-3,1e-4, $good
model=cache
refused "a cache without a run of one client" ": reads alone: no run of one client: one with its response_sd_s is needed for the spread of service times" \
	$head $good
model=mixed
refused "a mix without reads and writes alone" ": reads alone: no run of one client: one with its response_sd_s is needed for the spread of service times" \
	"configuration,$head" "a,read,random,10,4096,1g,1e-3,," "a,write,random,10,4096,1g,1e-3,,"
holds "no model is written" test ! -e "$T/x.json"
done_testing
