#!/usr/bin/env bash
# Under a load above --max-overhead the agent sheds the trace, then all but counters, and comes back
# when the load has gone; what was shed is in the ledger.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

loop_new 256M
dev=$loop_name
completed() { awk '{ print $1 + $5 + $12 + $16 }' "/sys/block/$dev/stat"; }
field() { sed "s/.* $2=\([0-9]*\).*/\1/" <<<" $1"; }
load() { # SECONDS, IOPS of each direction
	timeout 60 fio --name=load --filename="$loop_dev" --rw=randrw --bs=4k --ioengine=libaio \
		--iodepth=16 --direct=1 --time_based --runtime="$1" --rate_iops="$2,$2" \
		--output-format=json --output="$T/fio.json" >/dev/null 2>&1
}

"$BUILD/blkcast-agent" --device "$dev" --sink "file:$T/store" --host here --window 500ms \
	--segment-interval 1s --max-overhead 1.5% --verbose --spool "$T/spool" 2>"$T/log" &
pid=$!
for _ in $(seq 400); do
	grep -q 'tracing source=bpf' "$T/log" && break
	sleep 0.05
done
sleep 0.5
before=$(completed)
load 2 100
load 6 40000
# Little to do, until all is captured again: how soon hangs on what else the machine does.
for _ in $(seq 20); do
	load 3 20
	grep -o 'overhead level=[a-z_]*' "$T/log" | tail -n 1 | grep -q full && break
done
# An idle second, so that the last look finds nothing to shed.
sleep 1.5
kill -INT $pid
wait $pid
after=$(completed)
note "$(grep -o "overhead level=[a-z_]* cpu_percent=[0-9.]*" "$T/log" | cut -d' ' -f2- | tr '\n' ' ')"
holds "the trace is shed" grep -q 'level=no_trace' "$T/log"
holds "then all but counters" grep -q 'level=counters' "$T/log"
is "$(grep -o 'level=[a-z_]*' "$T/log" | tail -n 1)" "level=full" "all is captured again in the end"

sum=$("$BUILD/tests/system/segment_sum" "$T/store")
note "$sum"
holds "what was shed is in the ledger" [ "$(field "$sum" shed)" -gt 0 ]
is "$(field "$sum" sum)" "$((after - before))" "segments and ledgers give what the device completed"
is "$(sed -n 's/.*ended: \([0-9]*\) requests captured, \([0-9]*\) lost.*/\1 + \2/p' "$T/log" | bc)" \
	"$((after - before))" "and so do the captured and the lost ones of the last line"
"$BUILD/blkcast" characterize --store "$T/store" --json -q >"$T/profile.json"
is "$(jq '.[0].requests | .read + .write' "$T/profile.json")" "$(field "$sum" requests)" \
	"the requests that were kept are characterized"
done_testing
