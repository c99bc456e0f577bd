#!/usr/bin/env bash
# What changes while the source runs: CPUs, devices, a ring that is too small; and what stays after.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

loop_new 64M
online=/sys/devices/system/cpu/cpu1/online
cpu_back() { [ ! -w $online ] || echo 1 >$online; }
at_exit cpu_back
if [ -w $online ] && echo 0 >$online 2>/dev/null; then
	# Started with one CPU, so with one ring; the other comes under load, goes and comes again.
	capture_start 60 "$loop_name" --count
	(sleep 0.3; echo 1 >$online; sleep 0.3; echo 0 >$online; sleep 0.3; echo 1 >$online) &
	fio_run --rw=randrw --bs=4k --iodepth=16 --numjobs=4 --number_ios=60000
	wait $!
	capture_stop
	is "$(total all) $(total lost)" \
		"$(fio_get '.jobs[0].read.total_ios + .jobs[0].write.total_ios') 0" \
		"CPUs that come and go lose nothing"
else
	note "CPUs cannot be taken offline here"
fi

capture_start 60 --count
fio_run --rw=randread --bs=4k --iodepth=4 --number_ios=1000
losetup -d "$loop_dev"
sleep 0.2
first=$loop_file
loop_new 64M
rm -f "$first"
fio_run --rw=randread --bs=4k --iodepth=4 --number_ios=500
capture_stop
number "$(total read) >= 1500" "a device that goes, and one that comes, are traced ($(total read) reads)"
is "$(total bad)" 0 "and leave nothing absurd behind"

# The reader sleeps 10 ms between looks; a ring of 256 KiB cannot hold what comes in between.
capture_start 60 "$loop_name" --count --small-ring
kill -STOP $capture_pid
fio_run --rw=randread --bs=4k --iodepth=32 --number_ios=15000
kill -CONT $capture_pid
capture_stop
number "$(total lost) > 0" "a reader that is stopped loses some ($(total lost))"
is "$(($(total all) + $(total lost)))" "$(fio_get '.jobs[0].read.total_ios')" "and what is read and what is counted as lost is all"

capture_start 60 "$loop_name" --count
programs=$(bpftool prog show 2>/dev/null | grep -c 'name block_')
kill -KILL $capture_pid
wait $capture_pid 2>/dev/null
sleep 1.5
number "$programs > 0 && $(bpftool prog show 2>/dev/null | grep -c 'name block_') < $programs" \
	"a kill leaves no program in the kernel"
done_testing
