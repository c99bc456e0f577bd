#!/usr/bin/env bash
# blkcast mimic: jobs from traces with known answers, replay, and what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
blkcast=$BUILD/blkcast
# An open load: nobody knows the clients of a log; 4000 reads of 8 KiB, 1 ms apart, at random places.
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"; x = 1
	for (i = 0; i < 4000; i++) { x = (x * 1103515245 + 12345) % 2147483648
		printf "%d /dev/sda read %d 8192\n", i * 1000, int(x / 2147483648 * 8192) * 8192 } }' >"$T/log"
"$blkcast" import --format fio-iolog --store "$T/store" -q "$T/log" >/dev/null
exits 2 "a target that cannot be is refused" "$blkcast" mimic "$T/store" --target /dev/null --json
exits 0 "a job for a folder" "$blkcast" mimic "$T/store" --target "$T" -o "$T/job.fio" --json
is "$(jq -c '[.intensity, .read.sizes, .write.sizes]' "$T/out")" '["open",[[8192,100]],[]]' "open, of one size"
is "$(sed -n '1,/^$/!p' "$T/job.fio" | tr '\n' ' ')" "[reads] rw=randread numjobs=4 rate_iops=250 " "a thousand a second"
like "$(cat "$T/job.fio")" "^rate_process=linear" "evenly spaced"
"$blkcast" mimic "$T/store" --target "$T" >"$T/again"
is "$(cat "$T/again")" "$(cat "$T/job.fio")" "the same profile is the same job"
exits 0 "a replay" "$blkcast" mimic --replay --store "$T/store" --target "$T/disk.img" -o "$T/r.fio" --json
is "$(jq -c '[.intensity, .requests]' "$T/out")" '["replay",4000]' "has all requests"
is "$(grep -c ' read ' "$T/r.fio.log")" 4000 "in the log beside it"
if command -v fio >/dev/null; then
	truncate -s 64M "$T/disk.img"
	sed -i 's/direct=1/direct=0/' "$T/r.fio"
	timeout 60 fio "$T/r.fio" --output-format=json >"$T/fio.json" 2>"$T/err"
	is "$(sed -n '/^{/,$p' "$T/fio.json" | jq '.jobs[0].read.total_ios')" 4000 "fio replays it"
	exits 0 "a short job" "$blkcast" mimic "$T/store" --target "$T/disk.img" --duration 500ms -o "$T/s.fio"
	sed -i 's/direct=1/direct=0/' "$T/s.fio"
	timeout 60 fio "$T/s.fio" --output-format=json >"$T/fio.json" 2>"$T/err"
	number "$(sed -n '/^{/,$p' "$T/fio.json" | jq '.jobs[0].read.total_ios') > 0" "fio runs it"
fi

# 1000 writes of 4 KiB, a flush after every fourth, all of one client; a tenth of the writes is forced, then all.
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) { printf "%d /dev/sda write %d 4096\n", i * 1000, (i * 7919 % 1000) * 4096
		if (i % 4 == 3) printf "%d /dev/sda sync 0 0\n", i * 1000 } }' </dev/null >"$T/commits"
"$blkcast" import --format fio-iolog --store "$T/commits-store" -q "$T/commits" >/dev/null
"$blkcast" characterize --store "$T/commits-store" --json -q | jq '.[0]' >"$T/commits.json"
is "$(jq -c '[.requests.flush, .durability.forced_writes, .durability.flushing_writes]' "$T/commits.json")" '[250,0,0]' "flushes are part of a profile"
like "$("$blkcast" characterize --store "$T/commits-store" -q)" "^  flushes +250/s, .* awaited by the thread that writes next" "for people as well"
exits 0 "a load that flushes" "$blkcast" mimic "$T/commits.json" --target "$T" -o "$T/commits.fio"
is "$(grep -E '^(fdatasync|sync)=' "$T/commits.fio")" fdatasync=4 "flushes after as many writes"
jq '.durability.forced_writes = 1000' "$T/commits.json" >"$T/forced.json"
exits 0 "a load that forces its writes" "$blkcast" mimic "$T/forced.json" --target "$T" -o "$T/forced.fio"
is "$(grep -E '^(fdatasync|sync)=' "$T/forced.fio" | tr '\n' ' ')" "fdatasync=4 sync=dsync " "forces them"
jq '.durability.forced_writes = 100 | .requests.flush = 700' "$T/commits.json" >"$T/part.json"
exits 0 "a load that forces a tenth, and flushes after 1.4 writes" "$blkcast" mimic "$T/part.json" --target "$T" -o "$T/part.fio"
like "$(cat "$T/part.fio")" '^# forced writes \(FUA\): 10 % in the profile, none in the job' "is told what differs"
like "$(cat "$T/part.fio")" '^# flushes: one for every 1 writes; the profile has one for every 1.43, but fio' "of the flushes, too"
jq 'del(.durability)' "$T/commits.json" >"$T/old.json"
exits 0 "a profile that is older than these counts" "$blkcast" mimic "$T/old.json" --target "$T" -o "$T/old.fio"
like "$(cat "$T/old.fio")" '^# the profile does not tell forced writes' "is told what is missing"
if command -v fio >/dev/null; then
	sed -i 's/direct=1/direct=0/; s/^runtime=.*/runtime=300ms/; /^group_reporting/d' "$T/commits.fio"
	(cd "$T" && timeout 60 fio "$T/commits.fio" --output-format=json 2>"$T/err" | sed -n '/^{/,$p') >"$T/fio.json"
	number "$(jq '[.jobs[] | .sync.lat_ns.N * 4 - .write.total_ios | fabs] | max' "$T/fio.json") <= 4" "fio flushes after every fourth write"
	number "$(jq '[.jobs[].sync.lat_ns.N] | add' "$T/fio.json") > 0" "at all"
	rm -f "$T"/mimic.*
