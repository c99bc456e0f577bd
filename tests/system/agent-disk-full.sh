#!/usr/bin/env bash
# What cannot be stored is said at once: on a full disk, with a spool or a store that somebody removes, and
# where nothing can be delivered. The ledger, the messages and the exit status agree.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need loop "a tmpfs cannot be mounted" eval 'mkdir -p $T/small && mount -t tmpfs -o size=1m none $T/small'
leave_small() { umount "$T/small"; }
at_exit leave_small
loop_new 32M
agent="$BUILD/blkcast-agent"
pid=""
stop() { [ -z "$pid" ] || kill -9 $pid 2>/dev/null; wait 2>/dev/null; }
at_exit stop
load() { dd if="$loop_dev" of=/dev/null bs=4k count="$1" iflag=direct status=none; }
sum() { "$BUILD/tests/system/segment_sum" "$1"; }
field() { sed "s/.* $2=\([0-9]*\).*/\1/" <<<" $1"; }
begin() { # ARG...: the agent in the background, until it records
	: >"$T/err"
	"$agent" --device "$loop_name" --host here --window 200ms --segment-interval 200ms "$@" \
		>"$T/out" 2>"$T/err" &
	pid=$!
	for _ in $(seq 500); do
		grep -q recording "$T/err" && return
		sleep 0.02
	done
	fail "the agent starts" "$(cat "$T/err")"
}
end() { kill -TERM $pid; wait $pid; status=$?; pid=""; }
heard() { for _ in $(seq 500); do grep -q "$1" "$T/err" && return 0; sleep 0.02; done; return 1; }
until_files() { for _ in $(seq 500); do [ "$(find "$1" -name '*.seg' | wc -l)" -ge "$2" ] && return 0; sleep 0.02; done; return 1; }

# A full disk under the store
begin --sink "file:$T/small/store"
like "$(cat "$T/err")" "^blkcast-agent: recording $loop_name, source [a-z]*, windows of 0.2 s, to file:" \
	"one line says what is recorded, from where and to where"
load 100
holds "the first segments are stored" until_files "$T/small/store" 1
sleep 0.4
dd if=/dev/zero of="$T/small/fill" bs=4k status=none 2>/dev/null # no byte is left
load 500
holds "a segment that cannot be stored is logged" heard segment_not_stored
load 500
sleep 0.5
now=$(sum "$T/small/store")
number "$(field "$now" spool_full) > 0" "the store tells of the loss while the agent runs"
end
is "$status" 1 "the agent ends with exit status 1"
like "$(tail -n 1 "$T/err")" 'captured requests were lost on the way to the sink' "and says why"
last=$(sum "$T/small/store")
captured=$(sed -n 's/.*ended: \([0-9]*\) requests captured, .*/\1/p' "$T/err")
is "$(($(field "$last" requests) + $(field "$last" spool_full)))" "$captured" \
	"requests in segments and lost ones are what was captured"
is "$(field "$last" bad)" 0 "no segment is damaged"
is "$(find "$T/small/store/agent" -name '*reserve*' | wc -l)" 0 "what was kept aside is gone"
lost=$("$BUILD/blkcast" ls --store "$T/small/store" --json 2>"$T/ls.err" | jq '[.. | .lost? | numbers] | add')
note "ls says lost $lost; $last; captured $captured"
rm -f "$T/small/fill"
"$BUILD/blkcast" ls --store "$T/small/store" >"$T/ls" 2>&1
like "$(cat "$T/ls")" "$(field "$last" spool_full)" "blkcast ls shows how many are lost"
begin --sink "file:$T/small/store"
load 50
end
is "$status" 0 "with room again the next run is whole"
is "$(field "$(sum "$T/small/store")" spool_full)" "$(field "$last" spool_full)" "and nothing is told twice"
like "$(cat "$T/err")" 'ended: [0-9]* requests captured, 0 lost; [0-9]* segments? delivered, 0 waiting' \
	"the last line says how it went"

# Nobody takes the segments
begin --sink http://127.0.0.1:1 --spool "$T/spool" --duration 1s
load 300
wait $pid
is "$?" 1 "an agent that could deliver nothing ends with exit status 1"
pid=""
like "$(cat "$T/err")" "upload_failed why=.*ECONNREFUSED" "the reason of a failed upload has its name"
waiting=$(find "$T/spool" -name '*.seg' | wc -l)
like "$(tail -n 1 "$T/err")" \
	"http://127.0.0.1:1: nothing could be delivered to it: $waiting segments with [0-9]+ requests .* wait in $T/spool" \
	"and says what waits where"
like "$(tail -n 1 "$T/err")" "with $(sed -n 's/.*ended: \([0-9]*\) requests captured, .*/\1/p' "$T/err") requests" \
	"with the number of requests"

# The spool is removed while the agent runs
begin --sink http://127.0.0.1:1 --spool "$T/gone"
load 300
holds "segments wait in the spool" until_files "$T/gone" 1
rm -rf "$T/gone"
load 200
for _ in $(seq 500); do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
wait $pid
is "$?" 1 "an agent whose spool was removed ends with exit status 1"
pid=""
like "$(cat "$T/err")" "spool_removed dir=$T/gone lost_segments=[1-9]" "says what is gone"
like "$(cat "$T/err")" "$T/gone/ledger: .*was removed or replaced while the agent ran" "and why it ends"
number "$(find "$T/gone" -name '*.seg' | wc -l) > 0" "what came later is in the folder that was made again"

# A store that is removed, and a standard output without room
begin --sink "file:$T/taken"
load 50
holds "segments are in the store" until_files "$T/taken" 1
rm -rf "$T/taken"
load 50
for _ in $(seq 500); do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
wait $pid
is "$?" 1 "an agent whose store was removed ends with exit status 1"
pid=""
like "$(tail -n 1 "$T/err")" "$T/taken/agent/here: .*was removed or replaced" "and says so"
"$agent" --device "$loop_name" --host here --sink stdout: --window 100ms --duration 10s >/dev/full 2>"$T/err"
is "$?" 1 "profiles that cannot be printed are its exit status"
like "$(cat "$T/err")" "standard output: No space left on device" "with the true reason"

# A spool in which others can plant files
mkdir -m 700 "$T/planted"
ln -s "$T/victim" "$T/planted/lock"
exits 2 "a lock that is a symbolic link is refused" "$agent" --device "$loop_name" --host here \
	--sink http://127.0.0.1:1 --spool "$T/planted" --duration 1s
like "$(cat "$T/err")" "planted/lock: this is a symbolic link" "and named"
holds "and what it points to is not made" [ ! -e "$T/victim" ]
mkdir "$T/open"
chmod 777 "$T/open"
exits 2 "a spool that others may write to is refused" "$agent" --device "$loop_name" --host here \
	--sink http://127.0.0.1:1 --spool "$T/open" --duration 1s
like "$(cat "$T/err")" "open: others .* may write to the spool \(mode 0777\)" "and named"
if [ "$(id -u)" = 0 ]; then
	mkdir -m 700 "$T/foreign"
	chown nobody "$T/foreign"
	exits 2 "a spool of another user is refused" "$agent" --device "$loop_name" --host here \
		--sink http://127.0.0.1:1 --spool "$T/foreign" --duration 1s
	like "$(cat "$T/err")" "foreign: the spool belongs to user" "and named"
fi
done_testing
