#!/usr/bin/env bash
# A recorded load is moved by simulated devices: a small campaign on a loop device makes one, and one that is
# slower is made of it by hand. Order and coverage are looked at, no times.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need root "root is needed" test "$(id -u)" = 0
need fio "fio is not installed" command -v fio
need jq "jq is not installed" command -v jq
need loop "mkfs.ext4 is not installed" command -v mkfs.ext4
need_loop
need_bpf
blkcast=$BUILD/blkcast
unmount() { umount -l "$T/disk"; }
loop_new 160M
mkfs.ext4 -q -F -b 4096 -O ^has_journal "$loop_dev"
mkdir "$T/disk"
mount "$loop_dev" "$T/disk" && at_exit unmount

# A part of the campaign, up to 16 requests under way.
sed "s|/mnt/new|$T/disk|; s/file_set: 512m/file_set: 24m/" docs/examples/plans/storage.yaml |
	awk '/^ *- \{/ && /(clients|depth): (8|16|32|64|128)/ { next } !/^ *- \{/ || /flush_every: 1,|durable: 1/ || nr++ % 5 == 0' >"$T/plan.yaml"
exits 0 "a campaign of $(grep -c '^ *- {' "$T/plan.yaml") configurations" timeout 200 "$blkcast" measure "$T/plan.yaml" --db "$T/r.db" \
	--set interval=200ms --set warm_up=0 -q
exits 0 "makes a device" "$blkcast" storage calibrate --db "$T/r.db" -o "$T/disk.json" --requests 400 -q
is "$(jq '.covered | .concurrency <= 16 and .flush and .durable and .read.low_bytes == 4096' "$T/disk.json")" true "that covers what was measured"
jq '.read.base_s += 0.02 | .write.base_s += 0.02 | .flush.base_s += 0.02 | .servers = 1' "$T/disk.json" >"$T/slow.json"

record() { # STORE FIO-OPTION...: a load of its own on the disk
	local store=$1
	shift
	"$BUILD/blkcast-agent" --device "${loop_dev#/dev/}" --sink "file:$store" 2>"$T/agent.err" &
	agent_pid=$!
	sleep 1
	fio --name=load --filename="$T/disk/load" --size=16m --overwrite=1 --direct=1 --time_based --runtime=2 --output=/dev/null "$@"
	kill -INT $agent_pid
	wait $agent_pid
}
record "$T/sync" --ioengine=psync --thread --rw=randrw --bs=8k --numjobs=3 --fdatasync=4 --thinktime=1000
record "$T/deep" --ioengine=libaio --iodepth=64 --rw=randread --bs=4k

ask() { "$blkcast" study migrate "$@" --json -q >"$T/out" 2>"$T/err"; }
value() { jq "[.results[] | select(.type == \"$1\" and .point == \"$2\")][0].target_s" "$T/out"; }
ask "$T/sync" --storage "$T/disk.json"
like "$?" '^[013]$' "the load is answered for the disk that it ran on"
is "$(jq -r '[.results[].type] | unique | join(" ")' "$T/out")" "flush read write" "reads, writes and flushes"
fast=$(value read mean)
number "$(value read p50) <= $(value read p95)" "percentiles are in order"
ask "$T/sync" --storage "$T/slow.json"
is "$?" 1 "a disk that is slower by far does not carry the load"
like "$(jq -r .conclusion "$T/out")" "become slower" "and said to be slower"
number "$(value read mean) > $fast && $(value read mean) > 0.02" "by what its service takes longer"
number "$(jq '.throughput[0] | .target_per_s / .offered_per_s' "$T/out") < 0.9" "less gets done"
ask "$T/sync" --storage "$T/slow.json" --from "$T/slow.json"
is "$(jq '[.results[] | select(.before_s != null and .target_s != .before_s)] | length' "$T/out")" 0 "what stays where it is gets what was measured"
ask "$T/deep" --storage "$T/disk.json"
is "$?" 3 "64 requests under way cannot be told from a campaign of 16"
like "$(jq -r .conclusion "$T/out")" "more requests under way than" "and the answer says so"
done_testing
