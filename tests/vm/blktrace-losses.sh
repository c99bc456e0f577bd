#!/usr/bin/env bash
# What the block trace has to drop is counted, exactly; a killed agent's trace is cleared by the next.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
scripts/vm.sh --arch amd64 --smp 2 --disk 64M --memory $vm_memory --time 150 \
	--add "$BUILD/tests/system/capture" --run tests/vm/guest/blktrace-losses.sh >"$T/out" 2>"$T/err"
vm_no_report losses "$T/out" "$T/err"
field() { sed -n "s/^$1 .*\b$2=\([0-9]*\).*/\1/p" "$T/out"; }
for name in roomy tight stopped; do
	note "$(grep "^$name" "$T/out" | cut -c1-300)"
	is "$(($(field $name all) + $(field $name lost)))" "$(field $name kernel)" \
		"$name: delivered and lost are what the kernel completed"
	is "$(field $name bad)" 0 "$name: no request is absurd"
done
is "$(field roomy lost)" 0 "a reader with room loses nothing"
# Whether a small ring fills depends on how much of a processor the guest gets.
is "$(($(field tight lost) > 0))" "$(($(field tight dropped) > 0))" "a reader without loses some where the kernel dropped events"
holds "a reader that is stopped loses some" [ "$(field stopped lost)" -gt 0 ]
like "$(cat "$T/out")" "second: capture: blktrace: vda is traced by another blkcast-agent, pid N" \
	"a second agent is refused"
like "$(cat "$T/out")" "left behind: 0" "a killed agent leaves its trace"
like "$(cat "$T/out")" "third: 1" "the next one clears it"
like "$(cat "$T/out")" "after it: disabled" "and leaves none"
done_testing
