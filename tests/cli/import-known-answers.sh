#!/usr/bin/env bash
# Public traces whose answers were computed independently; and the same requests in three formats.
. tests/support/tap.sh
b=$BUILD/blkcast
data=$(dirname "$0")/../../../shared/data
need data "no ../shared/data" test -r "$data/cloudphysics.vscsi"

# field STORE PATH: of the only profile
field() { "$b" characterize --store "$T/$1" --json | python3 -c '
import json, sys
at = json.load(sys.stdin)[0]
for part in sys.argv[1].split("."):
    at = at[int(part)] if isinstance(at, list) else at[part]
print(json.dumps(at))' "$2"; }
# hit STORE BLOCKS: LRU hits in percent with a cache of so many blocks of 4 KiB
hit() { "$b" characterize --store "$T/$1" --json | python3 -c '
import json, sys
curve = json.load(sys.stdin)[0]["locality"]["miss_ratio_curve"]
size = int(sys.argv[1]) * 4096
print(100 * (1 - [m for s, m in curve if s <= size][-1]))' "$2"; }
near() { number "($1) - ($2) <= $3 && ($2) - ($1) <= $3" "$4: $1"; }

for format in vscsi csv oracleGeneral.bin; do
	exits 0 "cloudphysics.$format: exit 0" "$b" import --json --host c --device d --store "$T/$format" "$data/cloudphysics.$format"
	like "$(cat "$T/out")" '"requests":113872,"records":113872,"skipped":0' "cloudphysics.$format: 113 872 requests"
done
near "$(field vscsi request_mix.read)" 0.413 0.0005 "41.3 % reads"
near "$(field vscsi duration_s)" 7200.1 0.05 "7200.1 s"
near "$(field vscsi locality.footprint_bytes) / 4096 / 269210" 1 0.02 "269 210 distinct blocks"
for answer in 4096:10.45 16384:11.57 65536:24.92 262144:76.42; do
	near "$(hit vscsi ${answer%:*})" "${answer#*:}" 2 "LRU hits of ${answer%:*} blocks, ${answer#*:} %"
done
# in order, exactly: references, what begins where the one before ended, or one of the last 32 streams
"$b" dump --store "$T/vscsi" --format csv | sed 1d | cut -d, -f6-8 >"$T/requests"
is "$(awk -F, '{ first = int($2 / 8); last = int(($2 + $3 / 512 - 1) / 8); nr += last - first + 1 } END { print nr }' "$T/requests")" \
	1141869 "1 141 869 references of 4 KiB"
near "$(awk -F, '{ n += $2 == end; end = $2 + $3 / 512 } END { print 100 * n / NR }' "$T/requests")" 26.0 0.05 "26.0 % begin where the one before ended"
# 32 streams, by direction and end, the longest unused forgotten
near "$(awk -F, '{ key = $1 " " $2; new = $1 " " $2 + $3 / 512; kept = 0; hit = 0
	for (i = 1; i <= nr; i++) {
		if (e[i] == key && !hit) { hit = 1; continue }
		if (e[i] != new) keep[++kept] = e[i]
	}
	s += hit; e[1] = new; nr = 1
	for (i = 1; i <= kept && nr < 32; i++) e[++nr] = keep[i]
	} END { print 100 * s / NR }' "$T/requests")" 58.1 0.06 "58.1 % go on where one of the last 32 streams ended"
python3 - "$b" "$T" >"$T/differences" <<'END'
import json, subprocess, sys
def load(store):
    return json.loads(subprocess.check_output([sys.argv[1], 'characterize', '--json', '--store', f'{sys.argv[2]}/{store}']))[0]
def walk(a, b, path=''):
    if isinstance(a, dict):
        for k in a:
            walk(a[k], b[k], f'{path}.{k}' if path else k)
    elif a != b:
        print(path)
walk(load('vscsi'), load('csv'))
END
# the clock of the CSV file counts seconds: what hangs on it, and nothing else, may differ
is "$(grep -v -e '^begin_s$' -e '^end_s$' -e '^duration_s$' -e '^quality.watched_s$' -e '^intensity.open' -e '^throughput' "$T/differences")" "" \
	"vscsi and CSV: one profile, but for the clock"
is "$(field csv intensity.open.clock_resolution_s)" "1.0" "the CSV file's clock counts seconds"
is "$(field csv intensity.open.interarrival_scv) $(field csv intensity.open.idc.0.1)" "null null" "what is shorter is refused"
like "$(field csv intensity.open.refused)" "steps of 1 s" "and why"
is "$(field vscsi intensity.open.clock_resolution_s)" "1e-06" "the vscsi file's counts microseconds"
near "$(field vscsi intensity.open.idc.2.1) / $(field csv intensity.open.idc.2.1)" 1 0.001 "burstiness at 1 s: the same"
is "$(field vscsi response_time.read.total.count) $(field vscsi intensity.closed.in_flight_mean)" "null null" "no response times: null, not 0"
for store in csv oracleGeneral.bin; do # times in seconds and places
	"$b" dump --store "$T/$store" --format csv | sed 1d | cut -d, -f1,7 >"$T/places.$store"
done
is "$(wc -l <"$T/places.csv")" 113872 "CSV: 113 872 times and places"
holds "oracleGeneral: the same" cmp "$T/places.csv" "$T/places.oracleGeneral.bin"
# It has no operations: what hangs on them is null, all else as if all were reads.
"$b" dump --store "$T/oracleGeneral.bin" --format csv | sed 's/,unknown,/,read,/; s/0x7c00$/0x3c00/' >"$T/reads.csv"
exits 0 "the same as reads: exit 0" "$b" import --quiet --store "$T/reads" "$T/reads.csv"
is "$(field oracleGeneral.bin requests)" '{"read": null, "write": null, "discard": null, "flush": null, "other": 113872}' \
	"oracleGeneral: requests, of which none is known to be a read"
for part in request_mix request_size access_pattern.read access_pattern.write response_time throughput; do
	is "$(field oracleGeneral.bin $part | tr '{}[]' '\n' | grep -v end_bytes | grep -o ': [^ ,][^ ,]*' | sort -u | xargs)" ": null" \
		"oracleGeneral: $part is null"
done
for part in access_pattern.all locality intensity; do
	is "$(field oracleGeneral.bin $part)" "$(field reads $part)" "oracleGeneral: $part is known"
done
is "$("$b" dump --store "$T/oracleGeneral.bin" --format csv | sed 1d | cut -d, -f6 | sort | uniq -c | xargs)" "113872 unknown" \
	"and says so of every request"
"$b" export --quiet --store "$T/oracleGeneral.bin" --format csv >"$T/again.csv"
exits 0 "exported, it comes back" "$b" import --quiet --store "$T/again" "$T/again.csv"
is "$(field again requests)" "$(field oracleGeneral.bin requests)" "as unknown as it was"
exits 0 "fio's I/O log has no such requests" "$b" export --store "$T/oracleGeneral.bin" --format fio-iolog
like "$(cat "$T/err")" "113872 requests left out" "which is said"

# The README of the data counts line ends (9 999, the last line has none) and 13 devices of TPC-C,
# whose second column has 16.
exits 0 "Financial1: exit 0" "$b" import --json --store "$T/fin" "$data/financial1-10k.ssdsim"
like "$(cat "$T/out")" "\"requests\":$(grep -c . "$data/financial1-10k.ssdsim")," "Financial1: every line a request"
exits 0 "TPC-C: exit 0" "$b" import --json --store "$T/tpcc" "$data/tpcc-small.ssdsim"
like "$(cat "$T/out")" '"requests":6999,' "TPC-C: 6999 requests"
is "$("$b" ls --store "$T/tpcc" --json | grep -c device_name)" \
	"$(awk '{ print $2 }' "$data/tpcc-small.ssdsim" | sort -u | grep -c .)" "on as many devices as its second column names"
near "$("$b" characterize --together --store "$T/tpcc" --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d.get("end_s",0)-d.get("begin_s",0) or 0.1365)')" 0.1365 0.001 "in 0.137 s"
exits 0 "Atlas 10K: exit 0" "$b" import --json --store "$T/atlas" "$data/atlas10k.disksim"
like "$(cat "$T/out")" '"requests":10000,.*"with_response_time":10000' "Atlas 10K: 10 000 requests with service times"
near "$(field atlas response_time.read.total.mean_s) * 1e6" "$(awk '$1 == "R" { s += $5; n++ } END { print s / n }' "$data/atlas10k.disksim")" 0.01 "mean service time of reads, us"
exits 0 "ARC P3: exit 0" "$b" import --json --store "$T/arc" "$data/arc-P3.lis.zst"
like "$(cat "$T/out")" '"requests":238578,' "ARC P3: 238 578 lines"
is "$("$b" dump --store "$T/arc" --format csv | sed 1d | awk -F, '{ n += $8 / 4096 } END { print n }')" 3912296 "3 912 296 references"
near "$(field arc locality.footprint_bytes) / 4096 / 762543" 1 0.03 "762 543 distinct blocks"
for answer in 15:3.57 16:12.72 17:44.79 18:65.12 19:79.62; do
	near "$(hit arc $((1 << ${answer%:*})))" "${answer#*:}" 3 "LRU hits of 2^${answer%:*} blocks, ${answer#*:} %"
done
is "$(field arc intensity.open.rate_per_s)" null "no times: no rate"
exits 0 "a report of an imported trace: exit 0" "$b" report --store "$T/vscsi" -o "$T/report.html"
holds "it is a page" grep -q '</html>' "$T/report.html"
done_testing
