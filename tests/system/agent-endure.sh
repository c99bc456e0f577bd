#!/usr/bin/env bash
# Agent and `blkcast serve` under a steady load: no descriptor is kept, no request is lost or doubled.
# ENDURE_SECONDS (8) and ENDURE_IOPS (2000) make it the hour at full load of `make endurance`, which looks
# at memory as well; with BUILD=build/tsan or build/asan a report of the sanitizer fails it.
. tests/tap.sh
. tests/loop.sh
need_loop
need_bpf
seconds=${ENDURE_SECONDS:-8} iops=${ENDURE_IOPS:-2000}
max_growth_kib=64

loop_new 256M
dev=$loop_name
completed() { awk '{ print $1 + $5 + $12 + $16 }' "/sys/block/$dev/stat"; }
field() { sed "s/.* $2=\([0-9]*\).*/\1/" <<<" $1"; }
descriptors() { find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l; }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
stop_all() { kill -9 $agent $serve $fio 2>/dev/null; }
agent="" serve="" fio=""
at_exit stop_all

"$BUILD/blkcast" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 >"$T/serve.out" 2>"$T/serve" &
serve=$!
for _ in $(seq 400); do
	port=$(sed -n 's/^blkcast serve: port \([0-9]*\).*/\1/p' "$T/serve")
	[ -n "$port" ] && break
	sleep 0.05
done
"$BUILD/blkcast-agent" --device "$dev" --sink "http://127.0.0.1:$port" --spool "$T/spool" --host here \
	--window 1s --segment-interval 500ms --verbose 2>"$T/log" &
agent=$!
for _ in $(seq 1200); do
	grep -q 'tracing source=bpf' "$T/log" && break
	sleep 0.05
done
before=$(completed)
agent_fds=$(descriptors $agent)
timeout $((seconds + 120)) fio --name=load --filename="$loop_dev" --rw=randrw --bs=4k --ioengine=libaio \
	--iodepth=16 --direct=1 --time_based --runtime="$seconds" --rate_iops=$((iops / 2)),$((iops / 2)) \
	--output="$T/fio" >/dev/null 2>&1 &
fio=$!
sleep $((seconds / 5))
agent_kib=$(resident $agent) serve_kib=$(resident $serve)
# What is resident by then, ten times, for a look at how it grows.
for _ in 1 2 3 4 5 6 7 8; do
	sleep $((seconds / 12))
	sizes="${sizes:-} $(resident $agent)/$(resident $serve)"
done
agent_growth=$(($(resident $agent) - agent_kib)) serve_growth=$(($(resident $serve) - serve_kib))
wait $fio
fio=""
# Idle: nothing is under way, what is spooled has been sent.
for _ in $(seq 200); do
	[ "$(find "$T/spool" -name '*.seg' | wc -l)" = 0 ] && break
	sleep 0.1
done
note "$seconds s, $iops requests/s wanted; resident agent $agent_kib KiB, $agent_growth more, serve $serve_kib KiB," \
	"$serve_growth more:$sizes"
number "$(descriptors $agent) <= $agent_fds + 8" "the agent has at most 8 descriptors above idle"
# A sanitizer keeps its own books in memory.
if [ "$seconds" -ge 600 ] && ! ldd "$BUILD/blkcast-agent" | grep -qE 'lib[at]san'; then
	number "$agent_growth <= $max_growth_kib" "the agent does not grow by more than $max_growth_kib KiB"
fi
kill -INT $agent
status=0
wait $agent || status=$?
agent=""
is $status 0 "the agent ends in order"
after=$(completed)
kill $serve
status=0
wait $serve || status=$?
serve=""
is $status 0 "so does serve"
sum=$("$BUILD/tests/system/segment_sum" "$T/store")
note "$sum"
is "$(field "$sum" bad)" 0 "no segment is damaged"
is "$(field "$sum" sum)" "$((after - before))" "segments and ledgers give what the device completed"
is "$(grep -c 'Sanitizer' "$T/log" "$T/serve" | tr '\n' ' ')" "$T/log:0 $T/serve:0 " "no sanitizer has reported anything"
done_testing
