#!/usr/bin/env bash
# Agent and `blkcast serve` under a steady load: no descriptor is kept, no request is lost or doubled.
# ENDURE_SECONDS (8) and ENDURE_IOPS (2000) make it the hour at full load of `make endurance`, which looks
# at memory as well, the agent's and what the kernel keeps for it (a memory cgroup of its own), and at
# descriptors under load; with BUILD=build/tsan or build/asan a report of the sanitizer fails it.
# ENDURE_LEAK_PIPES=150 makes a process in that cgroup open so many pipes at half time, some 256 KiB of the
# kernel's memory: a run of 300 s or more must then fail.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with an error.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
. tests/loop.sh
need_loop
need_bpf
seconds=${ENDURE_SECONDS:-8} iops=${ENDURE_IOPS:-2000}
max_growth_kib=64
leak_pipes=${ENDURE_LEAK_PIPES:-}
# A short run shows no growth, and a sanitizer keeps its own books in memory.
looks_at_memory() { [ "$seconds" -ge 300 ] && ! sanitized; }
# Memory has settled after a fifth of the time, at most five minutes; then it is looked at 24 times.
settle=$((seconds / 5 < 300 ? seconds / 5 : 300))
nr_samples=24 step=$(((seconds - settle) / (nr_samples + 1)))

