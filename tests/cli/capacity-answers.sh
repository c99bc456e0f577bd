#!/usr/bin/env bash
# blkcast capacity: closed forms, a measurement store made by hand, profiles, and what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
blkcast=$BUILD/blkcast
measured="--measure 4k:read=20000,write=5000 --measure 64k:read=4000,write=2000"
get() { "$blkcast" capacity --json "$@" 2>"$T/err" >"$T/out" && jq -c "$query" "$T/out"; }

query='.sizes[0] | [.capacity, .f_rw, .share, (.read_iops * 19 | round), (.write_iops * 19 | round), .interpolated]'
is "$(get --measure 4k:read=20000,write=5000 --mix read=70)" "[20000,4,1,140000,60000,false]" "eq. 6"
query=.total_iops
number "$(get $measured --mix read=50 --sizes 4k=0.6,64k=0.4:0) - (0.6 * 8000 + 0.4 * 2000) < 1e-6" "eq. 7"
number "$(get $measured --mix read=50 --sizes 4k=0.5,64k=0.5:0 --request-shares) - 1 / (0.5 / 8000 + 0.5 / 2000) < 1e-6" \
	"shares of requests"
query='[.sizes[0].interpolated, (.sizes[0].capacity | round)]'
is "$(get $measured --sizes 16k=1)" "[true,8944]" "a size between is interpolated on log size"
query='.sizes[0].ci | length'
is "$(get --measure 4k:read=20000,read=20200,write=5000,write=5100)" 2 "repetitions give an interval"
query='[.constancy[] | .deviation_ratio * 1000 | round]'
is "$(get --measure 4k:read=20000,write=5000,50=7000 --bound 0.1)" "[-125]" "C at a further mix"
like "$(cat "$T/err")" "C is not constant: at 4 KiB and 50 % reads it is -12.5 %" "with a warning"
get --measure 4k:read=20000,write=5000,50=7000 --bound 0.2 >/dev/null
is "$(cat "$T/err")" "" "none within the bound"

if command -v sqlite3 >/dev/null; then
	cat >"$T/plan.yaml" <<YAML
campaign: cap
targets: {here: {directory: $T}}
load:
  driver: command
  command: |
    for i in 1 2; do awk 'BEGIN {{ r = {read} / 100; t = {threads} / (r / 2000 + (1 - r) / 500) * 4096 / {size};
      printf "{{\"read_per_s\": %.17g, \"write_per_s\": %.17g}\n", r * t, (1 - r) * t }'; done
factors: {size: [4k, 16k], read: [0, 50, 100], threads: [1, 2]}
warm_up: 0
interval: 100ms
intervals: 2
YAML
	exits 0 "a store with known answers" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db" -q
	exits 2 "a factor with several values is refused" "$blkcast" capacity --db "$T/r.db"
	like "$(cat "$T/err")" "'threads' is [12] and [12]: choose rows of one .--where" "and named"
	query='[.sizes[] | .bytes, .capacity, .f_rw] + [.constancy[].error_ratio < 1e-9] | map(if type == "number" then round else . end)'
	is "$(get --db "$T/r.db" --where threads=2)" "[4096,4000,4,16384,1000,4,true,true]" "a measurement store gives C, f_rw and a constant C"
fi

profile() { # READS WRITES: in ten seconds, of 4 KiB
	jq -c --argjson r "$1" --argjson w "$2" '.requests.read = $r | .requests.write = $w |
		.request_size.read.histogram = [[4096, $r]] | .request_size.write.histogram = [[4096, $w]] |
		.begin_s = 0 | .end_s = 10 | .response_time = $empty' --argjson empty "$(cat "$T/empty")" "$T/one"
}
"$blkcast" import --format fio-iolog --store "$T/store" -q /dev/stdin >/dev/null <<'LOG' 2>"$T/err"
fio version 3 iolog
0 /dev/sda add
0 /dev/sda open
1 /dev/sda read 0 4096
2 /dev/sda write 8192 4096
3 /dev/sda close
LOG
"$blkcast" characterize --store "$T/store" --json -q | jq '.[0]' >"$T/one"
jq -c .response_time "$T/one" >"$T/empty"
profile 50000 12500 >"$T/p.json"
query='[.profiles[0] | .capacity_share, .fits, .how_many_fit]'
is "$(get --measure 4k:read=20000,write=5000 "$T/p.json")" "[0.5,true,2]" "a profile uses half of it"
query='[.together | .capacity_share, .fits]'
exits 1 "three of it do not fit" "$blkcast" capacity --measure 4k:read=20000,write=5000 "$T/p.json" "$T/p.json" "$T/p.json" --json
is "$(jq -c "$query" "$T/out")" "[1.5,false]" "together they use half as much again"
like "$(jq -r .conclusion "$T/out")" "^The loads together use 150 % of the capacity: it does not suffice.$" "in a sentence"
exits 1 "many do not fit" "$blkcast" capacity --measure 4k:read=20000,write=5000 "$T/p.json=64"
like "$(cat "$T/out")" "^The loads together use 3200 % of the capacity: it does not suffice.$" "and percentages are written out"
exits 1 "so do three copies" "$blkcast" capacity --measure 4k:read=20000,write=5000 "$T/p.json=3" --json
is "$(jq -c "$query" "$T/out")" "[1.5,false]" "with the same answer"

