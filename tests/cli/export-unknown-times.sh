#!/usr/bin/env bash
# Every kind of known and unknown time survives an export and an import; zeros are no response times.
. tests/support/tap.sh
b=$BUILD/blkcast
python3 - "$T" <<'END'
import sys
T = sys.argv[1]
now = 133000000000000000
rows = range(1, 301)
def lines(name, line):
    with open(f'{T}/{name}', 'w') as f:
        f.writelines(line(i) for i in rows)
lines('total.msr', lambda i: f'{now + i * 20000},web,0,{"Read" if i % 3 else "Write"},{i * 8192},4096,{500 + i * 7}\n')
lines('total.systor', lambda i: f'{1700000000 + i / 100:.6f},{0.001 + i * 1e-6:.6f},{"R" if i % 3 else "W"},0,{i * 8192},4096\n')
lines('part.systor', lambda i: f'{1700000000 + i / 100:.6f},{f"{0.001 + i * 1e-6:.6f}" if i % 2 else ""},{"R" if i % 3 else "W"},0,{i * 8192},4096\n')
lines('atlas.disksim', lambda i: f'{"R" if i % 3 else "W"} Miss {i * 16} 8 {1000 + i}.5 2000.25\n')
lines('none.disksim', lambda i: f'{i}.25 0 {i * 16} 8 {i % 3 and 1}\n')
lines('both.map', lambda i: f'{i * 10},R,{i * 8192},4096,0.{i:03d},1.{i:03d}\n')
lines('queue.map', lambda i: f'{i * 10},R,{i * 8192},4096,0.{i:03d},\n')
lines('zero.map', lambda i: f'{i * 10},R,{i * 8192},4096,,0.000\n')
lines('some-zeros.map', lambda i: f'{i * 10},R,{i * 8192},4096,,{i % 2}\n')
lines('late.map', lambda i: f'{i * 10},R,{i * 8192},4096,,{int(i > 200)}\n')
# an issue (D) behind a known beginning, without a completion: the queue time is known
lines('issued.blkparse', lambda i: f'  8,0 0 {3 * i} 0.{i:03d}000000 1 Q R {i * 16} + 8 [-]\n  8,0 0 {3 * i + 1} 0.{i:03d}000000 1 G R {i * 16} + 8 [-]\n  8,0 0 {3 * i + 2} 0.{i:03d}400000 1 D R {i * 16} + 8 [-]\n')
# completions alone begin nothing that is known: dispatch and completion
lines('dispatch.blkparse', lambda i: f'  8,0 0 {2 * i} 0.{i:03d}000000 1 D R {i * 16} + 8 [-]\n  8,0 0 {2 * i + 1} 0.{i:03d}500000 1 C R {i * 16} + 8 [0]\n')
lines('begun.blkparse', lambda i: f'  8,0 0 {2 * i} 0.{i:03d}000000 1 Q R {i * 16} + 8 [-]\n  8,0 0 {2 * i + 1} 0.{i:03d}000000 1 G R {i * 16} + 8 [-]\n')
END
map=time=1:ms,op=2,offset=3,size=4,queue=5:ms,service=6:ms
profile() { "$b" characterize --json --store "$1" | jq -c '.[] | [.requests, .bytes, .response_time, .quality.untimed_requests, .quality.grade, .intensity.closed]'; }
for f in total.msr total.systor part.systor atlas.disksim none.disksim both.map queue.map zero.map some-zeros.map \
	late.map issued.blkparse \
	dispatch.blkparse begun.blkparse; do
	how=(--map "$map")
	[ "${f##*.}" = map ] || how=()
	"$b" import --quiet --host h "${how[@]}" --store "$T/$f.store" "$T/$f" >/dev/null 2>"$T/err" || fail "import of $f" "$(cat "$T/err")"
	for format in csv blkparse segments; do
		"$b" export --quiet --store "$T/$f.store" --format $format -o "$T/$f.$format"
		"$b" import --quiet --host h --format $format --store "$T/$f.$format.store" "$T/$f.$format" >/dev/null
		is "$(profile "$T/$f.$format.store")" "$(profile "$T/$f.store")" "$f: one profile after $format"
	done
done
fio() { "$b" export --quiet --store "$T/$1.store" --format fio-iolog -o "$T/$1.iolog" &&
	"$b" import --quiet --host h --store "$T/$1.iolog.store" "$T/$1.iolog" >/dev/null; }
fio total.msr
is "$("$b" characterize --json --store "$T/total.msr.iolog.store" | jq -c '.[0] | [.requests.read, .response_time.read.total.count, .quality.untimed_requests]')" \
	"[200,null,300]" "fio's log has no response times, and none is made up"

is "$("$b" characterize --json --store "$T/total.msr.csv.store" | jq '.[0].response_time.read.total.count')" 200 \
	"the response times of MSR come back"
is "$("$b" characterize --json --store "$T/zero.map.store" | jq -c '.[0] | [.response_time.read.total.count, .quality.grade]')" \
	'[null,"C"]' "a column of zeros is unknown"
is "$("$b" characterize --json --store "$T/some-zeros.map.store" | jq -c '.[0].response_time.read.total | [.count, .min_s]')" \
	'[300,0]' "zeros among others are times below the clock's step"
