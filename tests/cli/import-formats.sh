#!/usr/bin/env bash
# Literal lines of every text format, and what must come of them.
. tests/support/tap.sh
b=$BUILD/blkcast

# import FILE [OPTION...]: its requests as operation,sector,bytes,device,host
import() {
	local file=$1
	shift
	rm -rf "$T/s"
	"$b" import --quiet --store "$T/s" "$@" "$T/$file" >"$T/out" 2>"$T/err" || { cat "$T/err"; return; }
	"$b" dump --store "$T/s" --format csv | sed 1d | cut -d, -f1,2,4,6-10
}

printf '%s\n' '128166372003061629,usr,0,Read,10995532800,16384,30123' \
	'128166372016382155,usr,0,Write,2517696512,4096,1000' >"$T/usr_0.csv"
is "$(import usr_0.csv)" "$(printf '%s\n' \
	'1172163600.306162900,usr,disk0,read,21475650,16384,,' \
	'1172163601.638215500,usr,disk0,write,4917376,4096,,')" "MSR: FILETIME, bytes, host and disk"
is "$("$b" dump --store "$T/s" --json | sed 's/.*total_s":\([^,]*\),.*/\1/' | tr '\n' ' ')" \
	"0.003012300 0.000100000 " "MSR: response times in units of 100 ns"

printf '%s\n' '419,W,8792731648,16384,1577808000000626' '725,R,59110326272,360448,1577808000001545' \
	>"$T/io_traces.csv"
is "$(import io_traces.csv --host ali)" "$(printf '%s\n' \
	'1577808000.000626000,ali,vd419,write,17173304,16384,,' \
	'1577808000.001545000,ali,vd725,read,115449856,360448,,')" "Alibaba: microseconds and bytes"

printf '%s\n' '1538323200,12910952,128,0,1063' '1538323200,6338688,8,1,1627' >"$T/cbs.csv"
is "$(import cbs.csv --host cbs)" "$(printf '%s\n' \
	'1538323200.000000000,cbs,vol1063,read,12910952,65536,,' \
	'1538323200.000000000,cbs,vol1627,write,6338688,4096,,')" "Tencent: seconds, sectors, 0 is a read"

printf '%s\n' '0,20941264,8192,W,0.551706' '' '1,3698,512,r,0.554041,extra,fields' >"$T/Financial.spc"
is "$(import Financial.spc)" "$(printf '%s\n' \
	'0.551706000,Financial,asu0,write,20941264,8192,,' \
	'0.554041000,Financial,asu1,read,3698,512,,')" "SPC: blank lines and further fields"

printf '%s\n' 'Timestamp,Response,IOType,LUN,Offset,Size' \
	'1455592320.006903000,0.000250,R,3,1024,512' '1455592320.1,,W,2,4096,8192' >"$T/lun.csv"
is "$(import lun.csv --host vdi)" "$(printf '%s\n' \
	'1455592320.006903000,vdi,lun3,read,2,512,,' \
	'1455592320.100000000,vdi,lun2,write,8,8192,,')" "SYSTOR'17: an empty response time"
is "$("$b" dump --store "$T/s" --json | sed 's/.*total_s":\([^,]*\),.*/\1/' | tr '\n' ' ')" \
	"0.000250000 null " "and it stays unknown"

printf '%s\n' '0 0 303567 7 0' '26214000 1 240840 6 1' >"$T/x.ssdsim"
is "$(import x.ssdsim)" "$(printf '%s\n' '0.000000000,x,dev0,write,303567,3584,,' \
	'0.026214000,x,dev1,read,240840,3072,,')" "SSDSim: nanoseconds, 1 is a read"
printf '%s\n' '0.5 0 303567 7 1' '26.214 1 240840 6 0' >"$T/x.disksim"
is "$(import x.disksim)" "$(printf '%s\n' '0.000500000,x,dev0,read,303567,3584,,' \
	'0.026214000,x,dev1,write,240840,3072,,')" "DiskSim: milliseconds, bit 0 is a read"

printf '%s\n' 'fio version 2 iolog' '/dev/sda add' '/dev/sda open' '/dev/sda read 4096 512' \
	'/dev/sda wait 250' '/dev/sda write 8192 4096' '/dev/sda datasync 0 0' '/dev/sda wait 150' \
	'/dev/sda trim 0 65536' '/dev/sda close' >"$T/v2.log"