loop_new 256M
dev=$loop_name
completed() { awk '{ print $1 + $5 + $12 + $16 }' "/sys/block/$dev/stat"; }
field() { sed "s/.* $2=\([0-9]*\).*/\1/" <<<" $1"; }
descriptors() { find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l; }
# Counted page by page (the kernel's running count may lag by some pages of each processor), and with what
# is swapped out: the look at the kernel's memory makes the group give pages back.
resident() { awk '/^(Rss|Swap):/ { kib += $2 } END { print kib }' "/proc/$1/smaps_rollup"; }
anonymous() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; } # of it: not mapped from files
# Requests that the kernel's table still remembers: their lines in the tracer's data that have a key.
entries() {
	local id nr=""
	for id in $(cat "/proc/$1/fdinfo/"* 2>/dev/null | sed -n 's/^map_id:[[:space:]]*//p'); do
		bpftool -j map dump id "$id" 2>/dev/null >"$T/map"
		grep -q '"inflights"' "$T/map" || continue
		nr=$(jq '[.[].formatted.value[][] | .inflights? // empty | .[] | select(.key != 0)] | length' "$T/map")
	done
	rm -f "$T/map"
	echo "${nr:-unknown}"
}
# What the kernel keeps for the processes of a group, KiB; a group of version 1 or 2, or none at all.
group="" group_of=/sys/fs/cgroup/memory
[ -e $group_of/memory.kmem.usage_in_bytes ] || group_of=/sys/fs/cgroup
group_new() {
	mkdir $group_of/blkcast-endure-$$ 2>/dev/null || return
	group=$group_of/blkcast-endure-$$
	[ -n "$(kernel_kib)" ] || group_free
}
group_free() {
	[ -z "$group" ] || rmdir "$group"
	group=""
}
kernel_kib() {
	if [ -e "$group/memory.kmem.usage_in_bytes" ]; then
		echo $(($(cat "$group/memory.kmem.usage_in_bytes") / 1024))
	else
		awk '/^kernel / { printf "%d\n", $2 / 1024 }' "$group/memory.stat" 2>/dev/null
	fi
}
# The names of removed files stay in the kernel's cache until memory is short, which is simulated here.
give_back() {
	echo 0 >"$group/memory.force_empty" 2>/dev/null || echo 64M >"$group/memory.reclaim" 2>/dev/null
}
least() { printf '%s\n' "$@" | sort -n | head -n 1; }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
# What the kernel keeps for the group beside caches, KiB: the least of three looks, each after the caches have
# been given back. Two of these figures are of equal state; a figure with caches would hide what grows.
kernel_kept() {
	local looks=()
	sync -f "$T" # removed files stay until the journal has them
	give_back
	# A group of version 2 tells changes up to two seconds later (FLUSH_TIME in mm/memcontrol.c of Linux).
	[ -e "$group/memory.kmem.usage_in_bytes" ] || sleep 3
	for _ in 1 2 3; do
		give_back
		sleep 0.1
		give_back
		looks+=("$(kernel_kib)")
	done
	least "${looks[@]}"
}
# Growth in KiB an hour by least squares, of samples "SECONDS KIB" on standard input.
slope() {
	awk '{ n++; x += $1; y += $2; xx += $1 * $1; xy += $1 * $2 }
		END { d = n * xx - x * x; printf "%.0f\n", d ? (n * xy - x * y) / d * 3600 : 0 }'
}
# A process of the group that holds pipes ("leak NR") or leaves names of files in the cache ("names NR").
leaker_run() {
	[ -z "$group" ] || echo $BASHPID >"$group/cgroup.procs"
	exec python3 -c '
import os, sys
held = []
for line in sys.stdin:
    what, nr = line.split()
    for i in range(int(nr)):
        if what == "leak":
            held.append(os.pipe())
        else:
            name = "%s/name.%d" % (sys.argv[1], i)
            open(name, "w").close()
            os.unlink(name)
    print("done", flush=True)
' "$T"
}
leaker_new() {
	coproc leaker { leaker_run; }
	leaker_pid=$leaker_PID leaker_from=${leaker[0]} leaker_to=${leaker[1]}
	leaker_do names 0
}
leaker_do() {
	echo "$*" >&"$leaker_to"
	read -r -u "$leaker_from" -t 20 _
}
# The look at the kernel's memory sees what is kept, and does not see caches.
look_is_true() {
	local before cached kept
	if [ -z "$group" ] || ! command -v python3 >/dev/null; then
		skip_one cgroup "no memory cgroup, or no python3" "names in the kernel's cache do not count as growth"
		skip_one cgroup "no memory cgroup, or no python3" "some 256 KiB that the kernel keeps count"
		return
	fi
	leaker_new
	leaker_do names 500 # what the process itself needs is there afterwards
	before=$(kernel_kept)
	leaker_do names 2000
	# A busy machine gives its caches back late.
	for _ in 1 2 3 4 5 6 7 8; do
		cached=$(kernel_kept)
		[ $((cached - before)) -gt $max_growth_kib ] || break
		sleep 1
	done
	leaker_do leak 150
	kept=$(kernel_kept)
	kill -9 "$leaker_pid"
	wait "$leaker_pid" 2>/dev/null
	leaker_pid=""
	note "the kernel's memory, KiB: $before, with names in the cache $cached, with 150 pipes $kept"
	number "$cached - $before <= $max_growth_kib" "names in the kernel's cache do not count as growth"
	number "$kept - $cached > $max_growth_kib" "some 256 KiB that the kernel keeps count"
}
stop_all() {
	kill -9 $agent $serve $fio $leaker_pid 2>/dev/null
	wait 2>/dev/null
	group_free
}
agent="" serve="" fio="" leaker_pid=""
at_exit stop_all
group_new
look_is_true

"$BUILD/blkcast" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 >"$T/serve.out" 2>"$T/serve" &
serve=$!
port=$(serve_port "$T/serve" $serve)
(
	[ -z "$group" ] || echo $BASHPID >"$group/cgroup.procs"
	exec "$BUILD/blkcast-agent" --device "$dev" --sink "http://127.0.0.1:$port" --spool "$T/spool" --host here \
		--window 1s --segment-interval 500ms --verbose 2>"$T/log"
) &
agent=$!
for _ in $(seq 1200); do
	grep -q 'tracing source=bpf' "$T/log" && break
	sleep 0.05
done
before=$(completed)
agent_fds=$(descriptors $agent)
timeout $((seconds + 120)) fio --name=load --filename="$loop_dev" --rw=randrw --bs=4k --ioengine=libaio \
	--iodepth=16 --direct=1 --time_based --runtime="$seconds" --rate_iops=$((iops / 2)),$((iops / 2)) \
	--output="$T/fio" >/dev/null 2>&1 &
