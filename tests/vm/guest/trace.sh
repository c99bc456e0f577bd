# Runs in the guest: trace.sh PORT MOUNTS LAUNCHER HOST=SOURCE...
# One agent for each HOST=SOURCE, all at once, streams to the analyzer at the host's PORT while a known
# load runs on /dev/vda. MOUNTS (a list with commas, or -) names what of debugfs and tracefs is mounted;
# LAUNCHER (or -) is what the agents are started by. Leaves load.json, doctor, queue (what --layer queue says) and HOST.log in /out.
# A program that is built with a sanitizer ends at the first report.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
port=$1 mounts=$2 launcher=$3
shift 3
[ "$launcher" != - ] || launcher=""
case "$mounts" in *debugfs*) mount -t debugfs debugfs /sys/kernel/debug ;; esac
case "$mounts" in *tracefs*) mount -t tracefs tracefs /sys/kernel/tracing ;; esac
mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup

# Started by a link to it, and with none of its libraries in the system.
if [ -e /bundle.tar.gz ]; then
	mkdir /opt && tar -xz -C /opt -f /bundle.tar.gz
	ln -s ../opt/bundle/blkcast-agent /bin/blkcast-agent
	[ ! -e /lib/*/libbpf.so.1 ] || exit 1
fi
$launcher blkcast-agent --doctor >/out/doctor 2>&1
$launcher blkcast-agent --device vda --host queue --source bpf --layer queue --sink stdout: --duration 10ms >/out/queue 2>&1
echo "exit $?" >>/out/queue

agents=""
for a in "$@"; do
	name=${a%%=*} source=${a#*=}
	$launcher blkcast-agent --device vda --source "$source" --host "$name" --sink "http://10.0.2.2:$port" --insecure \
		--sink "file:/tmp/store-$name" --spool "/tmp/spool-$name" --window 100ms --segment-interval 1s \
		--duration 200s --verbose >"/out/$name.log" 2>&1 &
	agents="$agents $!"
done
# Each says when it traces.
for a in "$@"; do
	for _ in $(seq 900); do
		grep -q ' tracing ' "/out/${a%%=*}.log" && break
		usleep 100000
	done
done
known_load /dev/vda 300 300 >/out/load.json || exit 1
usleep 500000
status=0
for p in $agents; do
	kill -TERM "$p" 2>/dev/null
done
for p in $agents; do
	wait "$p" || status=$?
done
exit $status
