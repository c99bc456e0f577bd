# loop.sh: loop devices on memory for shell tests; source it after tap.sh.
#
#	loop_new 64M		sets loop_dev (/dev/loopN) and loop_file; removed at exit
#	agent_start STORE DEVICE, agent_stop	record a device
#	capture_start ARGS...	starts build/tests/system/capture in the background
#	capture_stop		ends it; its output is in $T/capture, $totals its last line
#	total NAME		a number out of $totals
#	fio_run ARGS...		fio with JSON into $T/fio.json
#	fio_get EXPRESSION	a jq expression on it

loops=""
loop_room=/dev/shm
[ -w $loop_room ] || loop_room=$T

loop_new() {
	loop_file=$(mktemp "$loop_room/blkcast-loop.XXXXXX")
	truncate -s "$1" "$loop_file"
	# Backed by pages that exist, so that no test measures their allocation.
	dd if=/dev/zero of="$loop_file" bs=1M count=$(($(stat -c %s "$loop_file") >> 20)) \
		conv=notrunc status=none
	loop_dev=$(losetup --show -f "$loop_file") || return 1
	loop_name=${loop_dev#/dev/}
	loops="$loops $loop_dev:$loop_file"
	# A device keeps what the test that had it before has set.
	echo none >"/sys/block/$loop_name/queue/scheduler"
	echo 0 >"/sys/block/$loop_name/queue/nomerges"
	echo 1 >"/sys/block/$loop_name/queue/iostats"
	echo 0 >"/sys/block/$loop_name/queue/max_sectors_kb" 2>/dev/null || # the kernel's own, since 6.4
		cat "/sys/block/$loop_name/queue/max_hw_sectors_kb" >"/sys/block/$loop_name/queue/max_sectors_kb"
}

loop_free() {
	local l
	for l in $loops; do
		losetup -d "${l%%:*}" 2>/dev/null
		rm -f "${l#*:}"
	done
	loops=""
}
at_exit loop_free

need_loop() {
	need loop "a loop device cannot be made" eval 'loop_new 1M && loop_free'
}
need_bpf() {
	need bpf "BPF programs cannot be loaded" timeout 20 "$BUILD/tests/system/capture" 0
}

# agent_start STORE DEVICE: an agent records the device into $T/STORE, from the time when this returns
agent_start() {
	"$BUILD/blkcast-agent" --device "$2" --sink "file:$T/$1" --verbose 2>"$T/agent.err" &
	agent_pid=$!
	for _ in $(seq 1000); do
		grep -q 'tracing source' "$T/agent.err" && break
		sleep 0.02
	done
}

# agent_stop: it writes what it has, and ends
agent_stop() {
	sleep 0.5
	kill -INT $agent_pid
	wait $agent_pid
}

capture_start() {
	rm -f "$T/capture.err" # an old one would say that this one is ready
	"$BUILD/tests/system/capture" "$@" >"$T/capture" 2>"$T/capture.err" &
	capture_pid=$!
	for _ in $(seq 200); do
		grep -q ready "$T/capture.err" 2>/dev/null && return
		sleep 0.05
	done
	fail "the capture starts" "$(cat "$T/capture.err")"
}

capture_stop() {
	sleep "${1:-0.2}"
	kill -INT $capture_pid 2>/dev/null
	wait $capture_pid
	totals=$(tail -n 1 "$T/capture")
}

total() { printf '%s\n' "$totals" | tr ' ' '\n' | sed -n "s/^$1=//p"; }

fio_run() {
	timeout 120 fio --name=test --filename="$loop_dev" --direct=1 --ioengine=libaio --group_reporting \
		--randseed=7 --output-format=json --output="$T/fio.json" "$@" >"$T/fio.out" 2>&1 ||
		fail "fio runs" "$(tail -n 3 "$T/fio.out")"
}
fio_get() { sed -n '/^{/,$p' "$T/fio.json" | jq -r "$1"; }
