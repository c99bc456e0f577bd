#!/usr/bin/env bash
# `blkcast serve` that summarizes what it has just taken, while two senders stream to it and it is
# killed now and then: every segment is acknowledged, by the same hash before and after its requests went, none
# is stored twice, and what was taken = there + summarized.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
seed=${SEED:-20260101} kills=${KILLS:-5} nr=${SEGMENTS:-60}
RANDOM=$((seed % 32768))
note "seed $seed, $kills kills, $nr segments each"
blkcast=$BUILD/blkcast sender=$BUILD/tests/system/segment_sender
server="" senders="" port=$(free_port)

stop_all() {
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null
	for p in $senders; do kill -9 "$p" 2>/dev/null; done
	wait 2>/dev/null
}
at_exit stop_all

# The segments are of the past: all windows are old enough as soon as they come.
start() {
	: >"$T/serve.err"
	"$blkcast" serve $serve_user --store "$T/store" --listen "127.0.0.1:$port" --retain-requests 1h \
		--retain-window 5s >"$T/serve.out" 2>"$T/serve.err" &
	server=$!
	serve_port "$T/serve.err" "$server" >"$T/port" && return
	fail "serve starts" "$(cat "$T/serve.err")"
	done_testing
}

send() {
	senders=""
	for host in alpha beta; do
		"$sender" "http://127.0.0.1:$port" $host "$nr" 50 "$T/$host.$1" 2>>"$T/senders.err" &
		senders="$senders $!"
	done
}

summarized() {
	"$blkcast" ls --store "$T/store" --json 2>/dev/null |
		jq '[.hosts[] | .retention.summarized.requests] | add // 0'
}

start
send first
for _ in $(seq "$kills"); do
	sleep "$((1 + RANDOM % 2)).$(printf '%03d' $((RANDOM % 1000)))"
	kill -9 "$server"
	wait "$server" 2>/dev/null
	start
done
wait $senders
is "$(cut -d' ' -f1,4 "$T/alpha.first" "$T/beta.first" | sort -u | wc -l)" $((2 * nr)) "every segment is acknowledged"
all_summarized() { [ "$(summarized)" = $((2 * nr * 50)) ]; }
wait_until 120 all_summarized
is "$(summarized)" $((2 * nr * 50)) "all that was taken is summarized"
is "$(find "$T/store" -name '*.seg' | wc -l)" 0 "no segment is left"
exits 0 "the streams are told as they were" curl -sf "http://127.0.0.1:$port/v1/streams/alpha"
is "$(jq '[.. | .highest_sequence? // empty] | max' "$T/out")" "$((nr - 1))" "with the same high mark"
exits 0 "metrics count it" curl -sf "http://127.0.0.1:$port/metrics"
is "$(grep -c '^blkcast_serve_retention_requests_total{to="dropped"} 0$' "$T/out") $(grep -c \
	'^blkcast_serve_retention_failed_total 0$' "$T/out")" "1 1" "none was dropped, no pass failed"

send again
wait $senders
is "$(awk '$6 != 0' "$T/alpha.again" "$T/beta.again" | wc -l)" 0 "nothing is stored a second time"
for host in alpha beta; do
	is "$(cut -d' ' -f4,5 "$T/$host.again" | sort -u | md5sum)" "$(cut -d' ' -f4,5 "$T/$host.first" |
		sort -u | md5sum)" "$host: a repeat is acknowledged by the same hash"
done
is "$(find "$T/store" -name '*.seg' | wc -l) $(summarized)" "0 $((2 * nr * 50))" "and changes nothing"
kill -TERM "$server"
wait "$server"
is $? 0 "serve ends when it is told to"
server=""
exits 0 "the store is sound" "$blkcast" check --store "$T/store" --json
is "$(jq -c '[.retention.segments, .retention.summarized_requests, .requests, .findings]' "$T/out")" \
	"[$((2 * nr)),$((2 * nr * 50)),0,[]]" "and balances"
done_testing
