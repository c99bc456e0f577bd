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
"$make_hostile" places host "$T/places.seg" >/dev/null
exits 0 "a report of offsets up to the largest that a kernel has ends" \
	timeout 120 "$b" report "$T/places.seg" -o "$T/places.html"
number "$(wc -c <"$T/places.html") < 4000000" "with a page of a bounded size as well"
done_testing