fi

# Rates below one a second, which fio's rate_iops does not have: 40 reads of 8 KiB, 2.17 s apart, then at random.
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 40; i++) printf "%d /dev/sda read %d 8192\n", i * 2173913, (i * 7 % 40) * 8192 }' >"$T/slow"
"$blkcast" import --format fio-iolog --store "$T/slow-store" -q "$T/slow" >/dev/null
exits 0 "a slow load" "$blkcast" mimic "$T/slow-store" --target "$T" -o "$T/slow.fio"
rate=$(sed -n 's/^rate=//p' "$T/slow.fio")
number "$rate > 0.44 * 8192 && $rate < 0.48 * 8192" "has its rate, 0.46 a second, in bytes ($rate)"
is "$(grep -c rate_iops "$T/slow.fio")" 0 "which is no whole number"
awk 'BEGIN { srand(3); print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 60; i++) { t += -log(1 - rand()) * 2173913; printf "%d /dev/sda read %d 8192\n", t, (i * 7 % 40) * 8192 } }' >"$T/slow"
"$blkcast" import --format fio-iolog --store "$T/poisson-store" -q "$T/slow" >/dev/null
exits 0 "a slow load at random times" "$blkcast" mimic "$T/poisson-store" --target "$T" -o "$T/slow.fio" --leave-out bursts
like "$(cat "$T/err")" "reads: 0\.[0-9]+ a second are spaced evenly, since fio has Poisson arrivals at whole rates only" "says what differs"
like "$(cat "$T/slow.fio")" "^# reads: 0\.[0-9]+ a second are spaced evenly" "in the job, too"
if command -v fio >/dev/null; then
	sed 's/direct=1/direct=0/; s/runtime=.*/runtime=1500ms/; s/^rate=.*/rate=20480/' "$T/slow.fio" >"$T/fast.fio" # 2.5 a second
	timeout 60 fio "$T/fast.fio" --output-format=json >"$T/fio.json" 2>"$T/err"
	total=$(sed -n '/^{/,$p' "$T/fio.json" | jq '[.jobs[].read.total_ios] | add')
	number "$total >= 1 && $total <= 5" "fio keeps such a rate ($total requests)"
	rm -f "$T"/mimic.*
fi

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" mimic "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "no target" "--target: expected" "$T/store"
bad "a path fio cannot hold" "without : ; # " "$T/store" --target /tmp/a:b
bad "an unknown intensity" "auto, closed or open" "$T/store" --target "$T/x" --intensity half
bad "an unknown part" "discards, bursts or locality" "$T/store" --target "$T/x" --leave-out reads
bad "clients nobody knows" "the clients are unknown" "$T/store" --target "$T/x" --intensity closed
bad "a device that is not there" "nothing is in the selection; the devices are: sda of log" "$T/store" --target "$T/x" --device sdz
bad "a replay that is run and written" "--run: expected without --output" --replay --run --store "$T/store" --target "$T/x" -o "$T/x.fio"
bad "a run of no replay" "expected --replay with it" "$T/store" --run --target "$T/x"
bad "a replay in a folder" "expected a device or a file" --replay --run --store "$T/store" --target "$T"
bad "a replay without times" "no request with its times" --replay --run --store "$T/store" --target "$T/x"
truncate -s 1M "$T/small"
bad "a replay beyond the end" "the requests go up to .*, it has 1 MiB" --replay --run docs/examples/demo.seg --target "$T/small" --overwrite "$T/small"
bad "a replay on a file that exists" "this file of 1 MiB exists and would be overwritten" --replay --run docs/examples/demo.seg --target "$T/small"
bad "--overwrite of a job" "--overwrite: expected --run with it" "$T/store" --target "$T/x" --overwrite "$T/x"
bad "a replay to nowhere" "No such file" --replay --run docs/examples/demo.seg --target "$T/x"
bad "a replay without a place" "expected -o" --replay --store "$T/store" --target "$T/x"
echo old >"$T/kept.fio.log"
bad "a replay of nothing" "no request is in the selection" --replay --store "$T/store" --device sdz --target "$T/x" -o "$T/kept.fio"
is "$(cat "$T/kept.fio.log")" old "a replay of nothing leaves an older log as it was"
done_testing
