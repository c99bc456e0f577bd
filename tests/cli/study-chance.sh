#!/usr/bin/env bash
# blkcast study migrate --storage on devices whose law is known: what chance leaves open is within the intervals, and
# requests that all end in one instant have a throughput.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
blkcast=$BUILD/blkcast
map=time=time:ns,offset=offset:bytes,size=size,op=op,response=response:ns,tid=tid,pid=pid
cat >"$T/dev.json" <<'JSON'
{"schema": "blkcast.model/1", "kind": "device", "servers": 1, "law": "exponential",
 "read": {"base_s": 0.001}, "write": {"base_s": 0.001},
 "covered": {"concurrency": 1000000,
  "read": {"low_bytes": 4096, "high_bytes": 4096, "random": true, "sequential": true},
  "write": {"low_bytes": 4096, "high_bytes": 4096, "random": true, "sequential": true}},
 "held_out_errors": {"read": {"mean": {"configurations": 100, "mean_ratio": 0.01, "log_half": 0.01}}}}
JSON
# queue SEED: 3000 requests of a Poisson process at 0.9 of what one exponential server can do, and their times in it
queue() {
	awk -v x="$1" '
		function drawn() { x = x * 16807 % 2147483647; return -log(x / 2147483647) }
		BEGIN {
			for (i = 0; i < 100; i++) drawn()
			print "time,offset,size,op,response,tid,pid"
			for (i = 0; i < 3000; i++) {
				t += drawn() / 900
				free = (t > free ? t : free) + drawn() / 1000
				printf "%.0f,%d,4096,R,%.0f,100,100\n", t * 1e9, i * 7919 % 100000 * 4096, (free - t) * 1e9
			}
		}' >"$T/queue.csv"
	rm -rf "$T/queue"
	"$blkcast" import --quiet --store "$T/queue" --host h --device d --map "$map" "$T/queue.csv" >/dev/null
	"$blkcast" study migrate "$T/queue" --storage "$T/dev.json" --json --quiet |
		jq '.results[] | select(.point == "mean") | .before_s >= .ci[0] and .before_s <= .ci[1]'
}
# The requests of a queue wait for each other: taken as independent, 2 of these 20 would be inside. Of 20 nine in ten are
# 18; 15 or more are with a probability of 0.99.
for seed in $(seq 20); do queue $((seed * 7919)); done >"$T/inside"
number "$(grep -c true "$T/inside") >= 15" "the recorded means of what the device itself did are inside"
number "$(wc -l <"$T/inside") == 20" "in 20 answers"

{
	echo time,offset,size,op,response,tid,pid
	for i in $(seq 100); do echo "1000000000,$((i * 4096)),4096,R,1000000,$i,$i"; done
} >"$T/burst.csv"
"$blkcast" import --quiet --store "$T/burst" --host h --device d --map "$map" "$T/burst.csv" >/dev/null
exits 1 "100 requests in one instant are more than the device serves" "$blkcast" study migrate "$T/burst" \
	--storage "$T/dev.json" --json --quiet
like "$(jq ".throughput[0].target_per_s" "$T/out")" '^[0-9]{3}\.' "and the answer says how many it serves in a second"

# 999 requests in one second, each 0.1 ms after the one before, and one 98 s later. On a device that takes twice as long
# the second takes two; the rest of the time stays.
jq '.law = "lognormal" | .read.base_s = 0.0018' "$T/dev.json" >"$T/slow.json"
for idle in before after; do
	{
		echo time,offset,size,op,response,tid,pid
		[ $idle = after ] || echo "1000000000,4096,4096,R,900000,5,5"
		for i in $(seq 999); do echo "$((100000000000 + i * 1000000)),$((i * 4096)),4096,R,900000,5,5"; done
		[ $idle = before ] || echo "199000000000,4096,4096,R,900000,5,5"
	} >"$T/idle.csv"
	rm -rf "$T/idle"
	"$blkcast" import --quiet --store "$T/idle" --host h --device d --map "$map" "$T/idle.csv" >/dev/null
	exits 0 "a load that is idle $idle its work is carried" "$blkcast" study migrate "$T/idle" --storage "$T/slow.json" \
		--json --quiet
	like "$(jq '.throughput[0].target_per_s' "$T/out")" '^(9.9[0-2]|10.0)' "and does nearly as much in the time"
done

# A device of 1.04 ms, of which all is known to 2 %, for requests that took 1 ms.
jq '.law = "lognormal" | .read.base_s = 0.00104 | .held_out_errors.read.mean.log_half = 0.001' "$T/dev.json" >"$T/near.json"
{
	echo time,offset,size,op,response,tid,pid
	for i in $(seq 3000); do echo "$((1000000000 + i * 2000000 + i * 7919 % 1000000)),$((i * 4096)),4096,R,1000000,5,5"; done
} >"$T/closed.csv"
{
	echo application,type,point,predicted,measured
	for i in $(seq 12); do
		for point in mean p50 p95 p99; do echo "app$i,read,$point,1,1.0$((10 + i))"; done
	done
} >"$T/applications.csv"
"$blkcast" import --quiet --store "$T/closed" --host h --device d --map "$map" "$T/closed.csv" >/dev/null
exits 0 "a change of 4 % is certain" "$blkcast" study migrate "$T/closed" --storage "$T/near.json" \
	--intervals "$T/applications.csv" --quiet
like "$(cat "$T/out")" 'the reads of h d stay as they are, from 1 ms to 1.04 ms \(\+4' "and not large enough to matter"
done_testing
