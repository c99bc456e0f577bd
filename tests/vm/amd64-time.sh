#!/usr/bin/env bash
# A guest is stopped and continued, its clock stepped by an hour and back, its agent frozen, and the
# whole restored from a snapshot while its agent streams: every read is in the store, no latency is absurd,
# nothing stored is overwritten, and nothing of one life counted twice.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
need python3 "python3 is not installed" command -v python3
vm_serve
touch "$T/console"
memory=512M # little, as all of it is in the snapshot
! sanitized || memory=768M
scripts/vm.sh --arch amd64 --disk 64M --memory $memory --time 280 --console "$T/console" --monitor "$T/monitor" \
	--out "$T/guest" --add "$BUILD/blkcast-agent" --add tests/vm/guest/reads.sh:/vm/reads.sh \
	--run tests/vm/guest/time.sh "$vm_port" >"$T/vm.out" 2>"$T/vm.err" &
vm=$!
sums() { (cd "$T/store/segments" && find . -name '*.seg' -exec md5sum {} + | sort); }
stored() { find "$T/store/segments" -name '*.seg' 2>/dev/null | wc -l; }

vm_reached stop
vm_monitor stop >>"$T/said"
sleep 4
vm_monitor cont >>"$T/said"
vm_reached snapshot
at_snapshot=$(stored)
cp -r "$T/store/segments" "$T/sent" # what is there already when the snapshot is made
vm_monitor "savevm s1" >>"$T/said"
# What goes on after the snapshot is sent, then undone in the guest but not here.
for _ in $(seq 200); do
	[ "$(stored)" -ge $((at_snapshot + 4)) ] && break
	sleep 0.1
done
holds "the first life went on after the snapshot ($at_snapshot segments, then $(stored))" [ "$(stored)" -gt "$at_snapshot" ]
vm_monitor stop >>"$T/said"
sleep 1
sums >"$T/before"
vm_monitor "loadvm s1" cont >>"$T/said"
note "loadvm: $(tail -n 2 "$T/said" | head -n 1)"
wait $vm
is "$?" 0 "the guest ends"
note "$(grep -c segment_renamed "$T/guest/agent.log") segments renamed, $(grep -c quarantine "$T/guest/agent.log") set aside"
is "$(cat "$T/guest/status")" 0 "so does its agent"
vm_no_report time "$T/guest/agent.log"
sums >"$T/after"
is "$(comm -23 "$T/before" "$T/after" | wc -l)" 0 "no segment that was stored before was overwritten or went away"
exits 0 "the store is sound" "$BUILD/blkcast" check --store "$T/store"

read=$(cat "$T/guest/read")
"$BUILD/blkcast" dump --format csv --operation read --store "$T/store" >"$T/requests.csv"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["bytes"] == 4096 { print $at["sector"] }' "$T/requests.csv" |
	sort -n >"$T/sectors"
is "$(uniq "$T/sectors" | wc -l)" "$read" "every read of the life that lasted is in the store"
# Twice is what both lives read: a run from somewhere behind the snapshot on, each exactly twice.
uniq -c "$T/sectors" | awk '$1 > 1 { print $1, $2 / 8 }' >"$T/twice"
note "read in both lives: $(wc -l <"$T/twice")"
holds "the first life's reads after the snapshot are there as well" [ -s "$T/twice" ]
is "$(awk '$1 != 2 || (NR > 1 && $2 != last + 1) { bad++ } { last = $2 } END { print bad + 0 }' "$T/twice")" 0 \
	"each of them twice, and nothing else is"
# What the agent had not sent yet at the snapshot was sent by both lives: what it had sent is there once.
find "$T/sent" -name '*.seg' -exec "$BUILD/blkcast" dump --format csv --operation read {} + >"$T/sent.csv"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["bytes"] == 4096 { print $at["sector"] / 8 }' "$T/sent.csv" |
	sort >"$T/sent.reads"
number "$(wc -l <"$T/sent.reads") > 100" "most was sent before the snapshot ($(wc -l <"$T/sent.reads") reads)"
is "$(cut -d' ' -f2 "$T/twice" | sort | comm -12 - "$T/sent.reads" | wc -l)" 0 "none of that is there twice"
"$BUILD/blkcast" characterize --json --quiet --store "$T/store" >"$T/profile.json"
longest=$(jq '[.[].response_time.read | .total.max_s, .queue.max_s, .device.max_s] | max' "$T/profile.json")
number "0 < $longest && $longest < 30" "no latency is absurd ($longest s at most; the clock was an hour off)"
is "$(jq '[.[].lost] | add' "$T/profile.json")" 0 "nothing is lost"
# The step shows in the times of day alone.
"$BUILD/blkcast" ls --json --store "$T/store" >"$T/ls.json"
span=$(jq '[.. | objects | select(.begin_s? != null and .end_s? != null) | .end_s - .begin_s] | max' "$T/ls.json")
number "3600 < $span && $span < 4000" "the hour shows in the times of day ($span s)"
stopped=$(jq '[.hosts[].pauses[] | select(.cause == "guest_stopped") | .length_s] | max // 0' "$T/ls.json")
number "$stopped >= 2" "that the guest stood still is marked ($stopped s)"
"$BUILD/blkcast" ls --store "$T/store" >"$T/ls"
holds "ls shows it" grep -q "gap: guest stopped, " "$T/ls"
done_testing
