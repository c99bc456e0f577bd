#!/usr/bin/env bash
# Buffered writes and fsyncs: an fsync's flush is one request for every source, with the kernel's own
# for it none; Linux 6.1 takes the flag of a flush away before it tells of the request.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
exits 0 "the guest runs and ends" scripts/vm.sh --arch amd64 --disk 64M:5ms --memory $vm_memory --time 120 \
	--add "$BUILD/tests/system/capture" --run tests/vm/guest/buffered.sh
cp "$T/out" "$T/totals"
vm_no_report buffered "$T/out" "$T/err"
field() { sed -n "s/^$1 $2 .*\b$3=\([0-9.]*\).*/\1/p" "$T/totals"; }
for scheduler in none mq-deadline; do
	for source in bpf blktrace tracefs; do
		of() { field $scheduler $source "$1"; }
		is "$(of write_bytes) $(of flush) $(of read) $(of other)" "$((8 * 6 * 65536)) 8 0 0" \
			"$scheduler, $source: all bytes are written, every fsync is one flush"
		is "$(of lost) $(of bad) $(of no_arrival)" "0 0 0" "$scheduler, $source: nothing is lost, every arrival known"
		is "$(of write)" "$(field $scheduler blktrace write)" "$scheduler, $source: as many writes as blktrace saw"
		note "$scheduler, $source: mean response time $(of total_us) us"
	done
done
done_testing
