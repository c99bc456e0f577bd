#!/usr/bin/env bash
# A queue that a driver holds back for seconds with nothing under way, as a controller's reset does: the
# requests in it look as if they had ended unseen. They are recorded once all the same.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

outer=$T/outer
held_free() {
	umount "$inflight" 2>/dev/null
	fsfreeze -u "$outer" 2>/dev/null
	[ -z "${inner:-}" ] || losetup -d "$inner"
	umount "$outer" 2>/dev/null
}
inflight="" inner=""
loop_new 64M
at_exit held_free
need loop "no frozen file system can be had here" eval 'mkfs.ext4 -q "$loop_dev" && mkdir "$outer" && mount "$loop_dev" "$outer"'
truncate -s 16M "$outer/file"
inner=$(losetup --show -f "$outer/file")
# The loop driver has started what it holds: the file says otherwise, as it is with a queue at rest.
inflight=$(readlink -f "/sys/block/${inner#/dev/}/inflight")
echo "0 0" >"$T/idle"

for layer in "" --queue; do
	name="a request held back${layer:+, as a bio}"
	# shellcheck disable=SC2086
	capture_start 60 "${inner#/dev/}" $layer
	mount --bind "$T/idle" "$inflight"
	fsfreeze -f "$outer"
	dd if=/dev/zero of="$inner" bs=4k count=1 oflag=direct status=none &
	held=$!
	# Told at the second look; a third finds nothing new.
	for _ in $(seq 300); do
		grep -q '^request write sector=0 ' "$T/capture" && break
		sleep 0.1
	done
	sleep 1.5
	holds "$name: it has not ended" kill -0 $held
	fsfreeze -u "$outer"
	wait $held
	umount "$inflight"
	dd if=/dev/zero of="$inner" bs=4k count=2 seek=1 oflag=direct status=none
	capture_stop
	is "$(total write) $(total write_bytes)" "3 12288" "$name: it is recorded once, and what follows is"
	like "$(grep '^request write sector=0 ' "$T/capture")" ' flags=0x[0-9a-f]*[89a-f][0-9a-f][0-9a-f] ' \
		"$name: as one whose end was not seen"
	is "$(grep -c '^request write sector=\(8\|16\) ' "$T/capture")" 2 "$name: the next at its address have records of their own"
done
done_testing
