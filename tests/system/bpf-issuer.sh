#!/usr/bin/env bash
# Who submitted: thread, process, kernel thread and cgroup; filters by device and by cgroup.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

loop_new 64M
first_dev=$loop_dev first_name=$loop_name
capture_start 60 "$loop_name"
fio_run --rw=randread --bs=4k --iodepth=8 --numjobs=3 --number_ios=300
capture_stop
tids=$(sed -n 's/^task tid=\([0-9]*\) pid=[0-9]* comm=fio kernel=0$/\1/p' "$T/capture" | sort -u)
is "$(printf '%s\n' $tids | wc -l)" 3 "each of three jobs is a thread of its own name"
for tid in $tids; do
	is "$(grep -c "^request read .* tid=$tid pid=$tid " "$T/capture")" 300 \
		"thread of fio has all its requests"
done

echo mq-deadline >/sys/block/"$loop_name"/queue/scheduler
capture_start 60 "$loop_name"
fio_run --rw=randread --bs=4k --iodepth=64 --number_ios=3000
capture_stop
tid=$(sed -n 's/^task tid=\([0-9]*\) .*comm=fio.*/\1/p' "$T/capture" | tail -n 1)
is "$(grep -c "^request read .* tid=$tid " "$T/capture")" 3000 \
	"under a scheduler, dispatched by workers, they are still fio's"
echo none >/sys/block/"$loop_name"/queue/scheduler

capture_start 60 "$loop_name"
dd if=/dev/zero of="$loop_dev" bs=64k count=64 status=none
sync -f "$loop_dev" 2>/dev/null
blockdev --flushbufs "$loop_dev"
capture_stop
is "$(total write_bytes)" $((64 * 65536)) "buffered writes reach the device in full"
number "$(grep -c '^request write' "$T/capture") == $(total write)" "each is recorded"
note "$(total kernel_threads) of $(total write) were submitted by kernel threads"

if [ -d /sys/fs/cgroup/blkio ]; then cgroups=/sys/fs/cgroup/blkio; else cgroups=/sys/fs/cgroup; fi
group=$cgroups/blkcast-test-$$
cgroup_free() { rmdir "$group/below" "$group" 2>/dev/null; }
at_exit cgroup_free
if mkdir -p "$group/below" 2>/dev/null; then
	in_group() { # PATH COMMAND...
		local path=$1
		shift
		sh -c 'echo $$ >"$1"/cgroup.procs; shift; exec "$@"' sh "$path" "$@"
	}
	read_some() { dd if="$loop_dev" of=/dev/null bs=4k count="$1" iflag=direct status=none; }
	id=$(stat -c %i "$group") below=$(stat -c %i "$group/below")
	capture_start 60 "$loop_name"
	in_group "$group" dd if="$loop_dev" of=/dev/null bs=4k count=20 iflag=direct status=none
	in_group "$group/below" dd if="$loop_dev" of=/dev/null bs=4k count=30 iflag=direct status=none
	read_some 10
	capture_stop
	is "$(grep -c " cgroup=$id " "$T/capture") $(grep -c " cgroup=$below " "$T/capture")" "20 30" \
		"each request carries the cgroup that pays for it"
	for layer in "" --queue; do
		capture_start 60 "$loop_name" --cgroup "$group" $layer
		in_group "$group" dd if="$loop_dev" of=/dev/null bs=4k count=20 iflag=direct status=none
		in_group "$group/below" dd if="$loop_dev" of=/dev/null bs=4k count=30 iflag=direct status=none
		read_some 10
		capture_stop
		is "$(total read)" 50 "a cgroup filter takes it and what is below it, nothing else ${layer#--}"
	done
else
	note "no cgroup can be made here"
fi

loop_new 64M
capture_start 60 "$first_name"
dd if="$first_dev" of=/dev/null bs=4k count=11 iflag=direct status=none
dd if="$loop_dev" of=/dev/null bs=4k count=13 iflag=direct status=none
capture_stop
is "$(total all)" 11 "a device filter takes that device alone"
capture_start 60 "$first_name" "$loop_name"
dd if="$first_dev" of=/dev/null bs=4k count=11 iflag=direct status=none &
dd if="$loop_dev" of=/dev/null bs=4k count=13 iflag=direct status=none
wait $!
capture_stop
number_of() { echo "$((0x$(stat -c %t "$1"))):$((0x$(stat -c %T "$1")))"; }
is "$(grep -c " device=$(number_of "$first_dev") " "$T/capture") $(grep -c " device=$(number_of "$loop_dev") " "$T/capture")" \
	"11 13" "several devices at once are told apart"
done_testing
