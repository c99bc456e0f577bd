# Runs in the guest: seccomp.sh PORT SOURCE...
# An agent of each SOURCE under --seccomp log, with all that uses calls of its own: a store, analyzers
# (the one at the host's PORT, by name; one whose name nobody knows; one that nobody is at), metrics,
# files of other users, the screen. Leaves "SOURCE CALL" for each call that its filter lacks in
# /out/missing, and in /out/control how many a program with one such call had.
# A program that is built with a sanitizer ends at the first report.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
port=$1
shift
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mkdir -p /sys/fs/cgroup /etc /tmp/files && mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo "10.0.2.2 analyzer.test" >/etc/hosts
echo "nameserver 127.0.0.1" >/etc/resolv.conf
if [ -e /bundle.tar.gz ]; then
	mkdir /opt && tar -xz -C /opt -f /bundle.tar.gz
	ln -s ../opt/bundle/blkcast-agent /bin/blkcast-agent
fi
# The kernel holds back what comes too fast.
echo 0 >/proc/sys/kernel/printk_ratelimit
logged() { dmesg | sed -n 's/.*type=1326 .* comm="\([^"]*\)".* syscall=\([0-9]*\) .*/\1 \2/p'; }

log_call || exit 1
logged | grep -c '^log_call ' >/out/control
dmesg -c >/dev/null
: >/out/missing
echo content >/tmp/files/one
for source in "$@"; do
	rm -rf /tmp/store /tmp/spool
	TERM=vt100 blkcast-agent --device vda --source "$source" --seccomp log --host "$source" --window 100ms \
		--segment-interval 1s --sink file:/tmp/store --sink "http://analyzer.test:$port" --insecure \
		--sink http://nobody.test:1 --sink http://127.0.0.1:1 --spool /tmp/spool --see-files \
		--fileset /tmp/files --listen 127.0.0.1:9740 --top --verbose \
		</dev/console >/dev/console 2>"/out/$source.log" &
	agent=$!
	for _ in $(seq 300); do
		grep -q ' tracing ' "/out/$source.log" && break
		usleep 100000
	done
	dd if=/dev/vda of=/dev/null bs=4096 count=200 iflag=direct 2>/dev/null
	wget -q -O "/out/$source.metrics" http://127.0.0.1:9740/metrics
	sleep 2
	kill -TERM $agent
	wait $agent
	[ $? = 1 ] || exit 1 # two of its sinks took nothing, which it must say
	logged | sed "s/^[^ ]*/$source/" | sort -u >>/out/missing
	dmesg -c >/dev/null
done
