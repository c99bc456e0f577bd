# In the guest: eight buffered writes of 384 KiB, each with an fsync, without and with a scheduler; all
# sources at once. Prints "SCHEDULER SOURCE " before the totals of each.
# A program that is built with a sanitizer ends at the first report.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
for scheduler in none mq-deadline; do
	echo $scheduler >/sys/block/vda/queue/scheduler
	readers=""
	for source in bpf blktrace tracefs; do
		rm -f /tmp/$source.err
		capture 100 vda --source $source --count >/tmp/$source 2>/tmp/$source.err &
		readers="$readers $!"
		until grep -qs . /tmp/$source.err; do usleep 50000; done
	done
	for i in 0 1 2 3 4 5 6 7; do
		dd if=/dev/zero of=/dev/vda bs=64k count=6 seek=$((i * 20)) conv=notrunc,fsync 2>/dev/null
	done
	sleep 2.5
	kill -INT $readers
	wait $readers
	for source in bpf blktrace tracefs; do echo "$scheduler $source $(cat /tmp/$source)"; done
done