is "$(import v2.log)" "$(printf '%s\n' '0.000000000,v2,sda,read,8,512,,' \
	'0.000250000,v2,sda,write,16,4096,,' '0.000250000,v2,sda,flush,0,0,,' \
	'0.000400000,v2,sda,discard,0,65536,,')" "fio iolog 2: waits add up"
printf '%s\n' 'fio version 3 iolog' '0 f add' '10 f open' '20 f write 512 1024' \
	'1500 f read 0 512' '1600 f close' >"$T/v3.log"
is "$(import v3.log)" "$(printf '%s\n' '0.000020000,v3,f,write,1,1024,,' \
	'0.001500000,v3,f,read,0,512,,')" "fio iolog 3: microseconds from the start"

printf '%s\n' 'when;what;where;long;took;disk' '2.5;R;7;8;0.25;sdx' '3e3;"W";15;1;;sdx' >"$T/own.csv"
is "$(import own.csv --host h --map \
	'delimiter=semicolon,time=when:ms,op=2,offset=3:sectors,size=4:sectors,response=5:ms,device=disk')" \
	"$(printf '%s\n' '0.002500000,h,sdx,read,7,4096,,' '3.000000000,h,sdx,write,15,512,,')" \
	"CSV by a map: names, numbers, units, quotes"
printf '1\t0\t512\t1\n2\t512\t512\t0\n' >"$T/tabs"
is "$(import tabs --map 'delimiter=tab,time=1:us,offset=2,size=3,op=4:read1')" "$(printf '%s\n' \
	'0.000001000,tabs,tabs,read,0,512,,' '0.000002000,tabs,tabs,write,1,512,,')" \
	"CSV without a heading"
is "$(import tabs --map 'delimiter=tab,time=1:us,offset=2,size=3')" "$(printf '%s\n' \
	'0.000001000,tabs,tabs,unknown,0,512,,' '0.000002000,tabs,tabs,unknown,1,512,,')" \
	"CSV without operations: not known, not reads"
exits 2 "a map with an unknown field: exit 2" "$b" import --store "$T/s2" --map when=1 "$T/tabs"
like "$(cat "$T/err")" "^blkcast import: columns: expected time, offset, .*got 'when'$" "and it is named"

gzip -c "$T/usr_0.csv" >"$T/usr_1.csv.gz"
zstd -q "$T/usr_0.csv" -o "$T/usr_2.csv.zst"
sed 's/,usr,0,/,usr,1,/' "$T/usr_0.csv" | gzip >"$T/usr_3.csv.gz"
is "$(import usr_1.csv.gz)" "$(import usr_0.csv)" "gzip is read"
is "$(import usr_2.csv.zst)" "$(import usr_0.csv)" "zstd is read"
is "$(import usr_0.csv "$T/usr_3.csv.gz" | cut -d, -f1,3 | tr '\n' ' ')" \
	"1172163600.306162900,disk0 1172163600.306162900,disk1 1172163601.638215500,disk0 1172163601.638215500,disk1 " \
	"several files are merged by time"
(cd "$T/s" && find segments -type f -exec md5sum {} + | sort) >"$T/one"
like "$(cat "$T/one")" "^[0-9a-f]{32} .*segments" "there is a segment"
import usr_3.csv.gz "$T/usr_0.csv" >/dev/null
is "$(cd "$T/s" && find segments -type f -exec md5sum {} + | sort)" "$(cat "$T/one")" \
	"whatever their order: the same bytes"
exits 0 "standard input: exit 0" "$b" import --quiet --store "$T/in" - <"$T/usr_0.csv"
is "$("$b" dump --store "$T/in" --format csv | wc -l)" 3 "and its requests are there"
exits 0 "once more: exit 0" "$b" import --store "$T/s" "$T/usr_0.csv" "$T/usr_3.csv.gz"
like "$(cat "$T/err")" "1 of 1 segments were in the store already" "the same again is said"
is "$("$b" dump --store "$T/s" --format csv | sed 1d | wc -l)" 4 "and not counted twice"
like "$("$b" import --json --store "$T/s" "$T/usr_0.csv" "$T/usr_3.csv.gz")" \
	'^\{"schema":"blkcast.import/1","requests":4,.*"repeated":1.*"clock_resolution_s":' "JSON"
is "$("$b" import --list-formats | awk '{ print $1 }' | sort | tr '\n' ' ' | grep -c 'msr')" 1 "the list of formats"
done_testing
