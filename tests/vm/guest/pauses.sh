# Runs in the guest: pauses.sh PORT: an agent streams to the analyzer at the host's PORT while each
# sector of /dev/vda is read once, in order; the agent is stopped and frozen, the clock slewed, and the guest
# migrated by the host, which is told on the console. Leaves the number read in /out/read.
port=$1
mount -t debugfs debugfs /sys/kernel/debug
mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir /sys/fs/cgroup/agent
blkcast-agent --device vda --host pauses --sink "http://10.0.2.2:$port" --insecure --spool /tmp/spool --window 200ms \
	--segment-interval 300ms --verbose >/out/agent.log 2>&1 &
agent=$!
echo $agent >/sys/fs/cgroup/agent/cgroup.procs
for _ in $(seq 300); do
	grep -q ' tracing ' /out/agent.log && break
	usleep 100000
done
n=0
load() { # reads: of 4 KiB each
	local end=$((n + $1))
	while [ $n -lt $end ]; do
		dd if=/dev/vda of=/dev/null bs=4k skip=$n count=1 iflag=direct 2>/dev/null
		n=$((n + 1))
	done
}
stage() { echo "stage: $1" >/dev/console; }

# The guest goes on, the agent does not; then neither does anything.
load 20
kill -STOP $agent
for _ in 1 2 3 4 5 6 7 8; do
	load 2
	usleep 250000
done
kill -CONT $agent
load 10
usleep 500000
echo 1 >/sys/fs/cgroup/agent/cgroup.freeze
usleep 2000000
echo 0 >/sys/fs/cgroup/agent/cgroup.freeze
usleep 500000

for tick in 11000 9000 10005 10000; do
	adjtimex -q -t $tick >>/out/slew 2>&1
	load 15
	usleep 200000
done

stage migrate
for _ in $(seq 200); do
	load 1
	usleep 20000
done
stage end
usleep 3000000
for _ in $(seq 120); do
	ls /tmp/spool | grep -q seg || break
	sleep 1
done
ls -l /tmp/spool >/out/spool
kill -TERM $agent
wait $agent
echo $? >/out/status
echo $n >/out/read
