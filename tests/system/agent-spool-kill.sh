#!/usr/bin/env bash
# The same through spool and HTTP: the agent is killed fifteen times while no analyzer answers; one that
# comes later gets all that is left, and the ledgers explain the rest. KILLS lengthens it; PAUSE_MS (250):
# a kill comes so long after the agent traces, and up to 450 ms more.
. tests/tap.sh
. tests/loop.sh
need_loop
need_bpf

loop_new 64M
dev=$loop_name
port=$((10000 + $$ % 20000)) # of its own, below those that the kernel hands out
agent=("$BUILD/blkcast-agent" --device "$dev" --sink "http://127.0.0.1:$port" --spool "$T/spool"
	--host here --window 100ms --segment-interval 50ms --verbose)
completed() { awk '{ print $1 + $5 + $12 }' "/sys/block/$dev/stat"; }
field() { sed "s/.* $2=\([0-9]*\).*/\1/" <<<" $1"; }

start_agent() { # until it traces
	"${agent[@]}" >"$T/log" 2>&1 &
	pid=$!
	for _ in $(seq 400); do
		grep -q 'tracing source' "$T/log" && return
		sleep 0.02
	done
	fail "the agent starts" "$(cat "$T/log")"
}
kill_agent() {
	kill -9 $pid
	wait $pid 2>/dev/null
}

# The base: begun while nothing runs, and killed; an orderly end would begin the books anew.
start_agent
sleep 0.3
kill_agent
before=$(completed)
fio --name=load --filename="$loop_dev" --rw=randrw --bs=4k --ioengine=libaio --iodepth=4 --direct=1 \
	--time_based --runtime=$((300 + 2 * ${KILLS:-15})) --rate_iops=5000,5000 --output="$T/fio" >/dev/null 2>&1 &
fio=$!
for i in $(seq "${KILLS:-15}"); do
	start_agent
	sleep "0.$(printf '%03d' $((${PAUSE_MS:-250} + i * 70 % 450)))"
	kill_agent
done
kill -INT $fio # the load outlasts the kills
wait $fio
holds "segments wait in the spool" [ "$(find "$T/spool" -name '*.seg' | wc -l)" -gt 5 ]
"$BUILD/blkcast" serve $serve_user --store "$T/store" --listen 127.0.0.1:$port >"$T/serve" 2>&1 &
serve=$!
stop_serve() { kill $serve 2>/dev/null; }
at_exit stop_serve
sleep 0.5
"${agent[@]}" --duration 3s 2>/dev/null
is "$(find "$T/spool" -name '*.seg' | wc -l)" 0 "the analyzer gets all of it"
after=$(completed)
sum=$("$BUILD/tests/system/segment_sum" "$T/store")
note "$sum"
is "$(field "$sum" gaps) $(field "$sum" bad)" "0 0" "nothing is damaged or unknown"
holds "some died with the agent" [ "$(field "$sum" agent_died)" -gt 0 ]
is "$(field "$sum" sum)" "$((after - before))" "segments and ledgers give what the device completed"
done_testing