fio=$!
[ -z "$leak_pipes" ] || leaker_new
sleep $settle
agent_kib=$(resident $agent) serve_kib=$(resident $serve) load_fds=$(descriptors $agent)
agent_anonymous_kib=$(anonymous $agent)
[ -z "$group" ] || ! looks_at_memory || early=$(kernel_kept)
# What is resident by then, again and again, for a look at how it grows.
kernel=() looks=() began=$SECONDS
for i in $(seq $nr_samples); do
	sleep $step
	[ -z "$leak_pipes" ] || [ "$i" != $((nr_samples / 2)) ] || leaker_do leak "$leak_pipes"
	looks+=("$(resident $agent)")
	echo "$((SECONDS - began)) ${looks[*]: -1}" >>"$T/looks"
	sizes="${sizes:-} ${looks[*]: -1}/$(resident $serve)"
	[ -z "$group" ] || kernel+=("$(kernel_kib)")
	[ $step -lt 20 ] || note "sample $i: resident ${sizes##* } KiB, anonymous $(anonymous $agent) KiB, kernel ${kernel[*]: -1} KiB, $(descriptors $agent) descriptors"
done
[ -z "$group" ] || ! looks_at_memory || late=$(kernel_kept)
# Buffers come and go with each segment, and once a minute the agent gives back what then fills again, so the
# median of a quarter of the looks stands for the quarter.
quarter=$((nr_samples / 4))
agent_growth=$(($(median "${looks[@]: -quarter}") - $(median "${looks[@]:0:quarter}")))
serve_growth=$(($(resident $serve) - serve_kib))
note "the agent grew by $agent_growth KiB from the first to the last quarter of $((nr_samples * step)) s, all looks by" \
	"$(slope <"$T/looks") KiB an hour; anonymous $agent_anonymous_kib KiB, then $(anonymous $agent) KiB"
wait $fio
fio=""
# Idle: nothing is under way, what is spooled has been sent.
for _ in $(seq 200); do
	[ "$(find "$T/spool" -name '*.seg' | wc -l)" = 0 ] && break
	sleep 0.1
done
note "$seconds s, $iops requests/s wanted; resident agent $agent_kib KiB, $agent_growth more, serve $serve_kib KiB," \
	"$serve_growth more:$sizes"
number "$(descriptors $agent) <= $agent_fds + 8" "the agent has at most 8 descriptors above idle"
if command -v bpftool >/dev/null && [ "$(entries $agent)" != unknown ]; then
	is "$(entries $agent)" 0 "no request is left in the kernel's table"
else
	skip_one bpftool "bpftool cannot show the table" "no request is left in the kernel's table"
fi
if looks_at_memory; then
	number "$agent_growth <= $max_growth_kib" "the agent grows by $max_growth_kib KiB at most from the first to the last quarter of the looks"
	sleep 12 # what was attached for the load alone has been given back
	note "descriptors: $agent_fds before, $load_fds under load, $(descriptors $agent) after"
	number "$(descriptors $agent) <= $load_fds" "it keeps no descriptor"
	if [ -n "$group" ]; then
		note "kernel memory with caches, KiB: ${kernel[*]}"
		number "$late - $early <= $max_growth_kib" "nor does what the kernel keeps for it grow ($early KiB, then $late)"
	else
		skip_one cgroup "no memory cgroup can be made" "nor does what the kernel keeps for it grow"
	fi
fi
kill -INT $agent
status=0
wait $agent || status=$?
agent=""
is $status 0 "the agent ends in order"
after=$(completed)
kill $serve
status=0
wait $serve || status=$?
serve=""
is $status 0 "so does serve"
sum=$("$BUILD/tests/system/segment_sum" "$T/store")
note "$sum"
is "$(field "$sum" bad)" 0 "no segment is damaged"
is "$(field "$sum" sum)" "$((after - before))" "segments and ledgers give what the device completed"
is "$(grep -c 'Sanitizer' "$T/log" "$T/serve" | tr '\n' ' ')" "$T/log:0 $T/serve:0 " "no sanitizer has reported anything"
done_testing
