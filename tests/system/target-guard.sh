#!/usr/bin/env bash
# blkcast study --run and mimic --replay --run write to nothing that is in use, that carries something or that
# exists, unless it is named twice; they say what they write, and remove what they made. Loop devices only.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need_loop
need loop "mkfs.ext4 and mkswap are not installed" eval 'command -v mkfs.ext4 && command -v mkswap'
blkcast=$BUILD/blkcast
columns=time=1:us,op=2,offset=3:sectors,size=4,response=5:us
# 300 writes and 300 reads, 1 ms apart, within 6 MiB.
awk 'BEGIN { for (i = 0; i < 600; i++) printf "%d,%s,%d,4096,100\n", i * 1000, i % 2 ? "W" : "R", (i * 37 % 1500) * 8 }' >"$T/w.csv"
"$blkcast" import -q --store "$T/writes" --map $columns "$T/w.csv" >"$T/imported"
sed 's/W/R/' "$T/w.csv" >"$T/r.csv"
"$blkcast" import -q --store "$T/reads" --map $columns "$T/r.csv" >"$T/imported"

# A busy machine may replay more slowly than was recorded, which is status 1 and an answer as well.
answers() { "$@" || [ $? = 1 ]; }
# refused NAME REGEX TARGET [ARGS]: by both commands, in one line, with nothing of the target changed
refused() {
	local name=$1 regex=$2 target=$3 before beside
	shift 3
	before=$(sum_of "$target")
	touch "$T/out" "$T/err"
	beside=$(beside "$target")
	exits 2 "$name: a study is refused" timeout 60 "$blkcast" study migrate "$T/writes" --run "$target" --duration 300ms "$@"
	like "$(cat "$T/err")" "$regex" "$name: the reason"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
	is "$(beside "$target")" "$beside" "$name: nothing was made beside it"
	exits 2 "$name: a replay is refused" timeout 60 "$blkcast" mimic --replay --run --store "$T/writes" --target "$target" "$@"
	is "$(sum_of "$target")" "$before" "$name: nothing was written"
}
# Names beside a target; in /dev others come and go.
beside() { case $1 in "$T"/*) ls -A "$(dirname "$1")" 2>&1 ;; *) [ -e "$1" ] && echo there ;; esac; }
# A partition table with one partition of type 83 from sector 2048 on, 14 MiB long.
partition() {
	printf '\0\0\0\0\x83\0\0\0\0\x08\0\0\0\x70\0\0' | dd of="$1" bs=1 seek=446 conv=notrunc status=none
	printf '\x55\xaa' | dd of="$1" bs=1 seek=510 conv=notrunc status=none
}
sum_of() { if [ -e "$1" ]; then head -c 16M "$1" | md5sum; else echo none; fi; }
in_use="in use and is not written: it is"

# A device that carries nothing is free.
loop_new 16M
free_dev=$loop_dev
exits 0 "a free device is used" answers timeout 60 "$blkcast" study migrate "$T/writes" --run "$free_dev" --duration 300ms
like "$(cat "$T/err")" "^blkcast study: $free_dev \(block device of 16 MiB\) is overwritten now: replays write up to .* within its first .*, in 1 runs$" \
	"what is written where is said before"
like "$(cat "$T/err")" "^blkcast study: $T/writes: only the first 300 ms of .* are replayed; the duration says how much$" "and which part is replayed"
exits 0 "by a replay as well" timeout 60 "$blkcast" mimic --replay --run --store "$T/writes" --target "$free_dev"
like "$(cat "$T/err")" "$free_dev \(block device of 16 MiB\) is overwritten now: up to 1.17 MiB are written" "which says what it writes"

# What carries something known is taken only where it is named twice.
loop_new 16M
for content in "ext4:a file system ext4" "swap:a signature swap" "table:a partition table dos" "lvm:a signature LVM2_member" "luks:a signature crypto_LUKS"; do
	dd if=/dev/zero of="$loop_dev" bs=1M count=1 status=none
	case ${content%%:*} in
	ext4) mkfs.ext4 -q -F "$loop_dev" ;;
	swap) mkswap -q "$loop_dev" >/dev/null ;;
	table) partition "$loop_dev" ;;
	lvm) # the label of a physical volume, in sector 1; its sum is libblkid's to check
		command -v pvcreate >/dev/null && pvcreate -qq -y "$loop_dev" >/dev/null 2>&1 || continue ;;
	luks) command -v cryptsetup >/dev/null && echo secret-words | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$loop_dev" - 2>/dev/null || continue ;;
	esac
	refused "${content%%:*}" "^blkcast study: $loop_dev: this device carries ${content#*:}.*--overwrite $loop_dev" "$loop_dev"
done
wipefs -qa "$loop_dev" && mkfs.ext4 -q -F "$loop_dev"
refused "another path named" "--overwrite $free_dev: expected the target's own path a second time" "$loop_dev" --overwrite "$free_dev"
exits 0 "named twice it is overwritten" answers timeout 60 "$blkcast" study migrate "$T/writes" --run "$loop_dev" --overwrite "$loop_dev" --duration 300ms
like "$(cat "$T/err")" "block device of 16 MiB, which carries a file system ext4\) is overwritten now" "which is said"
exits 2 "--overwrite without --run" "$blkcast" study migrate "$T/writes" --model x.json --overwrite "$loop_dev"
mkfs.ext4 -q -F "$loop_dev"
before=$(sum_of "$loop_dev")
exits 0 "reads alone destroy nothing, and are not refused" answers timeout 60 "$blkcast" study migrate "$T/reads" --run "$loop_dev" --duration 300ms
like "$(cat "$T/err")" "is read up to .*, and not written" "which is said"
is "$(sum_of "$loop_dev")" "$before" "and true"

# What is in use is refused even where it is named twice.
mounted=$loop_dev
mkdir "$T/mount"
mount -o ro "$mounted" "$T/mount" # so that nothing but blkcast could write
unmount() { umount -l "$T/mount" 2>/dev/null; }
at_exit unmount
refused "mounted" "$mounted: this target is $in_use mounted at $T/mount; free it first" "$mounted"
refused "mounted, named twice" "$in_use mounted" "$mounted" --overwrite "$mounted"
exits 0 "reads alone of a mounted device" answers timeout 60 "$blkcast" study migrate "$T/reads" --run "$mounted" --duration 300ms

# A benchmark whose text names a device is stopped before it begins.
mkdir "$T/files"
measured() { # STATUS NAME DEVICE LOAD [ARGS]
	local status=$1 name=$2 load=$4
	cat >"$T/plan.yaml" <<YAML
campaign: guard
targets: {here: {directory: $T/files, settings: {disk: $3}}}
load: $load
factors: {size: [1]}
warm_up: 0
interval: 200ms
intervals: 1
YAML
	shift 4
	rm -f "$T/g.db"
	exits "$status" "$name" timeout 60 "$blkcast" measure "$T/plan.yaml" --db "$T/g.db" "$@"
}
load="{driver: command, command: 'echo x >>$T/ran; : {size} of={disk}; echo \"{{\\\"a_s\\\": 1}\"'}"
measured 1 "measure: a load that names a mounted device" "$mounted" "$load" --overwrite "$mounted"
like "$(cat "$T/err")" "$mounted: the load names this device, which is in use: mounted at $T/mount; free it first" "is refused"
umount "$T/mount"
measured 1 "measure: a load that names a device with a file system" "$mounted" "$load"
like "$(cat "$T/err")" "$mounted: the load names this device, which carries ext4 and would be destroyed; --overwrite $mounted allows it" "is refused"
holds "and was not begun" test ! -e "$T/ran"
measured 0 "measure: named twice, it runs" "$mounted" "$load" --overwrite "$mounted"
is "$(wc -l <"$T/ran")" 1 "once"
measured 0 "measure: a free device" "$free_dev" "$load"
mount "$mounted" "$T/mount"

# A loop device's file, and a device that backs a loop device.
loop_new 16M
refused "a file that backs a loop device" "$loop_file: this target is $in_use what the loop device $loop_name is backed by" "$loop_file" --overwrite "$loop_file"
if upper=$(losetup --show -f "$loop_dev" 2>/dev/null); then
	drop_upper() { losetup -d "$upper" 2>/dev/null; }
	at_exit drop_upper
	refused "a device that backs a loop device" "$loop_dev: this target is $in_use what the loop device ${upper#/dev/} is backed by" "$loop_dev"
	drop_upper
fi

# Swap, a partition that is mounted, a device held by the device mapper.
loop_new 16M
mkswap -q "$loop_dev" >/dev/null
if swapon "$loop_dev" 2>/dev/null; then
	drop_swap() { swapoff "$swap_dev" 2>/dev/null; }
	swap_dev=$loop_dev
	at_exit drop_swap
	refused "swap space" "$in_use swap space in use" "$loop_dev" --overwrite "$loop_dev"
	drop_swap
else
	note "swap on a loop device cannot be had here"
fi
loop_new 16M
partition "$loop_dev"
losetup -d "$loop_dev"
loop_dev=$(losetup --show -P -f "$loop_file")
loops="$loops $loop_dev:$loop_file"
if [ -b "${loop_dev}p1" ] && mkfs.ext4 -q -F "${loop_dev}p1" && mkdir "$T/part" && mount "${loop_dev}p1" "$T/part"; then
	unmount_part() { umount -l "$T/part" 2>/dev/null; }
	at_exit unmount_part
	refused "a disk with a mounted partition" "$in_use its partition ${loop_dev#/dev/}p1 is mounted at $T/part" "$loop_dev" --overwrite "$loop_dev"
	refused "its mounted partition" "$in_use mounted at $T/part" "${loop_dev}p1"
	unmount_part
else
	note "partitions of loop devices cannot be had here"
fi
loop_new 16M
if command -v dmsetup >/dev/null && dmsetup create "blkcast-test-$$" --table "0 32768 linear $loop_dev 0" 2>/dev/null; then
	drop_dm() { dmsetup remove "blkcast-test-$$" 2>/dev/null; }
	at_exit drop_dm
	refused "held by the device mapper" "$in_use held by dm-" "$loop_dev" --overwrite "$loop_dev"
	drop_dm
else
	note "the device mapper cannot be had here"
fi

# Whoever claims a device holds it as a mount does.
python3 -c 'import os, sys, time; os.open(sys.argv[1], os.O_RDWR | os.O_EXCL); print("held", flush=True); time.sleep(60)' "$free_dev" >"$T/claim" &
claim=$!
for _ in $(seq 100); do grep -q held "$T/claim" && break; sleep 0.05; done
refused "claimed" "$free_dev: this target is $in_use claimed by another program or driver" "$free_dev" --overwrite "$free_dev"
kill $claim
wait $claim 2>/dev/null

# Files, and paths that lead nowhere.
truncate -s 16M "$T/disk.img"
refused "a file that exists" "$T/disk.img: this file of 16 MiB exists and would be overwritten; name it a second time with --overwrite" "$T/disk.img"
refused "a path in a folder that is not there" "$T/nwe/x: the folder that this file would lie in does not exist" "$T/nwe/x"
refused "a folder that is not there" "$T/nwe/: this folder does not exist" "$T/nwe/"
refused "a device that is not there" "/dev/blkcast-none: there is no such device" /dev/blkcast-none
ln -s "$T/nowhere" "$T/link"
refused "a link to nowhere" "$T/link: this symbolic link leads to nothing" "$T/link"
rm "$T/link"
exits 0 "a new file is made, in a folder that is there" answers timeout 60 "$blkcast" study migrate "$T/writes" --run "$T/new.img" --duration 300ms
like "$(cat "$T/err")" "$T/new.img \(new file, with .* free\): new files of .* are written, which are removed afterwards" "which is said"
holds "and is removed" test ! -e "$T/new.img"
timeout 60 "$blkcast" study migrate "$T/writes" --run "$T/new.img" --duration 5s --json -q >"$T/out"
is "$(jq -c '[.results[] | select(.by == "run" and .target_s > 0 and .ci[0] < .target_s and .target_s < .ci[1]) | "\(.type) \(.point)"]' "$T/out")" \
	'["read mean","read p50","read p95","write mean","write p50","write p95"]' "a replay answers means and percentiles, with intervals"
is "$(jq -c '[.results[] | select(.point == "mean") | .before_s * 1e6 | round]' "$T/out")" "[100,100]" "beside those of the same requests"
if command -v fio >/dev/null; then
	exits 0 "likewise by mimics" timeout 60 "$blkcast" study migrate "$T/writes" --run "$T/new.img" --duration 300ms --by-profile --leave-out bursts
	holds "whose file is removed" test ! -e "$T/new.img"
	exits 0 "in a folder" timeout 60 "$blkcast" study migrate "$T/writes" --run "$T/mount" --duration 300ms --by-profile --leave-out bursts
	is "$(ls -A "$T/mount")" "lost+found" "of which nothing stays"
fi

# Too little room is one sentence, and no mimic is tried instead.
awk 'BEGIN { for (i = 0; i < 600; i++) printf "%d,W,%d,4096,100\n", i * 1000, (i * 370) * 8 * 8 }' >"$T/far.csv"
"$blkcast" import -q --store "$T/far" --map $columns "$T/far.csv" >"$T/imported"
exits 2 "a file system that is too small" "$blkcast" study migrate "$T/far" --run "$T/mount" --duration 300ms
like "$(cat "$T/err")" "$T/mount: the load needs .* of new space, and the file system has .* free; make room there" "says what is needed"
is "$(wc -l <"$T/err")" 1 "in one line"
is "$(ls -A "$T/mount")" "lost+found" "and makes nothing"
exits 2 "a device that is too small" "$blkcast" study migrate "$T/far" --run "$free_dev" --duration 300ms
like "$(cat "$T/err")" "$free_dev: the loads reach up to .* and the target has 16 MiB; name a target that is as large, or run mimics of the profiles that leave out locality in its range" \
	"says so"

# Of a disk of 1 TiB only what the requests touch is written: 100 pieces of 64 KiB fit into this file system.
awk 'BEGIN { for (i = 0; i < 100; i++) printf "%d,%s,%.0f,4096,100\n", i * 1000, i % 2 ? "W" : "R", (i * 37 % 100) * 10 * 2097152 }' >"$T/wide.csv"
"$blkcast" import -q --store "$T/wide" --map $columns "$T/wide.csv" >"$T/imported"
exits 0 "a disk that is much larger than the target" answers timeout 60 "$blkcast" study migrate "$T/wide" --run "$T/mount" --duration 1s
like "$(cat "$T/err")" "$T/mount .*: new files of 6.25 MiB are written, which are removed afterwards" "what is written is said"
like "$(cat "$T/err")" "the requests reach up to 990 GiB: only the parts that they touch are written, and these may lie nearer to each other than on the recorded device" \
	"and what is not"
is "$(ls -A "$T/mount")" "lost+found" "nothing of it stays"
exits 0 "a new file likewise" answers timeout 60 "$blkcast" study migrate "$T/wide" --run "$T/mount/new.img" --duration 1s
is "$(ls -A "$T/mount")" "lost+found" "which is removed"

# Interrupted, nothing stays: while it replays, and while fio runs.
interrupted() { # NAME ARGS
	local name=$1 pid
	shift
	"$blkcast" study migrate "$T/writes" --run "$@" --duration 20s >"$T/out" 2>"$T/err" &
	pid=$!
	for _ in $(seq 200); do
		grep -q 'are written, which are removed' "$T/err" && break
		sleep 0.05
	done
	sleep 0.2
	kill -INT $pid
	wait $pid
	is $? 1 "$name, interrupted, ends with status 1"
	is "$(ls -A "$T/mount")" "lost+found" "$name, interrupted, leaves nothing in the folder"
	holds "$name, interrupted, leaves no file" test ! -e "$T/new.img"
}
sed 's/^/9/' "$T/w.csv" | awk -F, -v OFS=, '{ $1 = NR * 30000; print }' >"$T/slow.csv" # 18 s
"$blkcast" import -q --store "$T/slow" --map $columns "$T/slow.csv" >"$T/imported"
rm -rf "$T/writes" && mv "$T/slow" "$T/writes"
interrupted "a replay in a folder" "$T/mount"
interrupted "a replay in a new file" "$T/new.img"
if command -v fio >/dev/null; then
	interrupted "mimics in a folder" "$T/mount" --by-profile --leave-out bursts
	interrupted "mimics in a new file" "$T/new.img" --by-profile --leave-out bursts
fi
done_testing
