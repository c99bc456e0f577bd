# Sourced in the guest as /vm/reads.sh, where $port is that of the analyzer on the host.
#
#	trace HOST	starts an agent that streams there as HOST, and waits until it traces; it is $agent
#	load READS	so many more of the 4 KiB of /dev/vda, each once, in order; $n are read
#	stage NAME	tells the host, on the console
#	finish		ends the agent once its spool is empty; leaves its status, and $n in /out/read
# A program that is built with a sanitizer ends at the first report.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
n=0
trace() {
	mount -t debugfs debugfs /sys/kernel/debug
	mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
	blkcast-agent --device vda --host "$1" --sink "http://10.0.2.2:$port" --insecure --spool /tmp/spool \
		--window 200ms --segment-interval 300ms --verbose >/out/agent.log 2>&1 &
	agent=$!
	for _ in $(seq 300); do
		grep -q ' tracing ' /out/agent.log && break
		usleep 100000
	done
}
load() {
	local end=$((n + $1))
	while [ $n -lt $end ]; do
		dd if=/dev/vda of=/dev/null bs=4k skip=$n count=1 iflag=direct 2>/dev/null
		n=$((n + 1))
	done
}
stage() { echo "stage: $1" >/dev/console; }
# A connection that was restored leads nowhere: it is given up after a minute.
finish() {
	for _ in $(seq 120); do
		ls /tmp/spool | grep -q seg || break
		sleep 1
	done
	ls -l /tmp/spool >/out/spool
	kill -TERM $agent
	wait $agent
	echo $? >/out/status
	echo $n >/out/read
}
