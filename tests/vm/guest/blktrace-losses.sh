# In the guest: loads that the reader of a small buffer cannot follow, and agents that are killed.
# Prints "NAME kernel=COUNT " before the totals that capture printed.
mount -t debugfs debugfs /sys/kernel/debug
completed() { awk '{ print $1 + $5 + $12 }' /sys/block/vda/stat; }
load() {
	p=""
	for i in 1 2 3 4; do
		dd if=/dev/vda of=/dev/null bs=4096 count="$1" iflag=direct skip=$((i * 2000)) 2>/dev/null &
		p="$p $!"
	done
	wait $p
}
follow() { # NAME OPTION...
	name=$1
	shift
	rm -f /tmp/err # the earlier one says ready too
	capture 100 vda --source blktrace --count "$@" >/tmp/out 2>/tmp/err &
	c=$!
	until grep -qs . /tmp/err; do sleep 0.1; done
	before=$(completed)
	load 800
	if [ "$name" = stopped ]; then
		kill -STOP $c
		load 1000
		kill -CONT $c
	fi
	sleep 2
	after=$(completed)
	dropped=$(cat /sys/kernel/debug/block/vda/dropped)
	kill -INT $c
	wait $c
	cat /tmp/err >&2
	echo "$name kernel=$((after - before)) dropped=$dropped $(cat /tmp/out)"
}
follow roomy
follow tight --small-ring --poll 700
follow stopped --small-ring
rm -f /tmp/err
capture 100 vda --source blktrace --count >/dev/null 2>/tmp/err &
c=$!
until grep -qs . /tmp/err; do sleep 0.1; done
echo "second: $(capture 1 vda --source blktrace --count 2>&1 | sed 's/pid [0-9]*/pid N/')"
kill -9 $c
wait $c
echo "left behind: $(cat /sys/block/vda/trace/end_lba | grep -c disabled)"
echo "third: $(capture 1 vda --source blktrace --count 2>&1 | grep -c ready)"
echo "after it: $(cat /sys/block/vda/trace/end_lba)"
