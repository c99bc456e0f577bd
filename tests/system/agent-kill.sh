#!/usr/bin/env bash
# The agent is killed fifty times while fio works on a loop device: what fio completed is what the
# segments hold plus what their ledgers explain.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

loop_new 256M
dev=$loop_name
field() { sed "s/.* $2=\([0-9]*\).*/\1/" <<<" $1"; }
completed() { # reads, writes, discards, flushes by the kernel
	awk '{ print $1 + $5 + $12 + $16 }' "/sys/block/$dev/stat"
}

agent=("$BUILD/blkcast-agent" --device "$dev" --sink "file:$T/store" --host here
	--window 100ms --segment-interval 50ms --verbose)

# The base: begun while nothing runs, and killed; an orderly end would begin the books anew.
start_agent() { # until it traces
	"${agent[@]}" >"$T/log" 2>&1 &
	pid=$!
	for _ in $(seq 400); do
		grep -q 'tracing source' "$T/log" && return
		sleep 0.02
	done
	fail "the agent starts" "$(cat "$T/log")"
}
start_agent
sleep 0.3
kill -9 $pid
wait $pid 2>/dev/null
before=$(completed)

fio --name=load --filename="$loop_dev" --rw=randrw --bs=4k --ioengine=libaio --iodepth=8 --direct=1 \
	--time_based --runtime=300 --rate_iops=10000,10000 --thinktime=0 \
	--output-format=json --output="$T/fio.json" >/dev/null 2>&1 &
fio=$!
sleep 1
kills=0
for i in $(seq 50); do
	start_agent
	sleep "0.$((20 + i * 7 % 50))"
	kill -9 $pid 2>/dev/null && kills=$((kills + 1))
	wait $pid 2>/dev/null
done
is "$kills" 50 "the agent is killed fifty times"
kill -INT $fio # the load outlasts the kills
wait $fio
# The last run takes over at rest, so that no completion is near its cutover.
"${agent[@]}" --duration 500ms 2>/dev/null
after=$(completed)
sum=$("$BUILD/tests/system/segment_sum" "$T/store")
note "$sum"
note "completed on the device: $((after - before))"
is "$(field "$sum" bad)" 0 "no segment is damaged"
is "$(field "$sum" gaps)" 0 "no gap is of unknown content"
holds "some died with the agent" [ "$(field "$sum" agent_died)" -gt 0 ]
holds "some completed while nobody watched" [ "$(field "$sum" not_watched)" -gt 0 ]
is "$(field "$sum" sum)" "$((after - before))" "segments and ledgers give what the device completed"

# Ended in order, the agent was not meant to watch what comes after.
rm -rf "$T/store"
"${agent[@]}" --duration 500ms 2>/dev/null
dd if="$loop_dev" of=/dev/null bs=4k count=100 iflag=direct status=none
"${agent[@]}" --duration 500ms 2>/dev/null
like "$("$BUILD/tests/system/segment_sum" "$T/store")" ' not_watched=0 ' \
	"after an orderly end nothing counts as not watched"
done_testing
