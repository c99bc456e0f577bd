#!/usr/bin/env bash
# The law by which Linux throttles write-back (analyzer/replay/wbt.h) against the kernel that runs: pages are made dirty,
# they are written back, and of these requests hardly any may be recorded that the law does not admit, while many have
# waited where it says so.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
need python3 "no python3" command -v python3
need jq "jq is not installed" command -v jq
# On a file past the page cache, so that a write takes its time.
loop_room=$T
loop_new 96M
losetup --direct-io=on "$loop_dev" 2>/dev/null
latency=/sys/block/$loop_name/queue/wbt_lat_usec
need wbt "the kernel does not throttle write-back of a loop device" [ -w "$latency" ]
throttled=$BUILD/tests/system/throttled

# record USEC: pages are made dirty and written back 9 times, where reads may take that long; 0 turns the throttle off.
# Each second page is dirty, so that no two of them are one request.
record() {
	echo "$1" >"$latency"
	rm -rf "$T/store"
	agent_start store "$loop_dev"
	for round in 1 2 3 4 5 6 7 8 9; do
		python3 - "$loop_dev" "$round" <<-'PY'
			import os, sys
			disk = os.open(sys.argv[1], os.O_WRONLY)
			for page in range(0, 4000, 2):
			    os.pwrite(disk, sys.argv[2].encode() * 4096, page * 4096)
		PY
		sync
	done
	agent_stop
	# The plan leaves out requests whose end was not seen, which a busy machine has.
	read -r state waits over all < <("$throttled" "$T/store")
	written=$("$BUILD/blkcast" characterize --store "$T/store" --json -q | jq '.[0] | .requests.write + .lost')
}

# On a busy machine the kernel's own timer is late, and its windows are not those of the law. Five recordings in a row
# are not all like that.
for _ in 1 2 3 4 5; do
	record 75000
	[ "$state" != on ] || break
done
is "$state" on "the law that the recording follows is found"
note "$written written or lost; $over of $all requests are beyond it"
number "$waits >= 3" "some requests were held back: $waits of $all"
number "$written >= 18000" "all pages were written back"
record 0
is "$state" off "without the throttle the recording does not follow it"
number "$written >= 18000" "all pages were written back then too"
done_testing
