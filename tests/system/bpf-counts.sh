#!/usr/bin/env bash
# Every request is counted once: fio's own counts, at full speed, with and without a scheduler.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

loop_new 256M
balance() { # NAME
	is "$(total read) $(total write)" \
		"$(fio_get '.jobs[0].read.total_ios') $(fio_get '.jobs[0].write.total_ios')" \
		"$1: reads and writes are fio's own"
	is "$(total read_bytes) $(total write_bytes)" \
		"$(fio_get '.jobs[0].read.io_bytes') $(fio_get '.jobs[0].write.io_bytes')" \
		"$1: bytes are fio's own"
	is "$(total lost) $(total bad) $(total no_issuer)" "0 0 0" \
		"$1: nothing is lost, out of range or without an issuer"
	note "$(fio_get '.jobs[0].read.iops + .jobs[0].write.iops | floor') IOPS; $totals"
}

capture_start 60 "$loop_name" --count
fio_run --rw=randrw --bs=4k --iodepth=32 --numjobs=2 --number_ios=150000
capture_stop
balance "random 4 KiB at full speed"
number "$(total no_dispatch) <= $(total all) / 100" \
	"random 4 KiB at full speed: dispatch is unknown in the first moments at most ($(total no_dispatch))"

capture_start 60 "$loop_name" --count
fio_run --rw=randrw --bssplit=4k/40:16k/30:64k/30 --iodepth=16 --numjobs=2 --number_ios=20000
capture_stop
balance "mixed sizes"

capture_start 60 "$loop_name" --count --queue
fio_run --rw=randrw --bs=4k --iodepth=32 --numjobs=2 --number_ios=50000
capture_stop
balance "bios of the queue layer"

for scheduler in mq-deadline bfq kyber; do
	echo $scheduler >/sys/block/"$loop_name"/queue/scheduler 2>/dev/null || continue
	capture_start 60 "$loop_name" --count
	# Far apart, so that no scheduler can merge two.
	fio_run --rw=randrw --bs=4k --blockalign=8k --iodepth=64 --numjobs=2 --number_ios=20000
	capture_stop
	balance "under $scheduler"
	capture_start 60 "$loop_name" --queue
	fio_run --rw=randrw --bs=4k --iodepth=8 --number_ios=1000
	capture_stop 2.5 # ends that were not seen are told when a disk has been quiet for a second
	balance "bios under $scheduler"
	is "$(grep -c '^request .* flags=0x[0-9a-f]*[89a-f][0-9a-f]\{2\} ' "$T/capture")" 0 \
		"bios under $scheduler: every end is seen"
done
echo none >/sys/block/"$loop_name"/queue/scheduler

echo 0 >/sys/block/"$loop_name"/queue/iostats
capture_start 60 "$loop_name" --count
fio_run --rw=randrw --bs=4k --iodepth=32 --numjobs=2 --number_ios=20000
capture_stop
balance "with iostats off"
is "$(total no_arrival)" 0 "with iostats off: every arrival time is known"
number "$(total total_us) < 100000" "with iostats off: no time is that of an earlier request ($(total total_us) us)"
echo 1 >/sys/block/"$loop_name"/queue/iostats

# The kernel's own counters are a third witness.
before=$(awk '{ print $1 + $5 }' /sys/block/"$loop_name"/stat)
capture_start 60 "$loop_name" --count
fio_run --rw=write --bs=128k --iodepth=8 --number_ios=1000
capture_stop
is "$(($(awk '{ print $1 + $5 }' /sys/block/"$loop_name"/stat) - before))" "$(total all)" \
	"the kernel's statistics count as many"
done_testing
