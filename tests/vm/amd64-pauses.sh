#!/usr/bin/env bash
# An agent is stopped and frozen, its guest's clock slewed, the guest migrated through a file to
# another QEMU: every read is in the store once, each gap is marked as what it was, no latency
# is absurd.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
need python3 "python3 is not installed" command -v python3
vm_serve
memory=320M # little, as all of it is migrated
! sanitized || memory=768M
touch "$T/console"
scripts/vm.sh --arch amd64 --disk 64M --memory $memory --time 280 --console "$T/console" --monitor "$T/monitor" --migrate "$T/moved" \
	--out "$T/guest" --add "$BUILD/blkcast-agent" --add tests/vm/guest/reads.sh:/vm/reads.sh \
	--run tests/vm/guest/pauses.sh "$vm_port" >"$T/vm.out" 2>"$T/vm.err" &
vm=$!

vm_reached migrate || done_testing
sleep 1
# What it waits for from its end on is the time it stands still.
vm_monitor stop "migrate \"exec:cat>'$T/moved'\"" >>"$T/said"
for _ in $(seq 600); do
	vm_monitor "info migrate" >"$T/migrate"
	grep -q "Migration status: completed" "$T/migrate" && break
	sleep 0.1
done
holds "it is migrated to a file" grep -q "Migration status: completed" "$T/migrate"
sleep 3
vm_monitor quit >>"$T/said" 2>&1
for _ in $(seq 200); do
	vm_monitor "info status" >"$T/status" 2>/dev/null
	grep -q "status: paused'" "$T/status" && break
	sleep 0.1
done
vm_monitor cont >>"$T/said"
wait $vm
is "$?" 0 "it ends, in the other QEMU"
is "$(cat "$T/guest/status")" 0 "so does its agent"
vm_no_report pauses "$T/guest/agent.log"

exits 0 "the store is sound" "$BUILD/blkcast" check --store "$T/store"
"$BUILD/blkcast" dump --format csv --operation read --store "$T/store" >"$T/requests.csv"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["bytes"] == 4096 { print $at["sector"] / 8 }' "$T/requests.csv" |
	sort -n >"$T/reads"
is "$(uniq "$T/reads" | wc -l)" "$(cat "$T/guest/read")" "every read is in the store"
is "$(uniq -d "$T/reads" | wc -l)" 0 "none of them twice"
"$BUILD/blkcast" characterize --json --quiet --store "$T/store" >"$T/profile.json"
is "$(jq '[.[].lost] | add' "$T/profile.json")" 0 "nothing is lost"
longest=$(jq '[.[].response_time.read | .total.max_s, .queue.max_s, .device.max_s] | max' "$T/profile.json")
number "0 < $longest && $longest < 30" "no latency is absurd ($longest s at most)"

"$BUILD/blkcast" ls --json --store "$T/store" >"$T/ls.json"
note "$(jq -c '[.hosts[].pauses[] | [.cause, .length_s]]' "$T/ls.json")"
# A host that stalls can add stalls: at least these, and as long as they were made to be.
pause() { jq --arg c "$1" '[.hosts[].pauses[] | select(.cause == $c) | .length_s] | max // 0' "$T/ls.json"; }
number "$(pause agent_stopped) >= 1" "the stopped agent is marked ($(pause agent_stopped) s)"
number "$(pause stalled) >= 1" "the frozen agent of an idle guest is marked ($(pause stalled) s)"
number "$(pause guest_stopped) >= 1" "the migration is marked ($(pause guest_stopped) s)"
is "$(jq -c '[.[].pauses[][0]] | unique' "$T/profile.json")" '["agent_stopped","guest_stopped","stalled"]' \
	"the profile names the same gaps"
"$BUILD/blkcast" ls --store "$T/store" >"$T/ls"
holds "ls shows them" grep -q "gap: agent stopped, guest not, " "$T/ls"
[ $tap_failed = 0 ] || note_files "$T/guest/agent.log" "$T/guest/slew" "$T/said" "$T/vm.err" "$T/console"
done_testing
