#!/usr/bin/env bash
# What the agent may still do once it runs: no capability, no new privileges, few system calls. That it
# needs none it does not have is shown by all that it does: spool, upload, store, metrics, screen,
# disks that come and go, programs attached late. And that it leaves nothing in the kernel.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
need setpriv "setpriv of util-linux is missing" setpriv --version
need strace "strace is missing" strace -V
need bpftool "bpftool is missing" bpftool version

# A sanitizer cannot look for leaks under strace or in a process that has changed its user.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
agents=""
stop_all() { for p in $agents; do kill -KILL "$p" 2>/dev/null; done; }
at_exit stop_all

loop_new 64M
dev=$loop_name
path=$loop_dev
chmod 755 "$T"
install -d -m 777 "$T/strace"
install -m 755 "$BUILD/blkcast-agent" "$BUILD/blkcast" "$T"
for d in spool store own serve; do install -d -o 65534 -g 65534 "$T/$d"; done
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
tracer=("${nobody[@]}" --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon
	--bounding-set=-all,+bpf,+perfmon)
# start LOG COMMAND...: sets pid, once it says that it traces
start() {
	local log=$1
	shift
	: >"$log"
	"$@" >"$log.out" 2>>"$log" &
	pid=$!
	agents="$agents $pid"
	for _ in $(seq 200); do
		grep -Eq ' tracing |blkcast-agent: ' "$log" && break
		sleep 0.05
	done
	sleep 0.3
}
port() { sed -n 's/.* listening .*port=\([0-9]*\).*/\1/p' "$1" | head -n 1; }
read_disk() { dd if="$path" of=/dev/null bs=4k count="$1" iflag=direct status=none; }
# status FIELD PID: the values that its threads have, each once
status() { sed -n "s/^$1:[[:space:]]*//p" /proc/"$2"/task/*/status | sort -u | paste -sd' '; }
# Calls that were not there, but for the one that the C library is meant to do without: the name
# service's cache behind a local socket.
refused() {
	# Those that are left out on purpose: agent/confine/syscall_filter.c says who gets on without them.
	grep -ah ENOSYS "$T"/strace/* | grep -v -e SECCOMP_SET_MODE -e 'socket(AF_UNIX' \
		-e '^socketpair(' -e '^getsockname(' -e '^uname(' -e '^mremap(' -e '^getpid(' -e 'FIONREAD' |
		cut -c1-120 | head -n 5
	rm -f "$T"/strace/*
}
seccomp="2 2"
! sanitized || seccomp="0 0"
confined() { # PID NAME
	is "$(status CapPrm "$1") $(status CapEff "$1") $(status CapInh "$1") $(status CapAmb "$1")" \
		"0000000000000000 0000000000000000 0000000000000000 0000000000000000" \
		"$2: no thread holds a capability"
	is "$(status NoNewPrivs "$1") $(status Seccomp "$1") $(status Seccomp_filters "$1")" "1 $seccomp" \
		"$2: every thread has no_new_privs and both filters"
}

"${nobody[@]}" "$T/blkcast" serve --store "$T/serve" --listen 127.0.0.1:0 >"$T/serve.out" 2>"$T/serve.err" &
server=$!
agents="$agents $server"
port=$(serve_port "$T/serve.err" $server)

# All that it does, as nobody with two capabilities, each of its calls looked at. The first sink's
# name is to be looked up; the second's does not exist, which makes the resolver ask all that it can.
{ cat /etc/hosts; echo "127.0.0.1 analyzer.test"; } >"$T/hosts"
with_hosts=(unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$T/hosts")
start "$T/agent.log" "${with_hosts[@]}" "${tracer[@]}" strace -ff -qq -o "$T/strace/calls" "$T/blkcast-agent" --source bpf \
	--sink "http://analyzer.test:$port" --insecure --sink https://analyzer.invalid:7118 --sink "file:$T/own" --spool "$T/spool" \
	--listen 127.0.0.1:0 --window 200ms --segment-interval 1s --verbose
agent=$(pgrep -P "$pid" blkcast-agent)
if [ -z "$agent" ]; then
	fail "the agent starts" "$(tail -n 3 "$T/agent.log")"
	done_testing
fi
agents="$agents $agent"
confined "$agent" "as nobody"
like "$(cat "$T/agent.log")" 'privileges uid=65534 capabilities=none' "the log says so"
read_disk 1000
loop_new 16M # a disk that was not there
read_disk 100
dd if="$loop_dev" of=/dev/null bs=4k count=50 iflag=direct status=none
sleep 0.6
curl -sf "http://127.0.0.1:$(port "$T/agent.log")/metrics" >"$T/metrics"
holds "metrics are served" grep -q "^blkcast_requests_total{device=\"$dev\",operation=\"read\"}" "$T/metrics"
sleep 2.2
kill -STOP "$agent"
kill -CONT "$agent"
loop_free
sleep 0.5
kill -INT "$agent"
wait "$pid"
is $? 1 "it ends, and the analyzer that does not exist is its exit status"
like "$(tail -n 1 "$T/agent.log")" "https://analyzer.invalid:7118: nothing could be delivered to it" "with the reason"
number "$(grep -ah '"PUT /v1/segments/' "$T"/strace/* | grep -c ^sendto) >= 4 && \
	$(grep -ah '^connect(' "$T"/strace/* | grep -c "htons($port)") <= 2" "segments go over one connection, or two"
is "$(refused)" "" "every call it made is one that is listed"
stored() { "$T/blkcast" ls --store "$1" --json | jq '[.. | .requests? // empty | if type == "object" then add else . end] | max // 0'; }
number "$(stored "$T/serve") >= 1150" "what it captured is with the analyzer"
number "$(stored "$T/own") >= 1150" "and in the folder"

# By root: the same, from all capabilities.
loop_new 16M
dev=$loop_name
path=$loop_dev
start "$T/root.log" "$T/blkcast-agent" --device "$dev" --source bpf --sink stdout: --verbose
confined "$pid" "as root"
is "$(status CapBnd "$pid")" 0000000000000000 "and no program it started could gain one"
capture=$(grep -l '^capture$' /proc/"$pid"/task/*/comm | cut -d/ -f5)
is "$(awk '{ print $19 }' "/proc/$pid/task/$capture/stat")" -10 "its capture thread still goes ahead of others"
links() { cat /proc/"$1"/fdinfo/* 2>/dev/null | grep -c '^link_id:'; }
before=$(links "$pid")
# Without statistics no submission is announced: the agent attaches two more of its programs.
echo 0 >"/sys/block/$dev/queue/iostats"
for _ in 1 2 3 4 5; do read_disk 20; sleep 0.3; done
is "$(($(links "$pid") - before))" 2 "programs are attached when needed, without a capability"
echo 1 >"/sys/block/$dev/queue/iostats"
kill -INT "$pid"
wait "$pid"

for source in tracefs diskstats; do
	if ! "$T/blkcast-agent" --doctor | grep -q "^source $source *yes"; then
		note "$source does not work here"
		continue
	fi
	start "$T/$source.log" strace -ff -qq -o "$T/strace/calls" "$T/blkcast-agent" --device "$dev" \
		--source $source --sink stdout: --window 200ms --verbose
	agent=$(pgrep -P "$pid" blkcast-agent)
	case $source in
	tracefs) confined "$agent" tracefs ;;
	diskstats) is "$(status CapEff "$agent")" 0000000000080004 \
		"diskstats: sees what other users' processes read and write, and nothing else" ;;
	esac
	read_disk 500
	sleep 0.5
	kill -INT "$agent"
	wait "$pid"
	is $? 0 "$source: it ends well"
	is "$(refused)" "" "$source: no call was refused"
	is "$(jq -s 'map(.requests.read) | add' "$T/$source.log.out")" 500 "$source: and every request is counted"
done
start "$T/see.log" "$T/blkcast-agent" --device "$dev" --source bpf --sink stdout: --see-files --verbose
is "$(status CapEff "$pid")" 0000000000080004 "--see-files keeps what it takes, and nothing else"
kill -INT "$pid"
wait "$pid"

if command -v script >/dev/null; then
	TERM=vt100 timeout 20 script -qec "stty rows 24 cols 100; strace -ff -qq -o $T/strace/calls $T/blkcast-agent --device $dev --source bpf --top --duration 6s" \
		/dev/null < <(sleep 2; printf p; sleep 1; printf c; sleep 1; printf d; sleep 2) >"$T/top.out" 2>&1 &
	shown=$!
	for _ in $(seq 40); do read_disk 50; sleep 0.1; done
	wait $shown
	like "$(cat "$T/top.out")" "q quits" "the screen is drawn"
	like "$(cat "$T/top.out")" "$dev" "and shows the disk"
	like "$(cat "$T/top.out")" " PID" "a key shows the processes"
	like "$(cat "$T/top.out")" "Cgroup" "and another the control groups"
	is "$(refused)" "" "on a terminal no call is refused"
fi

# What only a capability opens is refused at the start.
install -d -m 700 -o 65534 "$T/theirs"
exits 2 "a folder that only root's capabilities open is refused" timeout 20 "$T/blkcast-agent" \
	--device "$dev" --source bpf --sink "file:$T/theirs"
like "$(cat "$T/err")" "^blkcast-agent: sink: $T/theirs: Permission denied once capabilities are given up: expected a folder of the agent's own user$" \
	"in one line that says why"

# Killed, it leaves no program, map or link. Two of its programs more are attached by then.
start "$T/kill.log" "${tracer[@]}" "$T/blkcast-agent" --device "$dev" --source bpf --listen 127.0.0.1:0 --verbose
cat /proc/"$pid"/fdinfo/* >"$T/fdinfo"
ids() { sed -n "s/^$1_id:[[:space:]]*//p" "$T/fdinfo" | sort -un; }
rings() { # maps within the agent's maps
	for m in $(ids map); do
		bpftool -j map dump id "$m" 2>/dev/null | jq -r '.[]?.inner_map_id? // empty'
	done
}
maps="$(ids map) $(rings)"
progs=$(ids prog)
bpf_links=$(ids link)
pinned=$(find /sys/fs/bpf -mindepth 1 2>/dev/null | sort)
number "$(printf '%s\n' $progs | wc -l) >= 5 && $(printf '%s\n' $maps | wc -l) >= 3 && $(printf '%s\n' $bpf_links | wc -l) >= 3" \
	"while it runs it has programs, maps and links"
kill -KILL "$pid"
sleep 2
left() { # KIND IDS...
	local kind=$1 id
	shift
	for id in "$@"; do bpftool "$kind" show id "$id" >/dev/null 2>&1 && echo "$kind $id"; done
}
is "$(left prog $progs; left map $maps; left link $bpf_links)" "" "two seconds after SIGKILL none is left"
is "$(find /sys/fs/bpf -mindepth 1 2>/dev/null | sort)" "$pinned" "nothing was pinned"
done_testing
