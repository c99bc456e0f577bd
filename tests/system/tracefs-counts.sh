#!/usr/bin/env bash
# The tracefs source beside fio's own counts, and beside the bpf source on the same load.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need tracefs "tracefs cannot be used" timeout 20 "$BUILD/tests/system/capture" 0 --source tracefs
instances() {
	mkdir -p "$T/tracefs"
	mount -t tracefs none "$T/tracefs"
	ls "$T/tracefs/instances" | grep -c blkcast-
	umount "$T/tracefs"
}

has_bpf=false
timeout 20 "$BUILD/tests/system/capture" 0 2>/dev/null >&2 && has_bpf=true

loop_new 256M
both_start() {
	rm -f "$T/bpf.err"
	if $has_bpf; then
		"$BUILD/tests/system/capture" 60 "$loop_name" --count "$@" >"$T/bpf" 2>"$T/bpf.err" &
		bpf_pid=$!
	fi
	capture_start 60 "$loop_name" --source tracefs --count "$@"
	while $has_bpf && ! grep -q ready "$T/bpf.err"; do sleep 0.05; done
}
both_stop() {
	sleep 1.2 # ends that were not seen are told when a disk has been quiet for a second
	$has_bpf && kill -INT $bpf_pid && wait $bpf_pid
	capture_stop 0
}
of_bpf() { tail -n 1 "$T/bpf" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
balance() { # NAME
	is "$(total read) $(total write)" \
		"$(fio_get '.jobs[0].read.total_ios') $(fio_get '.jobs[0].write.total_ios')" \
		"$1: reads and writes are fio's own"
	is "$(total read_bytes) $(total write_bytes)" \
		"$(fio_get '.jobs[0].read.io_bytes') $(fio_get '.jobs[0].write.io_bytes')" \
		"$1: bytes are fio's own"
	is "$(total lost) $(total bad) $(total no_issuer)" "0 0 0" \
		"$1: nothing is lost, out of range or without an issuer"
}
counts_alike() { # NAME
	$has_bpf || return
	is "$(total read) $(total write) $(total flush) $(total read_bytes) $(total write_bytes)" \
		"$(of_bpf read) $(of_bpf write) $(of_bpf flush) $(of_bpf read_bytes) $(of_bpf write_bytes)" \
		"$1: requests and bytes are those of the bpf source"
}
# Both saw the very same events of the device layer: what they differ by is what each tracer does between
# the two stamps, fractions of a microsecond.
alike() { # NAME
	$has_bpf || return
	counts_alike "$1"
	number "sqrt(($(total total_us) - $(of_bpf total_us))^2) <= 1 + 0.01 * $(of_bpf total_us)" \
		"$1: the mean response time is that of bpf within 1 % and 1 us ($(total total_us) and $(of_bpf total_us) us)"
}

both_start
fio_run --rw=randrw --bs=4k --iodepth=32 --numjobs=2 --number_ios=50000
both_stop
balance "random 4 KiB at full speed"
alike "random 4 KiB at full speed"

both_start
fio_run --rw=randrw --bssplit=4k/40:16k/30:64k/30 --iodepth=16 --numjobs=2 --number_ios=10000
both_stop
balance "mixed sizes"
alike "mixed sizes"

both_start
fio_run --rw=randwrite --bs=4k --iodepth=4 --number_ios=1000 --fsync=10
both_stop
balance "writes and flushes"
alike "writes and flushes"

both_start
fio_run --rw=randwrite --bs=4k --ioengine=psync --sync=dsync --number_ios=200
both_stop
balance "durable writes"
alike "durable writes"

both_start --queue
fio_run --rw=randrw --bs=4k --iodepth=32 --numjobs=2 --number_ios=20000
both_stop
balance "bios of the queue layer"
counts_alike "bios of the queue layer"

for scheduler in mq-deadline bfq; do
	echo $scheduler >/sys/block/"$loop_name"/queue/scheduler 2>/dev/null || continue
	both_start
	# Merged by the scheduler and by the submitter.
	fio_run --rw=write --bs=4k --iodepth=64 --iodepth_batch=32 --number_ios=20000
	both_stop
	is "$(total write_bytes) $(total lost) $(total bad)" "$(fio_get '.jobs[0].write.io_bytes') 0 0" \
		"merged under $scheduler: bytes are fio's own"
	is "$(total no_arrival) $(total no_dispatch)" "0 0" "merged under $scheduler: every time is known"
done
echo none >/sys/block/"$loop_name"/queue/scheduler

echo 0 >/sys/block/"$loop_name"/queue/iostats
capture_start 60 "$loop_name" --source tracefs --count
fio_run --rw=randrw --bs=4k --iodepth=32 --numjobs=2 --number_ios=10000
capture_stop 1.2
balance "with iostats off"
is "$(total no_arrival) $(total no_dispatch)" "0 0" "with iostats off: every time is known"
echo 1 >/sys/block/"$loop_name"/queue/iostats

# A reader that sleeps, and a buffer that is too small: seen and lost are all there was.
capture_start 60 "$loop_name" --source tracefs --count --small-ring
fio_run --rw=randread --bs=4k --iodepth=32 --number_ios=500
kill -STOP $capture_pid
fio_run --rw=randread --bs=4k --iodepth=32 --number_ios=10000
kill -CONT $capture_pid
sleep 1.5
fio_run --rw=randread --bs=4k --iodepth=32 --number_ios=500
capture_stop 1.5
is "$(($(total all) + $(total lost)))" 11000 "dropped events: seen and lost make up all that completed"
number "$(total lost) > 5000" "dropped events: they are told as lost ($(total lost))"
is "$(total bad)" 0 "dropped events: no request is out of range"

# The kernel counts nothing of it: what is lost is told by the events dropped, more or less.
echo 0 >/sys/block/"$loop_name"/queue/iostats
capture_start 60 "$loop_name" --source tracefs --count --small-ring
fio_run --rw=randread --bs=4k --iodepth=32 --number_ios=500
sleep 1.5
kill -STOP $capture_pid
fio_run --rw=randread --bs=4k --iodepth=32 --number_ios=10000
kill -CONT $capture_pid
capture_stop 1.5
number "$(total lost) > 1000" "dropped events, iostats off: they are told as lost too ($(total lost))"
echo 1 >/sys/block/"$loop_name"/queue/iostats

is "$(instances)" 0 "no instance is left behind"
capture_start 60 "$loop_name" --source tracefs --count
is "$(instances)" 1 "one is there while it runs"
kill -KILL $capture_pid
wait $capture_pid 2>/dev/null
is "$(instances)" 1 "one of a killed process stays"
capture_start 60 "$loop_name" --source tracefs --count
is "$(instances)" 1 "and is removed by the next"
capture_stop
is "$(instances)" 0 "which removes its own"
exits 2 "a cgroup is refused" "$BUILD/tests/system/capture" 0 --source tracefs --cgroup /sys/fs/cgroup/unified
like "$(cat "$T/err")" "^capture: tracefs: .*cgroup" "and named"
done_testing
