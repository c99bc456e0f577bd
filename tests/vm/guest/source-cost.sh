# In the guest, whose clock counts instructions: what reads of a loop device cost without an agent and under
# each source. Prints "SOURCE REQUESTS LOAD AGENT": instructions of the whole machine while they were
# read, and of the agent, until it has handed all on.
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
dd if=/dev/zero of=/tmp/disk bs=1M count=16 2>/dev/null
losetup /dev/loop0 /tmp/disk || exit 1
now() { awk '/^now at/ { print $3 }' /proc/timer_list; }
used() { cat /proc/"$1"/task/*/schedstat | awk '{ s += $1 } END { print s }'; }
one() {
	agent="" before=0 after=0
	if [ "$1" != none ]; then
		: >/tmp/log
		blkcast-agent --source "$1" --device loop0 --host h --sink file:/tmp/store --verbose >>/tmp/log 2>&1 &
		agent=$!
		until grep -q ' tracing ' /tmp/log; do usleep 20000; done
		usleep 600000
		before=$(used $agent)
	fi
	begin=$(now)
	dd if=/dev/loop0 of=/dev/null bs=4096 count=4096 iflag=direct 2>/dev/null
	end=$(now)
	if [ -n "$agent" ]; then
		usleep 600000
		after=$(used $agent)
		kill -TERM $agent
		wait $agent
		rm -rf /tmp/store
	fi
	echo "$1 4096 $((end - begin)) $((after - before))"
}
one none >/dev/null
for round in 1 2 3; do
	for source in none bpf blktrace tracefs diskstats; do one $source; done
done
