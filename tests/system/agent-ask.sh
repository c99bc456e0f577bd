#!/usr/bin/env bash
# What makes a real agent with --hindsight send the requests that it keeps: SIGUSR1, a window above --hindsight-p99 and
# `blkcast ask`. Whatever was asked, completed = sent + kept back + lost.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
need fio "fio is missing" have fio
b=$BUILD/blkcast
server="" agent=""
stop_all() { kill -9 $server $agent 2>/dev/null; wait; }
at_exit stop_all
loop_new 16M
"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 2>"$T/serve" &
server=$!
url=http://127.0.0.1:$(serve_port "$T/serve" "$server")

# begin HOST OPTION...: an agent that watches the loop device
begin() {
	host=$1
	"$BUILD/blkcast-agent" --device "$loop_name" --source bpf --host "$host" --window 300ms --segment-interval 300ms \
		--spool "$T/spool-$host" --sink "$url" "${@:2}" 2>"$T/agent" &
	agent=$!
	wait_until 60 grep -q ' recording ' "$T/agent" || fail "the agent of $host starts" "$(cat "$T/agent")"
}
field() { "$BUILD/tests/system/segment_sum" "$T/store/segments/$host" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$1=//p"; }
has_sent() { number_of=$(field requests) && [ "${number_of:-0}" -ge "$1" ]; }
balances() { # NAME
	local captured sum
	kill "$agent" && wait "$agent"
	agent=""
	captured=$(sed -n 's/.* ended: \([0-9]*\) requests captured.*/\1/p' "$T/agent")
	sum=$(field sum)
	number "${captured:-0} >= 400 && ${sum:-0} == $captured" "$1: completed = sent + kept back + lost"
}

begin silent --hindsight 10m --hindsight-p99 1000s
fio_run --rw=randread --bs=4k --number_ios=400
sleep 1
is "$(field requests)" 0 "while nobody asks, the requests stay on the machine"
balances "an agent that nobody asked"
number "$(field requests) == 0 && $(field kept_back) >= 400" "and all of them were kept back"

begin signalled --hindsight 10m
fio_run --rw=randread --bs=4k --number_ios=400
kill -USR1 "$agent"
holds "SIGUSR1 makes the requests before it be sent" wait_until 60 has_sent 400
balances "an agent that got SIGUSR1"

# A percentile has ten values beyond it: a window of fewer than 1000 reads has no 99th.
begin slow --hindsight 10m --hindsight-p99 1us --window 2s
fio_run --rw=randread --bs=4k --iodepth=8 --number_ios=8000
holds "a window above --hindsight-p99 does the same" wait_until 60 has_sent 400
balances "an agent with a slow window"

"$b" ask asked --store "$T/store" --minutes 3 >"$T/out" 2>&1
begin asked --hindsight 1s
fio_run --rw=randread --bs=4k --rate_iops=200 --number_ios=600
holds "blkcast ask makes the agent send what it has" wait_until 60 has_sent 1
balances "an agent that its analyzer asked"
done_testing
