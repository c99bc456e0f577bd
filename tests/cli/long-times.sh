#!/usr/bin/env bash
# A segment over more than a century, which is small but has billions of seconds: every reader ends soon.
. tests/support/tap.sh
b=$BUILD/blkcast
make_hostile=$BUILD/tests/system/make_hostile

"$make_hostile" times host "$T/times.seg" >/dev/null
nr=$("$b" characterize --json "$T/times.seg" | jq '.[0].requests.read')
is "$nr" 47000 "a request on each of 47 000 days"
exits 0 "windows of a second over 128 years end" \
	timeout 120 "$b" characterize --utc --window 1s "$T/times.seg"
number "$(wc -l <"$T/out") <= 2 * $nr + 50010" "at most two lines a request, and 50 000 idle ones"
exits 0 "compare ends" timeout 120 "$b" compare "$T/times.seg" "$T/times.seg"
exits 0 "report ends" timeout 120 "$b" report "$T/times.seg" -o "$T/times.html"
number "$(wc -c <"$T/times.html") < 4000000" "with a page of a bounded size"
exits 2 "a store does not take it" "$b" import --store "$T/store" "$T/times.seg"
like "$(cat "$T/err")" 'some of its times lie 46999 days from its begin, expected 366 at most' "and says why"
printf 'timestamp,offset,bytes,operation\n0,0,4096,read\n%s,4096,4096,read\n%s,8192,4096,read\n' \
	$((300 * 86400)) $((600 * 86400)) >"$T/quiet.csv"
exits 0 "a trace of three requests in 600 days is imported" "$b" import --store "$T/quiet" \
	--format csv --map time=timestamp:s,offset=offset:bytes,size=bytes,op=operation "$T/quiet.csv"
is "$("$b" characterize --store "$T/quiet" --json | jq '.[0].requests.read')" 3 "and all of it is there"
"$make_hostile" places host "$T/places.seg" >/dev/null
exits 0 "a report of offsets up to the largest that a kernel has ends" \
	timeout 120 "$b" report "$T/places.seg" -o "$T/places.html"
number "$(wc -c <"$T/places.html") < 4000000" "with a page of a bounded size as well"
done_testing
