#!/usr/bin/env bash
# A start loads and attaches the tracer once, also where the choice of the source tries it first.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
need strace "strace is missing" strace -V

loop_new 16M
# calls SOURCE: how often a start loads a tracing program, and how often it attaches one
calls() {
	strace -f -e trace=bpf -o "$T/calls.$1" "$BUILD/blkcast-agent" --source "$1" --device "$loop_name" \
		--sink "file:$T/store.$1" --host here --duration 100ms 2>"$T/err.$1"
	echo "$(grep -c 'BPF_PROG_LOAD, {prog_type=BPF_PROG_TYPE_TRACING' "$T/calls.$1")" \
		"$(grep -c 'BPF_LINK_CREATE\|BPF_RAW_TRACEPOINT_OPEN, {raw_tracepoint={name=NULL, prog_fd' "$T/calls.$1")"
}
bpf=$(calls bpf)
number "$(cut -d' ' -f1 <<<"$bpf") >= 4" "a start loads its programs"
number "$(cut -d' ' -f2 <<<"$bpf") >= 3" "and attaches what the load needs"
is "$(calls auto)" "$bpf" "--source auto does neither twice"

exits 0 "--source auto traces bios likewise" "$BUILD/blkcast-agent" --device "$loop_name" --layer queue \
	--sink "file:$T/store" --host here --duration 100ms
is "$(grep -Ev '^blkcast-agent: (recording|ended|no request)' "$T/err")" "" "and has nothing to complain of"
exits 2 "a sink that cannot be opened ends the start" "$BUILD/blkcast-agent" --device "$loop_name" \
	--sink "file:$T/nowhere/$(printf 'x%.0s' $(seq 300))" --duration 1s
like "$(cat "$T/err")" "nowhere" "and is named"
done_testing
