# In the guest: the block trace of all disks while /dev/vdb goes and comes back under the same number:
# for longer than the agent takes to look for disks, and for less; at last in the midst of a load.
# Prints "CYCLE READS FDS": what the kernel counted since the disk was traced, the agent's descriptors.
# A program that is built with a sanitizer ends at the first report.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
mount -t debugfs debugfs /sys/kernel/debug
driver=/sys/bus/virtio/drivers/virtio_blk
virtio=$(basename "$(readlink /sys/block/vdb/device)")
# The agent's own disk is the memory.
blkcast-agent --source blktrace --host plugged --sink file:/out/store --window 100ms --segment-interval 1s \
	--verbose >/out/agent.log 2>&1 &
agent=$!
trap 'kill -KILL $agent 2>/dev/null' EXIT
traced() {
	for _ in $(seq 200); do
		case "$(cat /sys/block/vdb/trace/end_lba 2>/dev/null)" in '' | disabled) ;; *) return ;; esac
		usleep 100000
	done
	echo "vdb is not traced: $1"
	exit 1
}
reads() { awk '{ print $1 }' /sys/block/vdb/stat; }
for cycle in first gone briefly again; do
	traced $cycle
	before=$(reads)
	dd if=/dev/vdb of=/dev/null bs=4096 count=250 iflag=direct 2>/dev/null
	echo "$cycle $(($(reads) - before)) $(ls /proc/$agent/fd | wc -l)"
	usleep 500000
	echo "$virtio" >$driver/unbind
	[ $cycle != first ] && [ $cycle != gone ] || sleep 7
	echo "$virtio" >$driver/bind
done
traced busy
# dd tells no count where its last read fails, so that what it wrote is counted.
dd if=/dev/vdb bs=4096 iflag=direct 2>/dev/null | wc -c >/tmp/bytes &
load=$!
usleep 500000
echo "$virtio" >$driver/unbind
wait $load
echo "busy $(($(cat /tmp/bytes) / 4096)) 0"
sleep 6
kill -0 $agent && kill -TERM $agent && wait $agent || echo "the agent fails"
echo "left: $(cat /sys/block/vda/trace/end_lba)"
