#!/usr/bin/env bash
# `blkcast serve` killed at fifty random moments while two senders stream to it: whatever was
# acknowledged is in the store once, and the catalog agrees with the files.
# After one kill in three the next comes at a random moment of the start. SEED and KILLS repeat or
# lengthen it; every 250 kills begin with a new store. PAUSE_MS (300): the others come up to so long after a
# start; after LIMIT_S seconds, where given, no further kill comes, and what was done is told.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
seed=${SEED:-20260101} kills=${KILLS:-50} pause=${PAUSE_MS:-300} limit=${LIMIT_S:-0} kills_a_store=250
start_limit_s=60
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
mkfifo "$T/log" "$T/never"
exec 3<>"$T/log" 4<>"$T/never"
sleep_ms() { read -r -t "0.$(printf '%03d' "$1")" -u 4 _; } # without a process
is_over() { [ "$limit" != 0 ] && [ $SECONDS -ge "$limit" ]; }

launch() {
	began=${EPOCHREALTIME/./}
	: >"$T/began"
	"$blkcast" serve $serve_user --store "$T/store" --listen "127.0.0.1:$1" >"$T/serve.out" 2>&3 &
	server=$!
}
starts=0 start_ms=20 slowest_ms=0 slow=0
# start PORT: waits until it says where it listens
start() {
	local said="" line
	launch "$1"
	while read -r -t $start_limit_s -u 3 line; do
		case $line in "blkcast serve: port "*)
			port=${line#blkcast serve: port } port=${port%%[!0-9]*}
			start_ms=$(((${EPOCHREALTIME/./} - began) / 1000)) starts=$((starts + 1))
			[ $start_ms -le $slowest_ms ] || slowest_ms=$start_ms
			[ $start_ms -lt 5000 ] || slow=$((slow + 1))
			return
			;;
		esac
		said="$said$line"$'\n'
	done
	fail "serve starts" "$said"
	done_testing
}
heard=0 # it has said where it listens before it was killed
kill_server() {
	local line
	kill -9 "$server"
	wait "$server" 2>/dev/null
	server="" heard=0
	while read -r -t 0 -u 3 && read -r -t 1 -u 3 line; do
		case $line in "blkcast serve: port "*) heard=1 ;; esac
	done
}

killed=0 in_start=0
# one_kill PORT: of what runs, and every third time of the one that begins then
one_kill() {
	sleep_ms $((20 + RANDOM % pause))
	kill_server
	killed=$((killed + 1))
	if [ $((RANDOM % 3)) = 0 ]; then
		launch "$1"
		sleep_ms $((RANDOM % (start_ms * 5 / 4 + 1) % 1000))
		kill_server
		killed=$((killed + 1)) in_start=$((in_start + 1 - heard))
	fi
	start "$1"
}

# round KILLS: from an empty store to what its checks say, added to the sums
refused=0 bad_end=0 lost=0 unlike=0 leftovers=0 other_catalog=0 stuck=0 acknowledged=0
round() {
	local port=0 first status=0 files first_kill=$killed until=$((killed + $1))
	start 0
	first=$port
	"$sender" "http://127.0.0.1:$port" alpha 1000000 300 "$T/alpha.log" 2>"$T/alpha.err" &
	senders=$!
	"$sender" "http://127.0.0.1:$port" beta 1000000 50 "$T/beta.log" 2>"$T/beta.err" &
	senders="$senders $!"
	while [ $killed -lt $until ] && ! is_over; do
		one_kill "$first"
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
	[ -z "$(find "$T/store/segments" -name '.*' -type f ! -newer "$T/began")" ] || leftovers=$((leftovers + 1))
	"$blkcast" ls --store "$T/store" --json >"$T/ls.1"
	rm -f "$T"/store/catalog.sqlite*
	"$blkcast" ls --store "$T/store" --json >"$T/ls.2"
	cmp -s "$T/ls.1" "$T/ls.2" || other_catalog=$((other_catalog + 1))
	[ "$(wc -l <"$T/alpha.log")" -gt $((killed - first_kill)) ] && [ "$(wc -l <"$T/beta.log")" -gt $((killed - first_kill)) ] ||
		stuck=$((stuck + 1))
	rm -rf "$T/store" "$T/alpha.log" "$T/beta.log"
}

while [ $killed -lt "$kills" ] && ! is_over; do
	round $((kills - killed < kills_a_store ? kills - killed : kills_a_store))
done
note "$killed kills of $kills, $in_start of them before it listened; $starts starts heard to the end, the longest $slowest_ms ms;" \
	"$acknowledged segments acknowledged"
is "$slow" 0 "each start after a kill takes less than five seconds"
is "$bad_end" 0 "SIGTERM ends serve with exit status 0"
is "$refused" 0 "no segment was ever refused"
is "$lost" 0 "each acknowledged segment is there once, with its hash"
is "$unlike" 0 "the catalog knows just the files"
is "$leftovers" 0 "what a killed writer left is cleared at the next start"
is "$other_catalog" 0 "a catalog made anew says the same"
[ "$pause" -lt 300 ] || is "$stuck" 0 "the senders got on between the kills"
done_testing
