#!/usr/bin/env bash
# blkcast measure with a real fio: its numbers, resume after a kill, fit and predict from the store.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need fio "fio is not installed" command -v fio
need sqlite3 "sqlite3 is not installed" command -v sqlite3
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
files=$(mktemp -d "$(test -w /dev/shm && echo /dev/shm || echo /tmp)/blkcast-test.XXXXXX")
rm_files() { rm -rf "$files"; }
at_exit rm_files
sql() { sqlite3 "$T/r.db" "$1"; }

cat >"$T/plan.yaml" <<YAML
campaign: test
targets:
  here: {directory: $files}
load:
  driver: fio
  job: |
    [global]
    ioengine=psync
    size=8m
    bs={size}
    [a]
    rw={rw}
    rwmixread={read}
factors:
  size: [4k, 16k]
  read: [50, 100]
  pattern: {cases: {random: {rw: randrw}, sequential: {rw: rw}}}
warm_up: 200ms
interval: 500ms
intervals: 2
time_limit: 30s
seed: 7
YAML

exits 0 "a dry run says what would be measured" "$blkcast" measure "$T/plan.yaml" --dry-run --json
is "$(jq -r '.configurations, .runs, .estimated_s' "$T/out" | paste -sd' ')" "8 8 21.6" "configurations, runs and time"
holds "and makes no store" test ! -e "$T/r.db"

# A kill in the middle loses the run under way.
"$blkcast" measure "$T/plan.yaml" --db "$T/r.db" -q >/dev/null 2>&1 &
killed=$!
for _ in $(seq 200); do
	[ "$(sql 'select count(*) from run' 2>/dev/null)" = 2 ] && break
	sleep 0.1
done
sleep 0.8
kill -KILL $killed
wait $killed 2>/dev/null
is "$(sql "select count(*) from run where status = 'done'")" 2 "runs done before a kill are in the store"
for _ in $(seq 80); do
	[ -z "$(ls -A "$files")" ] && break
	sleep 0.1
done
is "$(ls -A "$files")" "" "the target removes its files after the kill"
exits 1 "a campaign is not begun twice" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db"
like "$(cat "$T/err")" "'test' is there already: --resume" "and says how to go on"
exits 0 "it goes on" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db" --resume --json
is "$(jq -r '.done, .before, .failed' "$T/out" | paste -sd' ')" "6 2 0" "with the runs that were missing"
is "$(sql 'select count(*), count(distinct configuration) from run')" "8|8" "each configuration is there once"
is "$(ls -A "$files")" "" "no files are left"
sed -i 's/seed: 7/seed: 8/' "$T/plan.yaml"
exits 2 "another plan of that name is refused" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db" --resume
sed -i 's/seed: 8/seed: 7/' "$T/plan.yaml"

# fio's own JSON, kept with the run, is the independent answer.
bad=""
for run in $(sql 'select id from run'); do
	sql "select content from artifact where run = $run and kind = 'output'" | jq -s 'last.jobs[0]' >"$T/fio.json"
	for side in read write; do
		[ "$(jq ".$side.total_ios" "$T/fio.json")" = 0 ] && continue
		for pair in "requests:.total_ios" "s:.lat_ns.mean / 1e9" "per_s:.iops" "bytes_per_s:.bw_bytes" \
			"p95_s:.lat_ns.percentile[\"95.000000\"] / 1e9"; do
			got=$(sql "select printf('%.17g', value) from metric where run = $run and name = '${side}_${pair%%:*}'")
			want=$(jq ".$side | ${pair#*:}" "$T/fio.json")
			awk "BEGIN { exit !(($got / $want - 1)^2 < 1e-24) }" </dev/null || bad="$bad $run:$side:$pair:$got:$want"
		done
	done
done
is "$bad" "" "requests, response times, rates and percentiles equal fio's own"
is "$(sql "select count(*) from metric m join run on run.id = m.run join level l on l.configuration = run.configuration
	and l.position = 1 where l.number = 100 and m.name = 'write_s'")" 0 "there is no response time of writes where there were none"
is "$(sql "select count(*) from run where intervals = 2")" 8 "every run has its two intervals"
number "$(sql "select max(abs(sum_of - whole) / whole) from (select run, avg(value) sum_of, (select value from metric
	m where m.run = i.run and m.name = i.name) whole from interval i where name = 'read_per_s' group by run)") < 0.3" \
	"the intervals' rates are those of the whole"
number "$(sql "select max(abs(r.rse - m.relative_standard_error) / r.rse) from (select run, sqrt((sum(value * value)
	- sum(value) * sum(value) / 2) / 1 / 2) / (sum(value) / 2) rse from interval where name = 'read_s'
	group by run) r join metric m on m.run = r.run and m.name = 'read_s'") < 1e-6" "the relative standard error is s / (sqrt(k) mean)"

total=$(awk '$1 == "MemTotal:" { print $2 * 1024 }' /proc/meminfo)
is "$(sql "select count(*) from metric a join metric b on a.run = b.run where a.name = 'memory_bytes' and b.name =
	'memory_most_bytes' and a.value > 0 and a.value <= b.value and b.value < $total")" 8 "memory in use is watched in every run"

# The store as a table, and as what models learn from.
"$blkcast" measure --export "$T/t.csv" --db "$T/r.db" --response read_s
is "$(head -n 1 "$T/t.csv")" "configuration,repetition,size,read,pattern,read_s,read_s_rse" "the table names factors and metric"
is "$(($(wc -l <"$T/t.csv") - 1))" 8 "a row per run"
"$blkcast" fit "$T/t.csv" -r read_s -p size,read,pattern -t lrm --standard --folds 4 -o "$T/csv.json" >/dev/null
exits 0 "a model is fitted from the store" "$blkcast" fit --db "$T/r.db" -r read_s -t lrm --standard --folds 4 -o "$T/db.json"
jq 'del(.origin)' "$T/db.json" >"$T/db.plain"
holds "it is the one fitted from the table" cmp <(jq . "$T/csv.json") "$T/db.plain"
like "$(jq -r .origin "$T/db.json")" '^campaign .*, [0-9]+ runs from .*; target .* on ' "and names the campaign and what was measured"
exits 0 "and predicts what was not measured" "$blkcast" predict "$T/db.json" --set size=8192,read=75,pattern=random
"$blkcast" measure --export "$T/all.csv" --db "$T/r.db"
"$blkcast" predict "$T/db.json" "$T/all.csv" >"$T/a"
"$blkcast" predict "$T/db.json" --db "$T/r.db" >"$T/b"
holds "predictions of the store's rows are those of the table's" cmp "$T/a" "$T/b"
exits 2 "a metric that no run has is refused" "$blkcast" fit --db "$T/r.db" -r reed_s
like "$(cat "$T/err")" "no run has 'reed_s'; there are cpu_ratio, memory_bytes, memory_most_bytes, read_bytes_per_s" "and the metrics there are are named"
done_testing
