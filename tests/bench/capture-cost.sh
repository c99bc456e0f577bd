#!/usr/bin/env bash
# What tracing costs: time in BPF a request, against biolatency and an empty program in the same
# run; IOPS in pairs; the agent's own CPU and memory. Needs root, BPF and a loop device.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
figure() { printf 'figure\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5"; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
pairs=${BENCH_PAIRS:-9}
seconds=${BENCH_SECONDS:-3}
loop_new 1G

load() { # SECONDS -> IOPS on standard output
	timeout 60 fio --name=load --filename="$loop_dev" --direct=1 --rw=randrw --bs=4k --ioengine=libaio \
		--iodepth=32 --numjobs=2 --norandommap --runtime="$1" --time_based --group_reporting \
		--output-format=json --output="$T/fio.json" >/dev/null 2>&1
	fio_get '.jobs[0].read.iops + .jobs[0].write.iops | floor'
}
cpu_ns() { # of the agent so far, by the scheduler's clock: ticks are too coarse for an idle one
	cat /proc/$agent_pid/task/*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}
agent_start() {
	"$BUILD/blkcast-agent" --device "$loop_name" --sink "file:$T/store" --verbose 2>"$T/agent.err" &
	agent_pid=$!
	for _ in $(seq 300); do # its start is none of the figures
		grep -q 'tracing source=bpf' "$T/agent.err" && break
		sleep 0.1
	done
	sleep 1
}
agent_stop() {
	kill -INT $agent_pid
	wait $agent_pid
}
# Time in all programs of a process, per run of the one that runs most often, once a request. Not by
# their names: others may trace at the same time.
bpf_ns() { # PID
	cat /proc/"$1"/fdinfo/* 2>/dev/null |
		awk '$1 == "run_time_ns:" { sum += $2 } $1 == "run_cnt:" && $2 > most { most = $2 }
			END { if (!most) exit 1; printf "%.1f\n", sum / most }'
}
busy_load() { # the load in the background, and a moment for it to settle
	load "$1" >"$T/iops" &
	load_pid=$!
	sleep 0.7
}

stats=$(sysctl -n kernel.bpf_stats_enabled)
stats_back() { sysctl -qw kernel.bpf_stats_enabled="$stats"; }
at_exit stats_back
sysctl -qw kernel.bpf_stats_enabled=1

# The two tools take turns, so that both see the same machine.
for _ in 1 2 3; do
	agent_start
	busy_load 3
	sleep 1.5
	bpf_ns $agent_pid >>"$T/ours"
	wait $load_pid
	agent_stop
	rm -rf "$T/store"
	if command -v biolatency >/dev/null; then
		biolatency >/dev/null 2>&1 &
		tool=$!
		sleep 1
		busy_load 3
		sleep 1.5
		bpf_ns $tool >>"$T/biolatency"
		wait $load_pid
		kill -INT $tool
		wait $tool
	fi
done
ours=$(median <"$T/ours")
figure "BPF time per request, attributed" "$(printf %.0f "$ours")" ns "<= 300" \
	"kernel.bpf_stats, all programs of the agent"
if [ -s "$T/biolatency" ]; then
	theirs=$(median <"$T/biolatency")
	figure "BPF time against biolatency's, same run" "$(awk "BEGIN { printf \"%.2f\", $ours / $theirs }")" \
		ratio "<= 0.5" "biolatency: $(printf %.0f "$theirs") ns"
fi
sysctl -qw kernel.bpf_stats_enabled=0

for i in $(seq "$pairs"); do
	none=$(load "$seconds")
	agent_start
	before=$(cpu_ns) # without what its start took
	with=$(load "$seconds")
	after=$(cpu_ns)
	rss=$(awk '/VmHWM/ { print $2 }' /proc/$agent_pid/status)
	requests=$(fio_get '.jobs[0].read.total_ios + .jobs[0].write.total_ios')
	agent_stop
	echo "$none $with" | awk '{ printf "%.4f\n", $2 / $1 }' >>"$T/ratio.agent"
	awk "BEGIN { printf \"%.1f\n\", ($after - $before) / $requests }" >>"$T/cpu"
	echo "$rss" >>"$T/rss"
	lost=$("$BUILD/blkcast" ls --store "$T/store" --json | jq '[.. | .lost? // empty | numbers] | add // 0')
	echo "$lost" >>"$T/lost"
	rm -rf "$T/store"
	if command -v biolatency >/dev/null; then
		timeout -s INT $((seconds + 4)) biolatency >/dev/null 2>&1 &
		tool=$!
		sleep 1
		echo "$none $(load "$seconds")" | awk '{ printf "%.4f\n", $2 / $1 }' >>"$T/ratio.biolatency"
		kill -INT $tool 2>/dev/null
		wait $tool
	fi
	echo "$none" >>"$T/none"
done
figure "IOPS with the agent against none, median of $pairs pairs" "$(median <"$T/ratio.agent")" ratio \
	">= 0.95" "none: $(median <"$T/none") IOPS"
[ ! -s "$T/ratio.biolatency" ] || figure "IOPS with biolatency against none, same pairs" \
	"$(median <"$T/ratio.biolatency")" ratio "" ""
figure "CPU of the agent per request, all of it" "$(median <"$T/cpu")" ns "<= 300" \
	"decode, characterize, encode, compress, store"
figure "peak resident memory of the agent" "$(awk '{ if ($1 > m) m = $1 } END { printf "%.1f", m / 1024 }' "$T/rss")" \
	MiB "<= 24" "at that load"
figure "requests lost at that load" "$(awk '{ s += $1 } END { print s + 0 }' "$T/lost")" requests "<= 0" ""

agent_start
before=$(cpu_ns)
sleep 10
after=$(cpu_ns)
figure "CPU of the idle agent" "$(awk "BEGIN { printf \"%.3f\", ($after - $before) / 1e9 / 10 * 100 }")" \
	% "<= 0.1" "10 s without a request"
agent_stop
