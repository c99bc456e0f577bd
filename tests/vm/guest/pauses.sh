# Runs in the guest: pauses.sh PORT: an agent streams to the analyzer at the host's PORT while each
# sector of /dev/vda is read once, in order; the agent is stopped and frozen, the clock slewed, and the guest
# migrated by the host, which is told on the console. Leaves the number read in /out/read.
port=$1
. /vm/reads.sh
trace pauses
mkdir /sys/fs/cgroup/agent
echo $agent >/sys/fs/cgroup/agent/cgroup.procs

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
finish