# With n clients reads take 0.1 ms x (n + 4), and writes twice as long: 16 clients read 8000 and write 4000 per second.
awk 'BEGIN { print "clients,size,read_s,write_s"; for (i = 1; i <= 16; i++) for (k = 4096; k <= 65536; k *= 4)
	printf "%d,%d,%.9f,%.9f\n", i, k, 1e-4 * (i + 4), 2e-4 * (i + 4) }' </dev/null >"$T/cap.csv"
for r in read_s write_s; do
	"$blkcast" fit "$T/cap.csv" --response $r -p clients,size --techniques lrm -o "$T/$r.json" -q >/dev/null 2>&1
done
models=$T/read_s.json,$T/write_s.json
"$blkcast" capacity --model "$models" -q "$T/p.json" >"$T/out"
like "$(cat "$T/out")" " [0-9.]+ %  +[0-9.]+ % [.][.] [0-9.]+ %  " "a share and its interval have the same unit"
query='[.sizes[] | .bytes, (.capacity | round), (.f_rw * 1000 | round)]'
is "$(get --model "$models")" "[4096,8000,2000,16384,8000,2000,65536,8000,2000]" "models of response times tell a capacity by Little's law"
is "$(get --model "$models" --slo read.mean=800us)" "[4096,5000,1250,16384,5000,1250,65536,5000,1250]" "4 clients keep an objective of reads, and read 5000 per second"
is "$(get --model "$models" --slo write.mean=2ms,read.mean=1s --sizes 4k=1)" "[4096,8000,2667]" "6 clients keep one of writes, and write 3000"
like "$(jq -r .conclusion "$T/out")" " while write.mean=2ms and read.mean=1s holds.$" "which the answer says"
exits 1 "an objective that one client breaks" "$blkcast" capacity --model "$models" --slo read.mean=400us --json
is "$(jq -r '.total_iops, .conclusion' "$T/out" | tr '\n' '|')" \
	"0|The target has no capacity that keeps read.mean=400us: one request of 4 KiB at a time breaks it.|" "leaves no capacity"

# Alone a read takes 1 ms + 10 ns per byte: 1.04 ms of 4 KiB, 1.66 ms of 64 KiB and 11.5 ms of 1 MiB.
cat >"$T/device.json" <<'JSON'
{"schema": "blkcast.model/1", "kind": "device", "read": {"base_s": 0.001, "byte_s": 1e-8}, "write": {"base_s": 0.001, "byte_s": 1e-8},
 "covered": {"concurrency": 4, "read": {"low_bytes": 4096, "high_bytes": 1048576, "random": true},
  "write": {"low_bytes": 4096, "high_bytes": 1048576, "random": true}}}
JSON
profile 500 125 >"$T/small.json"
query='[.sizes[] | .bytes, (.capacity | round)]'
is "$(get --storage "$T/device.json" --slo read.mean=5ms --sizes 4k=1)" "[4096,961]" "an objective need not hold at sizes that nobody asks for"
is "$(get --storage "$T/device.json" --slo read.mean=5ms "$T/small.json")" "[4096,961]" "nor at sizes that no load sends"
is "$(get --storage "$T/device.json" --slo read.mean=5ms | jq -c '[.[0], .[-2]]')" "[4096,262144]" "without a question all sizes that keep it are told"
like "$(cat "$T/err")" "sizes from 1 MiB on are left out: one request of them at a time breaks read.mean=5ms" "and where they end"
exits 1 "a size that breaks it, asked for" "$blkcast" capacity --storage "$T/device.json" --slo read.mean=5ms --sizes 4k=0.5,1m=0.5 --json
like "$(jq -r .conclusion "$T/out")" "one request of 1 MiB at a time breaks it.$" "leaves no capacity"
"$blkcast" capacity $measured --mix read=70 --sizes 4k=0.6,64k=0.4 "$T/p.json" >"$T/out"
like "$(cat "$T/out")" "^total .*7.55 k" "a table for people"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" capacity "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "an objective of measured throughputs" "measured throughputs tell no response times" --measure 4k:read=20000,write=5000 --slo read.mean=1ms
bad "a percentile that no model tells" "no model of the p95 of reads is given" --model "$models" --slo read.p95=1ms
bad "clients that a capacity varies" ": clients: a capacity varies it" --model "$models" --set clients=4
bad "variables of no model" "--set: expected --model" --measure 4k:read=20000,write=5000 --set clients=4
bad "rows of models" "--where, --size-factor, --mix-factor: of the throughputs in --db" --model "$models" --where threads=2
bad "models of reads alone" "there is none of write_s" --model "$T/read_s.json"
bad "no measurement" "expected one of --measure, --model, --db and --storage"
bad "a size without writes" "4096 bytes: not measured with writes alone" --measure 4k:read=100
bad "no number" "expected SIZE:read=N,write=N" --measure 4k:read=fast
bad "a throughput of zero" "above 0, got 0" --measure 4k:read=0,write=1
bad "a bad mix" "from 0 to 100, got 'read=101'" $measured --mix read=101
bad "shares that miss one" "sum to 1, got 0.9" $measured --sizes 4k=0.5,64k=0.4
bad "a profile that is none" "nothing.json" $measured "$T/nothing.json"
bad "a store that is none" "none.db" --db "$T/none.db"
done_testing
