#!/usr/bin/env bash
# The same through spool and HTTP: the agent is killed fifteen times while no analyzer answers; one that
# comes later gets all that is left, and the ledgers explain the rest. One kill in three comes at a random
# moment of the start: of loading, of the spool's recovery, of taking over the books.
# KILLS lengthens it, every 250 with a spool and a store of their own; SEED repeats it; PAUSE_MS (250): the
# others come so long after the agent traces, and up to SPREAD_MS (450) more; KILL_IOPS: a load of less than
# 10 000 requests/s, in bursts of 20, between which fio sleeps; KILL_LOADS=30: so many busy loops run beside it;
# after LIMIT_S seconds, where given, no further kill comes, and what was done is told.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
kills=${KILLS:-15} kills_a_store=250 pause=${PAUSE_MS:-250} spread=${SPREAD_MS:-450}
load=(--rate_iops=5000,5000)
[ -z "${KILL_IOPS:-}" ] || load=(--thinktime_blocks=20 --thinktime=$((20000000 / KILL_IOPS)))
loads=${KILL_LOADS:-0}
seed=${SEED:-20260101} limit=${LIMIT_S:-0} start_limit_s=60
RANDOM=$((seed % 32768))
note "seed $seed, $kills kills, $loads busy loops beside"

loop_new 64M
dev=$loop_name
port=$(free_port)
agent=("$BUILD/blkcast-agent" --device "$dev" --sink "http://127.0.0.1:$port" --spool "$T/spool"
	--host here --window 100ms --segment-interval 50ms --verbose)
pid="" fio="" serve="" busy=""
stop_all() {
	kill -9 $pid $fio $serve $busy 2>/dev/null
	wait 2>/dev/null
}
at_exit stop_all
mkfifo "$T/log" "$T/never"
exec 3<>"$T/log" 4<>"$T/never"
completed() { awk '{ print $1 + $5 + $12 }' "/sys/block/$dev/stat"; }
field() { sed "s/.* $2=\([0-9]*\).*/\1/" <<<" $1"; }
spooled() { find "$T/spool" -name '*.seg' | wc -l; }
enough_wait() { [ "$(spooled)" -gt 5 ]; }
sleep_ms() { read -r -t "$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))" -u 4 _; } # without a process

# hear SECONDS: the agent's next line
uncertain=0 traced=0
hear() {
	read -r -t "$1" -u 3 line || return
	case $line in
	*uncertain_requests=*) uncertain=$((uncertain + ${line##*uncertain_requests=})) ;;
	*"tracing source"*) traced=1 ;;
	esac
}
launch() {
	"${agent[@]}" >&3 2>&1 &
	pid=$!
	began=${EPOCHREALTIME/./} traced=0
}
# Each of them ends by itself soon after this script, however that ends.
for _ in $(seq "$loads"); do
	(while kill -0 $$ 2>/dev/null; do for _ in {1..100000}; do :; done; done) &
	busy="$busy $!"
done
starts=0 start_ms=200 slowest_ms=0
await_tracing() {
	local said=""
	while hear $start_limit_s; do
		if [ $traced = 1 ]; then
			start_ms=$(((${EPOCHREALTIME/./} - began) / 1000)) starts=$((starts + 1))
			[ $start_ms -le $slowest_ms ] || slowest_ms=$start_ms
			return
		fi
		said="$said$line"$'\n'
	done
	fail "the agent starts" "$said"
	done_testing
}
kill_agent() {
	kill -9 $pid
	wait $pid 2>/dev/null
	pid=""
	while read -r -t 0 -u 3; do hear 1; done
}

in_start=0 killed=0
# one_kill I: into a start, or some time after it
one_kill() {
	launch
	if [ $((RANDOM % 3)) = 0 ]; then
		sleep_ms $((RANDOM % (start_ms * 5 / 4 + 1)))
	else
		await_tracing
		sleep_ms $((pause + $1 * 70 % spread))
	fi
	kill_agent
	killed=$((killed + 1)) in_start=$((in_start + 1 - traced))
}

# An analyzer comes; an agent sends it what waits, at rest and until nothing is left.
drain() {
	: >"$T/serve"
	"$BUILD/blkcast" serve $serve_user --store "$T/store" --listen "127.0.0.1:$port" >"$T/serve" 2>&1 &
	serve=$!
	serve_port "$T/serve" $serve >"$T/port"
	launch
	await_tracing
	sleep 1
	for _ in $(seq 600); do
		[ "$(spooled)" = 0 ] && break
		sleep 0.1
	done
	kill -INT $pid
	wait $pid
	pid=""
	while read -r -t 0 -u 3; do hear 1; done
}

is_over() { [ "$limit" != 0 ] && [ $SECONDS -ge "$limit" ]; }

# round KILLS: from an empty spool to what the store says, added to the sums
few=0 left=0 damaged=0 unequal=0 died=0 not_watched=0 requests=0 all_completed=0 all_sum=0
round() {
	local before after sum
	# The base: begun while nothing runs, and killed; an orderly end would begin the books anew.
	launch
	await_tracing
	sleep 0.3
	kill_agent
	before=$(completed)
	fio --name=load --filename="$loop_dev" --rw=randrw --bs=4k --ioengine=libaio --iodepth=4 --direct=1 \
		--time_based --runtime=$((3600 + 10 * $1)) "${load[@]}" \
		--output="$T/fio" >/dev/null 2>&1 &
	fio=$!
	for i in $(seq "$1"); do
		is_over && break
		one_kill "$i"
	done
	# Runs as short as SHORT=1 makes them may end before their first segment is closed: the last one ends
	# when enough of them wait for the analyzer.
	launch
	await_tracing
	wait_until 60 enough_wait || few=$((few + 1))
	kill_agent
	killed=$((killed + 1))
	kill -INT $fio # the load outlasts the kills
	wait $fio
	fio=""
	drain
	[ "$(spooled)" = 0 ] || left=$((left + 1))
	after=$(completed)
	kill $serve
	wait $serve
	serve=""
	sum=$("$BUILD/tests/system/segment_sum" "$T/store")
	note "completed $((after - before)), $sum"
	[ "$(field "$sum" gaps) $(field "$sum" bad)" = "0 0" ] || damaged=$((damaged + 1))
	[ "$(field "$sum" sum)" = $((after - before)) ] || unequal=$((unequal + 1))
	died=$((died + $(field "$sum" agent_died))) not_watched=$((not_watched + $(field "$sum" not_watched)))
	requests=$((requests + $(field "$sum" requests)))
	all_completed=$((all_completed + after - before)) all_sum=$((all_sum + $(field "$sum" sum)))
	rm -rf "$T/spool" "$T/store"
}

for ((togo = kills; togo > 0; togo -= kills_a_store)); do
	is_over && break
	round $((togo < kills_a_store ? togo : kills_a_store))
done
note "$killed kills, $in_start of them before it traced; $starts starts heard to the end, the longest $slowest_ms ms;" \
	"$all_completed completed = $requests in segments + $died died + $not_watched not watched" \
	"$([ "$((requests + died + not_watched))" = $all_completed ] || echo "+ others"); uncertain $uncertain"
is "$few" 0 "segments wait in the spool"
is "$left" 0 "the analyzer gets all of it"
is "$damaged" 0 "nothing is damaged or unknown"
holds "some died with the agent" [ "$died" -gt 0 ]
is "$unequal $all_sum" "0 $all_completed" "segments and ledgers give what the device completed"
[ "$kills" -lt 1000 ] || number "$slowest_ms < 5000" "each start takes less than five seconds"
done_testing
