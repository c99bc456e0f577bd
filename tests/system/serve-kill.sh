#!/usr/bin/env bash
# `blkcast serve` killed at fifty random moments while two senders stream to it: whatever was
# acknowledged is in the store once, and the catalog agrees with the files.
# SEED and KILLS repeat or lengthen it.
. tests/tap.sh
seed=${SEED:-20260101} kills=${KILLS:-50}
RANDOM=$((seed % 32768))
note "seed $seed, $kills kills"
blkcast=$BUILD/blkcast sender=$BUILD/tests/system/segment_sender
server=""
senders=""

stop_all() {
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null
	for p in $senders; do kill -9 "$p" 2>/dev/null; done
	wait 2>/dev/null
}
at_exit stop_all

# start PORT: waits until it says where it listens
start() {
	: >"$T/serve.err"
	"$blkcast" serve $serve_user --store "$T/store" --listen "127.0.0.1:$1" >"$T/serve.out" 2>"$T/serve.err" &
	server=$!
	for _ in $(seq 200); do
		port=$(sed -n 's/^blkcast serve: port \([0-9]*\).*/\1/p' "$T/serve.err")
		[ -n "$port" ] && return
		sleep 0.02
	done
	fail "serve starts" "$(cat "$T/serve.err")"
	done_testing
}

port=0
start 0
first=$port
"$sender" "http://127.0.0.1:$port" alpha 1000000 300 "$T/alpha.log" 2>"$T/alpha.err" &
senders=$!
"$sender" "http://127.0.0.1:$port" beta 1000000 50 "$T/beta.log" 2>"$T/beta.err" &
senders="$senders $!"

slow=0
for _ in $(seq "$kills"); do
	sleep "0.$(printf '%03d' $((20 + RANDOM % 300)))"
	kill -9 "$server"
	wait "$server" 2>/dev/null
	began=$(date +%s%N)
	start "$first"
	[ $(($(date +%s%N) - began)) -lt 5000000000 ] || slow=$((slow + 1))
done
is "$slow" 0 "each start after a kill takes less than five seconds"
sleep 0.3
for p in $senders; do kill "$p"; done
for p in $senders; do wait "$p"; done
senders=""
kill "$server"
status=0
wait "$server" || status=$?
server=""
is "$status" 0 "SIGTERM ends serve with exit status 0"
is "$(cat "$T/alpha.err" "$T/beta.err")" "" "no segment was ever refused"

"$sender" --verify "$T/store" "$T/alpha.log" "$T/beta.log" >"$T/verify" 2>"$T/verify.err"
is "$?" 0 "each acknowledged segment is there once, with its hash"
note "$(cat "$T/verify")" "$(head -n 3 "$T/verify.err")"
files=$(find "$T/store/segments" -name '*.seg' | wc -l)
like "$(cat "$T/verify")" " $files in the store, 0 damaged" "the catalog knows just the files"
is "$(find "$T/store/segments" -name '.*' -type f | wc -l)" "$(find "$T/store/segments" -name '.*' \
	-newer "$T/serve.err" -type f | wc -l)" "what a killed writer left is cleared at the next start"
"$blkcast" ls --store "$T/store" --json >"$T/ls.1"
rm -f "$T"/store/catalog.sqlite*
"$blkcast" ls --store "$T/store" --json >"$T/ls.2"
holds "a catalog made anew says the same" cmp -s "$T/ls.1" "$T/ls.2"
number "$(wc -l <"$T/alpha.log") > $kills && $(wc -l <"$T/beta.log") > $kills" \
	"the senders got on between the kills"
done_testing
