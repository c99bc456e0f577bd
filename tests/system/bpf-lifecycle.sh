#!/usr/bin/env bash
# The turns that a request's life can take: parts, requeues, merges, flushes, discards, errors.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

# The kernel's own events of one kind, with times of the clock of the records.
trace_start() { # EVENT
	event=$1 trace=$T/tracefs/instances/blkcast-test-$$
	mkdir -p "$T/tracefs"
	if ! mount -t tracefs none "$T/tracefs" 2>/dev/null || ! mkdir "$trace" 2>/dev/null; then
		trace=""
		return 1
	fi
	echo mono >"$trace/trace_clock"
	echo 1 >"$trace/events/block/$event/enable"
}
trace_stop() {
	[ -n "$trace" ] || return
	echo 0 >"$trace/tracing_on"
	cat "$trace/trace"
	echo 0 >"$trace/events/block/$event/enable"
}
trace_free() {
	[ -z "${trace:-}" ] || rmdir "$trace" 2>/dev/null
	umount "$T/tracefs" 2>/dev/null
}
at_exit trace_free

# A read that reaches past the end of a shortened backing file ends in parts, and is requeued for
# the rest; the loop driver does so with its asynchronous backend.
loop_new 16M
losetup -d "$loop_dev"
loop_dev=$(losetup --show -f --direct-io=on "$loop_file" 2>/dev/null || losetup --show -f "$loop_file")
loop_name=${loop_dev#/dev/}
loops="$loop_dev:$loop_file"
truncate -s $((8 * 1024 * 1024 + 4096)) "$loop_file"
trace_start block_rq_requeue
capture_start 60 "$loop_name"
dd if="$loop_dev" of=/dev/null bs=64k skip=128 count=1 iflag=direct status=none
capture_stop
# of the first requeue, in microseconds
requeued_us=$(trace_stop |
	sed -n 's/.* \([0-9]*\)\.\([0-9]\{6\}\): block_rq_requeue: .* 16[34][0-9]* + .*/\1\2/p' | head -n 1)
trace_free
line=$(grep '^request read sector=16384 ' "$T/capture")
like "$line" ' bytes=65536 ' "a read that ended in parts is one request of its whole length"
is "$(grep -c '^request read sector=16[34]' "$T/capture")" 1 "and it is recorded once"
requeues=$(printf '%s' "$line" | sed 's/.*requeues=\([0-9]*\).*/\1/')
if [ "$(cat /sys/block/"$loop_name"/loop/dio)" = 1 ]; then
	number "$requeues >= 1" "its requeue is counted ($requeues)"
	dispatched_us=$(($(printf '%s' "$line" |
		sed 's/.* arrival_ns=\([0-9]*\) queue_ns=\([0-9]*\) .*/(\1 + \2) \/ 1000/')))
	if [ -n "$requeued_us" ]; then
		number "$dispatched_us <= $requeued_us" "it was dispatched before the driver handed it back"
	else
		skip_one tracefs "tracefs cannot be mounted" "it was dispatched before the driver handed it back"
	fi
fi
loop_free

loop_new 64M
echo mq-deadline >/sys/block/"$loop_name"/queue/scheduler
echo 128 >/sys/block/"$loop_name"/queue/max_sectors_kb
# One whose end was passed over (flag 0x800) has the length it was submitted with: tried again.
for _ in $(seq 10); do
	capture_start 60 "$loop_name"
	dd if=/dev/zero of="$loop_dev" bs=4k count=4096 conv=fsync status=none
	capture_stop
	grep -qE '^request .* flags=0x[0-9a-f]*[89a-f][0-9a-f]{2} ' "$T/capture" || break
done
is "$(total write_bytes)" $((4096 * 4096)) "merged writes carry all bytes of what they absorbed"
number "$(total write) < 4096" "and there are fewer of them ($(total write))"
is "$(grep '^request write' "$T/capture" | sed 's/.*sector=\([0-9]*\) bytes=\([0-9]*\) .*/\1 \2/' |
	sort -n | awk '$1 != at { print "gap at", at } { at = $1 + $2 / 512 } END { print at }')" \
	32768 "and they cover the range once, without gap or overlap"
echo none >/sys/block/"$loop_name"/queue/scheduler

capture_start 60 "$loop_name"
fio_run --rw=write --bs=4k --ioengine=psync --fsync=1 --number_ios=200
capture_stop
is "$(total write)" 200 "with an fsync after each, every write is there once"
number "$(total flush) >= 199 && $(total flush) <= 201" "and every fsync is a flush ($(total flush))"
is "$(total no_issuer)" 0 "and the issuer of each flush is known"
tid=$(sed -n 's/^task tid=\([0-9]*\) .*comm=fio.*/\1/p' "$T/capture" | tail -n 1)
is "$(grep -c "^request flush .* tid=$tid " "$T/capture")" "$(total flush)" "it is fio's own thread"

# After a shedding a second program looks at every end, and must count the data's in a flush sequence once.
for after in "" --after-shed; do
	# shellcheck disable=SC2086
	capture_start 60 "$loop_name" $after
	fio_run --rw=write --bs=4k --ioengine=psync --sync=dsync --number_ios=100
	capture_stop
	is "$(total write) $(total write_bytes)" "100 409600" "a durable write is one write, not two ${after#--}"
	fua=$(grep -cE '^request write .*flags=0x[0-9a-f]*[89a-f] ' "$T/capture")
	number "$fua == 100 || $(total flush) == 100" \
		"and carries FUA, or is followed by a flush ($fua, $(total flush)) ${after#--}"
done

# Where the end of the data was not seen, the last end is known by the sector that the kernel left.
if trace_start block_rq_complete; then
	dd if=/dev/zero of="$loop_dev" bs=4k count=1 seek=100 oflag=direct,dsync conv=notrunc status=none
	loop_number=$(tr : , <"/sys/block/$loop_name/dev")
	last=$(trace_stop |
		sed -n "s/.* block_rq_complete: $loop_number [A-Z]* () \([0-9]*\) + 0 .*/\1/p")
	trace_free
	case $last in
	'') note "this loop device ends a durable write at once" ;;
	*) like "$last" '^80[08]$' "the last end of a flush sequence is at the data's begin or end" ;;
	esac
fi

capture_start 60 "$loop_name"
blkdiscard -o 2M -l 4M "$loop_dev"
blkdiscard -z -o 8M -l 4M "$loop_dev"
capture_stop
is "$(total discard_bytes)" $((4 << 20)) "discards are counted apart, with their length"
is "$(grep -c '^request other sector=16384 bytes=4194304 ' "$T/capture")" 1 "and so are write zeroes"
is "$(grep -cE '^request (read|write) sector=4096 bytes=4194304 ' "$T/capture")" 0 \
	"and a discard is neither a read nor a write"

# A file without room behind the device: what is written past it ends with an error.
small=$T/small
small_free() { umount "$small" 2>/dev/null; }
at_exit small_free
mkdir "$small"
if mount -t tmpfs -o size=1m none "$small" 2>/dev/null; then
	truncate -s 16M "$small/file"
	loop_dev=$(losetup --show -f "$small/file")
	loop_name=${loop_dev#/dev/}
	capture_start 60 "$loop_name"
	dd if=/dev/zero of="$loop_dev" bs=64k count=64 oflag=direct status=none 2>/dev/null
	capture_stop
	losetup -d "$loop_dev"
	number "$(total errors) >= 1" "a request that fails is recorded with its error ($(total errors))"
	number "$(grep -cE '^request write .* error=(5|28) ' "$T/capture") == $(total errors)" "which is the errno"
else
	note "no small file system can be mounted here"
fi
done_testing
