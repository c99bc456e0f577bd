#!/usr/bin/env bash
# CAP_BPF and CAP_PERFMON are enough to trace; without them one line says what is missing.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
need setpriv "setpriv of util-linux is missing" setpriv --version

loop_new 16M
chmod 755 "$T"
install -m 755 "$BUILD/tests/system/capture" "$BUILD/blkcast-agent" "$T"
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

nobody --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon --bounding-set=-all,+bpf,+perfmon \
	"$T/capture" 3 "$loop_name" --count >"$T/capture.out" 2>"$T/capture.err" &
capture_pid=$!
for _ in $(seq 100); do
	grep -q ready "$T/capture.err" && break
	sleep 0.05
done
dd if="$loop_dev" of=/dev/null bs=4k count=100 iflag=direct status=none
wait $capture_pid
totals=$(tail -n 1 "$T/capture.out")
note "$totals"
is "$(total read) $(total no_issuer)" "100 0" "as nobody with CAP_BPF and CAP_PERFMON, every request is seen"

exits 2 "without them, the agent does not start" nobody "$T/blkcast-agent" --source bpf --sink stdout: --duration 1s
is "$(wc -l <"$T/err")" 1 "and says why in one line"
like "$(cat "$T/err")" "CAP_BPF and CAP_PERFMON" "which names what is missing"
exits 0 "--doctor says what is left" nobody "$T/blkcast-agent" --doctor
like "$(tail -n 1 "$T/out")" "^auto would choose diskstats" "in its last line: what needs no privilege"
done_testing
