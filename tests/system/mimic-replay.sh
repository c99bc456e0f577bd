#!/usr/bin/env bash
# blkcast mimic --replay --run: a load is recorded, and sent again to another device, where it is recorded
# too: all requests are the same ones, those of each thread that reads in the same order. (What each waits
# for is tests/unit/replay/test_causal.c's.) Buffered writes, direct ones at depth, readers that wait, flushes.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need fio "fio is not installed" command -v fio
need_loop
need_bpf
blkcast=$BUILD/blkcast
loop_new 64M
first_dev=$loop_dev first=$loop_name
loop_new 64M
second_dev=$loop_dev second=$loop_name

# A loop device keeps what it was told before.
for d in $first $second; do
	echo 128 >"/sys/block/$d/queue/max_sectors_kb"
	echo none >"/sys/block/$d/queue/scheduler"
done

record() { # STORE DEVICE COMMAND...: its output is in $T/run
	local store=$1 device=$2
	shift 2
	agent_start "$store" "$device"
	timeout 100 "$@" >"$T/run" 2>"$T/run.err"
	is $? 0 "$store: $1 runs"
	agent_stop
}

# requests STORE FILTER OPTION...: operation, sector, bytes and thread, by arrival
requests() {
	"$blkcast" dump --store "$T/$1" --format jsonl -q --operation read,write "${@:3}" |
		jq -r "select($2)"' | [.operation, .sector, .bytes, .tid] | @tsv'
}

cat >"$T/job.fio" <<JOB
[global]
filename=$first_dev
thread=1
number_ios=200
randseed=3
[readers]
numjobs=2
direct=1
rw=randread
bs=4k
ioengine=psync
thinktime=200
size=32m
[deep]
direct=1
rw=randrw
bs=8k
ioengine=libaio
iodepth=8
size=32m
[buffered]
rw=write
bs=16k
ioengine=psync
fdatasync=20
offset=32m
size=32m
JOB
record app "$first" fio "$T/job.fio" --output=/dev/null
requests app ".total_s != null" >"$T/app.tsv"
number "$(wc -l <"$T/app.tsv") > 600" "the load was recorded"
echo 2 >"/sys/block/$second/queue/nomerges" # they are merged already
record again "$second" "$blkcast" mimic --replay --run --store "$T/app" --device "$first" --target "$second_dev" --json
# Before it sends anything the replay looks at what the target holds, which the agent records as well. The
# answer says when the replay began: from then on there are its requests and no others.
begin=$(jq .begin_s "$T/run")
requests again true --begin "@$begin" >"$T/again.tsv"
requests again true --end "@$begin" >"$T/look.tsv"
is "$(cut -f1 "$T/look.tsv" | sort -u)" read "before it began, the target was only read"
note "$(jq -c '[.requests, .left_out, .threads, .window_s, .elapsed_s]' "$T/run")"
is "$(jq '.read.requests + .write.requests' "$T/run")" "$(wc -l <"$T/app.tsv")" "all of them were sent"
is "$(cut -f1-3 "$T/again.tsv" | sort | md5sum)" "$(cut -f1-3 "$T/app.tsv" | sort | md5sum)" "the same ones"

# Threads are other ones; what each of them read is there again, in its order. (Who writes back what was
# buffered is as it comes.)
lists() { # FILE: a line for each thread that reads: its places in order
	awk -F'\t' '$1 == "read" { l[$4] = l[$4] " " $2 ":" $3 } END { for (t in l) print l[t] }' "$1" | sort
}
is "$(lists "$T/again.tsv" | md5sum)" "$(lists "$T/app.tsv" | md5sum)" "what each thread reads, in its order"
number "$(lists "$T/app.tsv" | wc -l) >= 3" "of three threads"

# Told, not held against anything: who else writes back decides it.
most() { "$blkcast" dump --store "$T/$1" --format jsonl -q | jq -s 'map(.queue_depth) | max'; }
note "under way at most: $(most app), again $(most again)"

exits 0 "it ends when it is told to" timeout 60 "$blkcast" mimic --replay --run --store "$T/app" --target "$second_dev" --duration 10ms --json
number "$(jq '.read.requests + .write.requests' "$T/out") < $(wc -l <"$T/app.tsv")" "with fewer requests"
is "$(jq '.requests - .read.requests - .write.requests - .flushes' "$T/out")" "$(jq .not_sent "$T/out")" "the others are counted"

# Two thousand reads of a microsecond each, one after another: no loop device is so fast.
awk 'BEGIN { for (i = 0; i < 2000; i++) print 2 * i ",R,8,4096,1" }' >"$T/quick.csv"
columns=time=1:us,op=2,offset=3:sectors,size=4,response=5:us
"$blkcast" import -q --store "$T/quick" --map $columns "$T/quick.csv"
exits 0 "a target that is slower" "$blkcast" mimic --replay --run --store "$T/quick" --target "$second_dev" --duration 4ms --json
number "$(jq .not_sent "$T/out") > 0" "is not sent all"
like "$(cat "$T/err")" "$(jq .not_sent "$T/out") of 2000 requests not sent: the duration was over" "which is said"
exits 1 "a study of it says no" "$blkcast" study migrate "$T/quick" --run "$second_dev" -q
like "$(cat "$T/out")" " The target cannot carry this load: .* offered .* requests/s, it gives .*/s\.$" "in a sentence"

# What a target refuses is named: no sectors of 512 bytes here.
loop_new 1M
losetup -d "$loop_dev" && losetup --sector-size 4096 "$loop_dev" "$loop_file"
printf '0,R,0,4096,100\n200,R,9,512,100\n' >"$T/sectors.csv"
"$blkcast" import -q --store "$T/sectors" --map $columns "$T/sectors.csv"
exits 2 "a request that the target refuses" "$blkcast" mimic --replay --run --store "$T/sectors" --target "$loop_dev"
is "$(cat "$T/err")" "blkcast mimic: $loop_dev: offset 4608: read of 512 bytes: Invalid argument" "is named"

# A study replays what is stored, in a folder in a file of its own, and mimics a profile. A busy machine may replay more
# slowly than was recorded, which is status 1 and an answer as well.
answers() { "$@" || [ $? = 1 ]; }
study() {
	exits 0 "$1" answers timeout 100 "$blkcast" study "${@:2}" --duration 300ms --json
	jq -c '[.by, ([.results[].target_s | select(. != null and . > 0)] | length > 0)]' "$T/out" >"$T/answer"
}
study "a migration to a device" migrate "$T/app" --run "$second_dev"
is "$(cat "$T/answer")" '["replay",true]' "is a replay"
if command -v mkfs.ext4 >/dev/null; then
	loop_new 200M
	mkfs.ext4 -q -F "$loop_dev" && mkdir "$T/mount" && mount "$loop_dev" "$T/mount"
	unmount() { umount -l "$T/mount"; }
	at_exit unmount
	study "a consolidation in a folder" consolidate "$T/app" "$T/app" --run "$T/mount"
	is "$(cat "$T/answer")" '["replay",true]' "is two replays"
	is "$(ls "$T/mount")" "lost+found" "of which nothing stays"
	study "a migration by profile" migrate "$T/app" --run "$T/mount" --by-profile --leave-out bursts
	is "$(cat "$T/answer")" '["run",true]' "is a mimic"
fi
done_testing
