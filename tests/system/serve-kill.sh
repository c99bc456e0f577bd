#!/usr/bin/env bash
# `blkcast serve` killed at fifty random moments while two senders stream to it: whatever was
# acknowledged is in the store once, and the catalog agrees with the files.
# SEED and KILLS repeat or lengthen it; every 250 kills begin with a new store. PAUSE_MS (300): a kill
# comes up to so long after a start.
. tests/tap.sh
seed=${SEED:-20260101} kills=${KILLS:-50} pause=${PAUSE_MS:-300} kills_a_store=250
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
	for _ in $(seq 2000); do
		port=""
		while read -r line; do
			case $line in "blkcast serve: port "*) port=${line#blkcast serve: port } port=${port%%[!0-9]*} ;; esac
		done <"$T/serve.err"
		[ -n "$port" ] && return
		sleep 0.005
	done
	fail "serve starts" "$(cat "$T/serve.err")"
	done_testing
}

# round KILLS: from an empty store to what its checks say, added to the sums
slow=0 refused=0 bad_end=0 lost=0 unlike=0 leftovers=0 other_catalog=0 stuck=0 acknowledged=0
round() {
	local port=0 first began status=0 files
	start 0
	first=$port
	"$sender" "http://127.0.0.1:$port" alpha 1000000 300 "$T/alpha.log" 2>"$T/alpha.err" &
	senders=$!
	"$sender" "http://127.0.0.1:$port" beta 1000000 50 "$T/beta.log" 2>"$T/beta.err" &
	senders="$senders $!"
	for _ in $(seq "$1"); do
		sleep "0.$(printf '%03d' $((20 + RANDOM % pause)))"
		kill -9 "$server"
		wait "$server" 2>/dev/null
		began=$EPOCHREALTIME
		start "$first"
		[ $((${EPOCHREALTIME/./} - ${began/./})) -lt 5000000 ] || slow=$((slow + 1))
	done
	sleep 0.3
	for p in $senders; do kill "$p"; done
	for p in $senders; do wait "$p"; done
	senders=""
	kill "$server"
	wait "$server" || status=$?
	server=""
	[ $status = 0 ] || bad_end=$((bad_end + 1))
	[ -z "$(cat "$T/alpha.err" "$T/beta.err")" ] || refused=$((refused + 1))

	"$sender" --verify "$T/store" "$T/alpha.log" "$T/beta.log" >"$T/verify" 2>"$T/verify.err" || lost=$((lost + 1))
	acknowledged=$((acknowledged + $(cut -d' ' -f1 "$T/verify")))
	note "$(cat "$T/verify")" "$(head -n 3 "$T/verify.err")"
	files=$(find "$T/store/segments" -name '*.seg' | wc -l)
	grep -q " $files in the store, 0 damaged" "$T/verify" || unlike=$((unlike + 1))
	[ -z "$(find "$T/store/segments" -name '.*' -type f ! -newer "$T/serve.err")" ] || leftovers=$((leftovers + 1))
	"$blkcast" ls --store "$T/store" --json >"$T/ls.1"
	rm -f "$T"/store/catalog.sqlite*
	"$blkcast" ls --store "$T/store" --json >"$T/ls.2"
	cmp -s "$T/ls.1" "$T/ls.2" || other_catalog=$((other_catalog + 1))
	[ "$(wc -l <"$T/alpha.log")" -gt "$1" ] && [ "$(wc -l <"$T/beta.log")" -gt "$1" ] || stuck=$((stuck + 1))
	rm -rf "$T/store" "$T/alpha.log" "$T/beta.log"
}

for ((left = kills; left > 0; left -= kills_a_store)); do
	round $((left < kills_a_store ? left : kills_a_store))
done
[ "$kills" -le "$kills_a_store" ] || note "$kills kills, $acknowledged segments acknowledged"
is "$slow" 0 "each start after a kill takes less than five seconds"
is "$bad_end" 0 "SIGTERM ends serve with exit status 0"
is "$refused" 0 "no segment was ever refused"
is "$lost" 0 "each acknowledged segment is there once, with its hash"
is "$unlike" 0 "the catalog knows just the files"
is "$leftovers" 0 "what a killed writer left is cleared at the next start"
is "$other_catalog" 0 "a catalog made anew says the same"
[ "$pause" -lt 300 ] || is "$stuck" 0 "the senders got on between the kills"
done_testing
