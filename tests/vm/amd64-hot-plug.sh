#!/usr/bin/env bash
# A disk that goes and comes back while the block trace runs: its requests are counted, but for those that end
# between the agent's last look and a disk's end under load, of which the ledger tells; nothing leaks.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
exits 0 "the guest runs and ends" scripts/vm.sh --arch amd64 --disk 64M --disk 64M:1ms --memory $vm_memory --time 200 \
	--add "$BUILD/blkcast-agent" --out "$T/guest" --run tests/vm/guest/hot-plug.sh
cp "$T/out" "$T/cycles"
vm_no_report hot-plug "$T/out" "$T/guest/agent.log"
note "$(paste -sd, "$T/cycles" | cut -c1-200)"
is "$(awk '$1 ~ /first|gone|briefly|again/ { print $2 }' "$T/cycles" | xargs)" "250 250 250 250" \
	"each time that the disk is there it is traced, and read"
# One is the open segment's, which comes and goes; one left by each disk would make three.
number "$(awk '$1 ~ /first|gone|briefly|again/ { print $3 }' "$T/cycles" | sort -n | sed -n '1p;$p' | xargs | tr ' ' -) >= -1" \
	"the agent has as many descriptors each time, but for that of a segment"
is "$(tail -n 1 "$T/cycles")" "left: disabled" "the agent ends and leaves no trace"
"$BUILD/blkcast" characterize --json --quiet --store "$T/guest/store" --device vdb >"$T/vdb.json"
busy=$(awk '$1 == "busy" { print $2 }' "$T/cycles")
got=$(jq '.[0].requests.read' "$T/vdb.json")
# The read that the disk went away under may have ended or not. The trace's files go with the disk: what
# ended since the agent's last look (10 ms, or as long as the emulated processor stood still) nobody sees,
# and the ledger has that interval each time.
number "1000 + $busy / 2 <= $got && $got <= 1001 + $busy" "of 1000 reads and $busy under load, $got are counted: 1000 and half of the others at least, no more than there were"
is "$(jq '.[0].lost' "$T/vdb.json")" 0 "none is counted as lost"
"$BUILD/blkcast" ls --json --store "$T/guest/store" >"$T/ls.json"
is "$(jq -c '[.hosts[0].lost_uncounted[] | .cause == "kernel" and .length_s >= 0] | [length, all]' "$T/ls.json")" "[5,true]" \
	"each time that it goes an interval is told in which some may be"
like "$("$BUILD/blkcast" ls --store "$T/guest/store")" 'lost: an unknown number \(kernel\), ' "and listed"
number "$(jq '.[0].response_time.read.total.max_s' "$T/vdb.json") < 5" "none lasts until the disk is back"
done_testing
