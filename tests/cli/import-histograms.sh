#!/usr/bin/env bash
# vscsiStats' histograms: a profile without a trace.
. tests/support/tap.sh
b=$BUILD/blkcast

# histogram TITLE MEAN COUNT BUCKET...
histogram() {
	printf 'Histogram: %s,virtual machine worldGroupID,4060,virtual disk handleID,8195 (scsi0:0)\n' "$1"
	printf 'min,1\nmax,70000\nmean,%s\ncount,%s\nFrequency,Histogram Bucket Limit\n' "$2" "$3"
	shift 3
	printf '%s\n' "$@"
}
{
	histogram "IO lengths of commands" 6144 1000 0,512 750,4096 250,16384 "0,> 524288"
	histogram "IO lengths of Read commands" 4096 750 750,4096
	histogram "IO lengths of Write commands" 12288 250 250,16384
	histogram "distance (in LBNs) between successive commands" -12 999 10,-500000 989,1
	histogram "latency of IOs in Microseconds (us)" 400 1000 500,100 500,1000
	histogram "latency of Read IOs in Microseconds (us)" 300 750 750,500
	histogram "latency of Write IOs in Microseconds (us)" 700 250 250,1000
	histogram "latency of IO interarrival time in Microseconds (us)" 2000 999 999,5000
} >"$T/stats.csv"
exits 0 "histograms: exit 0" "$b" import --json "$T/stats.csv"
python3 - "$T/out" >"$T/values" <<'END'
import json, sys
all = json.load(open(sys.argv[1]))
p = all[0]
print(len(all), p['schema'], p['host'], p['device_name'], p['source'])
print(p['requests']['read'], p['requests']['write'], p['requests']['discard'], p['errors'])
print(p['request_mix']['read'], p['request_size']['read']['mean_bytes'], p['request_size']['write']['mean_bytes'])
r = p['response_time']['read']['total']
print(round(r['mean_s'] * 1e6), r['count'], r['p99_s'], round(p['response_time']['write']['total']['mean_s'] * 1e6))
o = p['intensity']['open']
print(round(o['rate_per_s']), round(o['interarrival_mean_s'] * 1e6), o['interarrival_scv'], round(p['duration_s'], 6))
print(round(p['intensity']['closed']['in_flight_mean'], 6), p['access_pattern']['read']['pattern'])
print(p['source_detail']['vscsistats']['IO lengths of commands']['histogram'])
print(p['source_detail']['vscsistats']['distance (in LBNs) between successive commands']['histogram'])
END
is "$(cat "$T/values")" "$(cat <<'END'
1 blkcast.profile/1 vm-4060 handle-8195 import
750 250 None None
0.75 4096.0 12288.0
300 None None 700
500 2000 None 2.0
0.2 None
[[512, 0], [4096, 750], [16384, 250], [None, 0]]
[[-500000, 10], [1, 989]]
END
)" "means, counts, rate, Little's law; what is not known is null; buckets as they are"
mv "$T/out" "$T/profile.json"
exits 0 "it can be compared: exit 0" "$b" compare "$T/profile.json" "$T/profile.json"
exits 0 "as text: exit 0" "$b" import --format vscsistats - <"$T/stats.csv"
like "$(cat "$T/out")" "read 750 \(75.0 %\), write 250" "as text, from standard input"
sed '/interarrival/,$d' "$T/stats.csv" >"$T/part.csv"
exits 2 "without interarrival times: exit 2" "$b" import "$T/part.csv"
like "$(cat "$T/err")" "part.csv: disk 8195: expected the histogram of interarrival times" "and it is said"
sed '/interarrival/,$s/^mean,.*/mean,10000000000000000/' "$T/stats.csv" >"$T/long.csv"
exits 2 "interarrival times that add up to centuries: exit 2" "$b" import "$T/long.csv"
like "$(cat "$T/err")" "long.csv: disk 8195: expected an end before 18446744073 s since 1970, got 1000 requests with 1e\+10 s between them" \
	"and it is said"
sed '9s/.*/x,y/' "$T/stats.csv" >"$T/bad.csv"
exits 2 "a bad bucket: exit 2" "$b" import "$T/bad.csv"
is "$(cat "$T/err")" "blkcast import: $T/bad.csv:9: expected FREQUENCY,LIMIT" "with its line"
exits 2 "into a store: exit 2" "$b" import --store "$T/s" "$T/stats.csv"
done_testing
