#!/usr/bin/env bash
# Where the IOPS of a machine go whose processors are all busy: in turn without an agent, with it, with its capture
# thread in other scheduling classes, and with the agent stopped, when only its programs in the kernel run. Needs root,
# BPF and a loop device. BENCH_PAIRS (6) rounds, BENCH_SECONDS (2) for each load.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
figure() { printf 'figure\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5"; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
rounds=${BENCH_PAIRS:-6} seconds=${BENCH_SECONDS:-2} agent=""
loop_new 512M
agent_end() { [ -z "$agent" ] || kill -9 "$agent" 2>/dev/null; }
at_exit agent_end
iops() {
	timeout 60 fio --name=load --filename="$loop_dev" --direct=1 --rw=randrw --bs=4k --ioengine=libaio \
		--iodepth=32 --numjobs=2 --norandommap --runtime="$seconds" --time_based --group_reporting \
		--output-format=json --output="$T/fio.json" >/dev/null 2>&1
	fio_get '.jobs[0].read.iops + .jobs[0].write.iops | floor'
}
wakes() { awk '/^voluntary/ { print $2 }' "/proc/$agent/task/$capture/status"; }
against() { echo "$(iops) $none" | awk '{ printf "%.4f\n", $1 / $2 }' >>"$T/$1"; }

iops >"$T/first" # the first load finds everything cold
for _ in $(seq "$rounds"); do
	none=$(iops)
	"$BUILD/blkcast-agent" --device "$loop_name" --sink "file:$T/store" --verbose 2>"$T/agent.err" &
	agent=$!
	for _ in $(seq 300); do
		grep -q 'tracing source=bpf' "$T/agent.err" && break
		sleep 0.1
	done
	capture=$(grep -l '^capture$' /proc/$agent/task/*/comm | cut -d/ -f5)
	before=$(wakes)
	against agent
	echo $((($(wakes) - before) / seconds)) >>"$T/wakes"
	renice -n 0 -p "$capture" >/dev/null
	against nice-0
	chrt -b -p 0 "$capture"
	against batch
	chrt -o -p 0 "$capture"
	renice -n 5 -p "$capture" >/dev/null
	against nice-5
	kill -STOP $agent
	against stopped
	kill -CONT $agent
	kill -INT $agent
	wait $agent
	agent=""
	rm -rf "$T/store"
done
for class in agent nice-0 batch nice-5 stopped; do
	figure "IOPS against none, $class, median of $rounds" "$(median <"$T/$class")" ratio "" \
		"$(sort -g "$T/$class" | paste -sd' ')"
done
figure "wake-ups of the capture thread" "$(median <"$T/wakes")" "a second" "" "under that load"