is "$("$b" characterize --json --store "$T/late.map.store" | jq -c '.[0] | [.response_time.read.total.count, .quality.untimed_requests]')" \
	'[100,200]' "zeros before the first time above 0 are unknown, all 200 of them"
like "$("$b" import --map "$map" --store "$T/again" "$T/late.map" 2>&1)" \
	"late.map: 200 of 300 reads and writes have no response time: .*one of 0 s before the first above 0 s" "and the import says so"
is "$("$b" dump --store "$T/issued.blkparse.store" --format csv | sed 1d | cut -d, -f9,10,18 | sort -u)" "0.000400000,," \
	"a dispatch without a completion keeps its queue time"
like "$("$b" ls --store "$T/part.systor.store")" "of the reads and writes 150 without response time .50 %" "ls counts reads and writes without response time"
is "$("$b" ls --json --store "$T/part.systor.store" | jq .hosts[0].without_response_time)" 150 "the same as JSON"
# Flushes without times count in neither command.
awk 'BEGIN { for (i = 0; i < 300; i++) printf "%d,%s,%d,%d,,%s\n", i * 10, i % 3 ? "R" : "F", i % 3 ? i * 8192 : 0, i % 3 ? 4096 : 0, i % 2 ? 5 : "" }' </dev/null >"$T/flushes.map"
is "$("$b" import --quiet --json --host h --map "$map" --store "$T/flushes" "$T/flushes.map" | jq -c '.. | .without_response_time? // empty') $("$b" ls --json --store "$T/flushes" | jq .hosts[0].without_response_time)" \
	"100 100" "import and ls count the same requests without response time"
like "$("$b" import --map "$map" --host h --store "$T/flushes" "$T/flushes.map" 2>&1)" \
	"flushes.map: 100 of 200 reads and writes have no response time" "of all reads and writes, without the flushes"
like "$("$b" ls --store "$T/flushes")" "of the reads and writes 100 without response time .50 %" "as ls says"
# A trace that does not tell reads from writes has both all the same.
for i in {1..300}; do echo "$((i * 37)) 8 0 $i"; done >"$T/undivided.lis"
like "$("$b" import --host h --store "$T/undivided" "$T/undivided.lis" 2>&1)" \
	"300 of 300 reads and writes have no response time: the format has no times" "reads or writes, unknown which: import"
is "$("$b" ls --json --store "$T/undivided" | jq .hosts[0].without_response_time)" 300 "ls --json"
like "$("$b" ls --store "$T/undivided")" "of the reads and writes 300 without response time .100 %" "and ls count them"
"$b" retain --quiet --store "$T/undivided" --retain-requests 1s >/dev/null
is "$("$b" ls --json --store "$T/undivided" | jq -c '.hosts[0] | [.without_response_time, .retention.summarized.requests]')" \
	"[300,300]" "also once they are only summarized"
printf '  8,0 0 %d 0.00%d 1 C R %d + 8 [0]\n' 1 1 8 2 2 16 >"$T/ends.blkparse"
exits 2 "completions alone: exit 2" "$b" import --store "$T/ends" "$T/ends.blkparse"
like "$(cat "$T/err")" "ends.blkparse: expected requests, there is none: it has completions .C. but no issues .D. or queues .Q." \
	"and says what is missing"
cat >"$T/untimed.csv" <<'END'
arrival_s,host,device,device_name,operation,sector,bytes,queue_s,device_s,tid,pid,flags,total_s
1789000000.1,h,8:0,sda,read,8,4096,,,7,7,0x2e00,
1789000000.2,h,8:0,sda,read,16,4096,0.001,0.002,7,7,0x2000,0.003
END
"$b" import --quiet --store "$T/untimed" "$T/untimed.csv" >/dev/null
is "$("$b" export --json --store "$T/untimed" --format blkparse -o "$T/untimed.blkparse" 2>"$T/err" | jq -c '[.requests, .left_out]') $(wc -l <"$T/untimed.blkparse")" \
	"[1,1] 4" "blkparse: a request none of whose times is known is left out and counted"
like "$(cat "$T/err")" "1 requests left out: none of their events has a known time" "and export says so"
for i in {1..300}; do echo "$((i * 37)) 8 0 $i"; done >"$T/order.lis"
"$b" import --quiet --store "$T/order" "$T/order.lis" >/dev/null
"$b" characterize --store "$T/order" >"$T/order.txt"
is "$(grep -c 1970 "$T/order.txt") $(grep -c 'throughput    -/s' "$T/order.txt")" "0 1" "an order without times has no instants and no throughput"
like "$(cat "$T/order.txt")" "The source tells an order of requests and no times" "and its grade says why"
is "$("$b" characterize --window 1s --store "$T/order" | grep -c 1970)" 0 "nor have its windows"
like "$("$b" import --map "$map" --store "$T/again" "$T/zero.map" 2>&1)" \
	"zero.map: 300 of 300 reads and writes have no response time: all that the trace tells are 0 s" "and the import says so"
like "$("$b" import --store "$T/again" "$T/none.disksim" 2>&1)" \
	"300 of 300 reads and writes have no response time: the trace does not tell it" "one line says how many have no end, and why"
is "$(find "$T/again" -type d ! -perm 700 -o -type f ! -perm 600 ! -name "catalog*")" "" "a store that an import makes is its owner's alone"
done_testing
