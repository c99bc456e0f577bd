# Runs in the guest: time.sh PORT: an agent streams to the analyzer at the host's PORT while each
# sector of /dev/vda is read once, in order; what happens to time meanwhile is told to the host on the
# console, which stops, restores and continues the machine. Leaves the number read in /out/read.
port=$1
mount -t debugfs debugfs /sys/kernel/debug
mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
blkcast-agent --device vda --host time --sink "http://10.0.2.2:$port" --insecure --spool /tmp/spool --window 200ms \
	--segment-interval 300ms --verbose >/out/agent.log 2>&1 &
agent=$!
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

load 20
stage stop
load 150
stage stopped-over

date -s "@$(($(date +%s) + 3600))" >/dev/null
# Long enough that segments begin and end within the hour that is off.
for _ in 1 2 3; do
	load 10
	usleep 500000
done
date -s "@$(($(date +%s) - 3600))" >/dev/null
load 30

kill -STOP $agent
load 50
kill -CONT $agent
load 20

stage snapshot
load 400
stage end
usleep 1500000
# A connection that was restored leads nowhere: it is given up after a minute.
for _ in $(seq 100); do
	ls /tmp/spool | grep -q seg || break
	sleep 1
done
ls -l /tmp/spool >/out/spool
kill -TERM $agent
wait $agent
echo $? >/out/status
echo $n >/out/read
