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
	like "$(cat "$T/err")" "'threads' is [12] and [12]: choose one with --where threads=" "and named"
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
is "$(get --measure 4k:read=20000,write=5000 "$T/p.json" "$T/p.json" "$T/p.json")" "[1.5,false]" "three of it do not fit"
"$blkcast" capacity $measured --mix read=70 --sizes 4k=0.6,64k=0.4 "$T/p.json" >"$T/out"
like "$(cat "$T/out")" "^total .*7.55 k" "a table for people"

bad() { # NAME REGEX ARGS
	local name=$1 regex=$2
	shift 2
	exits 2 "$name is refused" "$blkcast" capacity "$@"
	like "$(cat "$T/err")" "$regex" "$name is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line, no output"
}
bad "no measurement" "expected one of --measure, --db and --storage"
bad "a size without writes" "4096 bytes: not measured with writes alone" --measure 4k:read=100
bad "no number" "expected SIZE:read=N,write=N" --measure 4k:read=fast
bad "a throughput of zero" "above 0, got 0" --measure 4k:read=0,write=1
bad "a bad mix" "from 0 to 100, got 'read=101'" $measured --mix read=101
bad "shares that miss one" "sum to 1, got 0.9" $measured --sizes 4k=0.5,64k=0.4
bad "a profile that is none" "nothing.json" $measured "$T/nothing.json"
bad "a store that is none" "none.db" --db "$T/none.db"
done_testing
