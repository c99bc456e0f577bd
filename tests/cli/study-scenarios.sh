#!/usr/bin/env bash
# blkcast study scenario: files, changes and stacks by models whose functions are known; what it refuses.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

# On old read_s = 1 ms + 0.5 ms per client, on new a fifth of it; write_s twice that.
for y in read_s write_s; do
	for on in 5 1; do
		awk -v y=$y -v f="$([ $y = read_s ] && echo 1 || echo 2)" -v on=$on 'BEGIN { print "clients," y
			for (i = 0; i < 60; i++) printf "%d,%.9f\n", 1 + i % 30, on * f * (0.0002 + 0.0001 * (1 + i % 30)) }' </dev/null >"$T/table.csv"
		"$blkcast" fit "$T/table.csv" --response $y --techniques lrm -o "$T/$on-$y.json" -q >/dev/null 2>&1
	done
done
awk 'BEGIN { print "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open"
	for (i = 0; i < 1000; i++) printf "%d /dev/sda %s %d 4096\n", i * 1000, i % 2 ? "read" : "write", i * 8192 }' </dev/null >"$T/log"
"$blkcast" import --format fio-iolog --store "$T/store" -q "$T/log" >/dev/null
"$blkcast" characterize --store "$T/store" --json -q | jq '.[0] | del(.arrivals)' >"$T/one.json"
profile() { # NAME CLIENTS
	jq --arg n "$1" --argjson c "$2" '.device_name = $n | .intensity.closed.clients_mean = $c | .begin_s = 1000 | .end_s = 1010 |
		.locality.miss_ratio_curve = [[1048576, 0.5], [2097152, 0.25]] | .locality.footprint_bytes = 4194304' "$T/one.json" >"$T/$1.json"
}
profile a 4
profile b 6
cat >"$T/today.yaml" <<YAML
scenario: today
storages:
  old: {models: [5-read_s.json, 5-write_s.json]}
  new: {models: [1-read_s.json, 1-write_s.json]}
vms:
  a: {profile: a.json, storage: old}
  b: {profile: $T/b.json, storage: old}
YAML
scenario() { # CHANGES...: a scenario on top of today's, asked
	printf 'scenario: then\nbase: today.yaml\nchanges:\n' >"$T/then.yaml"
	printf '  - %s\n' "$@" >>"$T/then.yaml"
	"$blkcast" study scenario "$T/today.yaml" "$T/then.yaml" --json --quiet 2>"$T/err" | jq -c "$query" || cat "$T/err"
}
# In units of 100 us, reads and writes of each VM.
query='[.scenarios[1].vms[] | [.vm, .storage, .count, (.read.mean_s * 1e4 | round), (.write.mean_s * 1e4 | round)]]'
is "$(scenario 'scale: {vm: all, load: 2}')" '[["a","old",1,110,220],["b","old",1,110,220]]' "twice the load: 20 clients"
is "$(scenario 'scale: {vm: a, load: 0.5}')" '[["a","old",1,50,100],["b","old",1,50,100]]' "half of one: 8 clients"
is "$(scenario 'add: {vm: a, count: 2}')" '[["a","old",3,100,200],["b","old",1,100,200]]' "two more of a VM: 18 clients"
is "$(scenario 'add: {vm: c, profile: a.json, storage: new, count: 2, load: 1.5}')" '[["a","old",1,60,120],["b","old",1,60,120],["c","new",2,14,28]]' "new ones: 12 clients"
is "$(scenario 'migrate: {vm: b, to: new}')" '[["a","old",1,30,60],["b","new",1,8,16]]' "a migration: 4 clients here, 6 there"
is "$(scenario 'swap: {storage: old, for: new}')" '[["a","new",1,12,24],["b","new",1,12,24]]' "another storage: a fifth"
is "$(scenario 'remove: {vm: b}')" '[["a","old",1,30,60]]' "one leaves: 4 clients"
is "$(scenario 'add: {vm: a, count: 3}' 'remove: {vm: a, count: 2}')" '[["a","old",2,80,160],["b","old",1,80,160]]' "changes in their order"
# Alone with 2 MiB a quarter misses: 0.25 x 3 ms + 0.75 x 0.1 ms; writes go through.
query='[.scenarios[1] | .vms[0].hit_ratio, (.vms[0].read.mean_s * 1e6 | round), (.vms[0].write.mean_s * 1e6 | round), .storages[0].hit_ratio]'
is "$(scenario 'remove: {vm: b}' 'cache: {storage: old, size: 2m, hit_time: 100us}')" '[0.75,825,6000,0.75]' "a cache by the curve"
# Two alike share it evenly: half of 2 MiB each hits half.
query='[.scenarios[1] | .vms[] | (.hit_ratio * 1e6 | round)]'
is "$(scenario 'remove: {vm: b}' 'add: {vm: c, profile: a.json, storage: old}' 'cache: {storage: old, size: 2m}')" '[500000,500000]' "is shared by those who use it"
query='[(.scenarios[].mean_s * 1e6 | round), (.scenarios[1].vms | length)]'
is "$(scenario 'migrate: {vm: all, to: new}')" '[9000,1800,2]' "means over all requests"

# These models have no error at all, as those of a formula: an interval without width would claim certainty.
query='[.scenarios[].vms[] | .read.ci, .write.ci] | unique'
is "$(scenario 'migrate: {vm: all, to: new}')" '[null]' "models without errors give no interval"
"$blkcast" study scenario "$T/today.yaml" -q >"$T/out"
like "$(cat "$T/out")" "^Times without an interval: cannot tell how far they are off" "and the answer says why"

# Four clients that never pause and are 1000 requests/s get 1/4.5 ms = 889/s of an old storage that takes 3 ms and 6 ms.
for t in new old; do
	jq '.intensity.closed.in_flight_mean = 4 | .end_s = .begin_s + 1' "$T/a.json" >"$T/full.json"
	printf 'scenario: full\nstorages:\n  old: {models: [5-read_s.json, 5-write_s.json]}\n  new: {models: [1-read_s.json, 1-write_s.json]}\nvms:\n  a: {profile: full.json, storage: %s}\n' $t >"$T/full-$t.yaml"
done
exits 0 "a storage that carries its load" "$blkcast" study scenario "$T/full-new.yaml"
exits 3 "a storage that cannot" "$blkcast" study scenario "$T/full-old.yaml"
like "$(cat "$T/out")" "^Cannot tell: in full the target old cannot carry this load: a offered 1 k requests/s, it gives 889/s" "is refused by a sentence"

# Objectives: with all ten clients reads take 6 ms on old, and writes 12 ms.
exits 0 "objectives that hold" "$blkcast" study scenario "$T/today.yaml" --slo read.mean=7ms,write.mean=13ms -q
exits 1 "an objective that is broken" "$blkcast" study scenario "$T/today.yaml" --slo read.mean=5ms --json -q
like "$(jq -r .conclusion "$T/out")" " read.mean=5ms of a in today does not hold: 6(\.00)? ms\.$" "is named with VM and scenario"
exits 2 "a percentile is refused" "$blkcast" study scenario "$T/today.yaml" --slo read.p95=5ms
like "$(cat "$T/err")" "objective read.p95=5ms: a scenario tells means" "by name"

cp "$T/then.yaml" "$T/base.yaml"
printf 'scenario: stacked\nbase: base.yaml\nchanges: [{migrate: {vm: a, to: old}}, {scale: {vm: b, load: 2}}]\n' >"$T/stacked.yaml"
query='[.scenarios[0].vms[] | [.vm, .storage, .load, (.read.mean_s * 1e4 | round)]]'
is "$("$blkcast" study scenario "$T/stacked.yaml" --json -q | jq -c "$query")" '[["a","old",1,30],["b","new",2,14]]' "a scenario on a scenario"

# Windows: a's peak is 900 + 500 writes in second 3, b's in second 7; b counts twice.
windows() { jq -s --argjson at "$2" '[.[0] as $p | range(10) | . as $i | $p | .begin_s = 1000 + $i | .end_s = 1001 + $i |
	.requests.read = (if $i == $at then 900 else 100 end) | .request_size.read.histogram = [[4096, .requests.read]]]' "$T/$1.json" >"$T/$1w.json"; }
windows a 3
windows b 7
sed 's/a.json/aw.json/; s/b.json/bw.json/' "$T/today.yaml" >"$T/windows.yaml"
printf 'scenario: more\nbase: windows.yaml\nchanges: [{add: {vm: b}}]\n' >"$T/more.yaml"
query='[.scenarios[].storages[0].peak | [.max_per_s, .max_begin_s, .own_peaks_sum_per_s, .makers[0].vm]]'
is "$("$blkcast" study scenario "$T/windows.yaml" "$T/more.yaml" --json -q | jq -c "$query")" '[[2000,1003,2800,"a"],[3400,1007,4200,"b"]]' \
	"when the sum peaks, and whose it is"

exits 0 "side by side for people" "$blkcast" study scenario "$T/today.yaml" "$T/then.yaml" --report "$T/page.html"
is "$(grep -c 'class="made">\(Load\|Model\) ' "$T/page.html")" 6 "the page names two loads and four models at its foot"
like "$(grep "^Of " "$T/out")" '^Of 2 scenarios then is the fastest: 1\.80? ms per request on average, 80.0 % less than in today; the (read|write)s of ' "in one sentence"
is "$(grep -c '<svg' "$T/page.html")" 1 "the page has a picture"
is "$(grep -ciE '(src|href)="?https?:' "$T/page.html")" 0 "and asks nobody for anything"
exits 0 "the shipped examples" "$blkcast" study scenario docs/examples/scenarios/*.yaml
cat >"$T/net.yaml" <<YAML
scenario: net
storages: {n: {models: net.json}}
vms: {r: {profile: r.json, storage: n, count: 3}}
YAML
awk 'BEGIN { print "type,clients,size_bytes,response_time_s,response_sd_s"
	for (s = 4096; s <= 65536; s *= 4) { printf "read,1,%d,0.001,0.0003\n", s
		for (t = 10; t <= 50; t += 10) printf "read,%d,%d,%.9g,\n", t, s, 0.001 * t } }' </dev/null >"$T/reads.csv"
"$blkcast" qpn calibrate --model cache "$T/reads.csv" -o "$T/net.json" -q >/dev/null
jq '.requests.write = 0 | .request_size.write.histogram = [] | .request_mix = {read: 1, write: 0} | .intensity.closed.think_time_mean_s = 0' "$T/a.json" >"$T/r.json"
is "$("$blkcast" study scenario "$T/net.yaml" --json -q | jq '.scenarios[0].vms[0].read.mean_s * 1e4 | round')" 120 "by a net: 12 clients of 1 ms"

# A simulated device of four servers, 1 ms and 2 ms: the demonstration's requests alone, twice, three of them, and behind a cache.
cat >"$T/device.json" <<'JSON'
{"schema": "blkcast.model/1", "kind": "device", "servers": 4, "read": {"base_s": 0.001}, "write": {"base_s": 0.002}, "flush": {"base_s": 0.003},
 "covered": {"concurrency": 4000, "flush": true, "durable": true, "read": {"low_bytes": 512, "high_bytes": 1048576, "random": true, "sequential": true},
  "write": {"low_bytes": 512, "high_bytes": 1048576, "random": true, "sequential": true}}}
JSON
demo=$PWD/docs/examples/demo.seg
printf 'scenario: one\nstorages: {d: {device: device.json}}\nvms: {a: {profile: %s, storage: d}}\n' "$demo" >"$T/device.yaml"
above() { printf 'scenario: %s\nbase: device.yaml\nchanges: [{%s}]\n' "$1" "$2" >"$T/device-$1.yaml"; }
above two "add: {vm: b, profile: $demo, storage: d}"
above three "add: {vm: a, count: 2}"
above cached "cache: {storage: d, size: 1g, hit_time: 10us}"
sum='[.[] | . * 1e9 | round]'
exits 0 "a storage may be a simulated device" "$blkcast" study scenario "$T/device.yaml" --json
is "$(jq -c "[.scenarios[0].vms[0] | .read.mean_s, .write.mean_s] | $sum" "$T/out")" \
	"$("$blkcast" study migrate "$demo" --storage "$T/device.json" --json -q | jq -c "[.results[] | select(.point == \"mean\" and .type != \"flush\").target_s] | $sum")" "one VM is what migrate says"
like "$(cat "$T/err")" "a: $demo: 3 requests are left out" "and says what was not simulated"
exits 1 "two are more than it serves" "$blkcast" study scenario "$T/device-two.yaml" --json -q
is "$(jq -c "[.scenarios[0].vms[] | .read.mean_s, .write.mean_s] | $sum" "$T/out")" \
	"$("$blkcast" study consolidate "$demo" "$demo" --storage "$T/device.json" --json -q | jq -c "[.results[] | select(.case == \"all together\" and .point == \"mean\" and .type != \"flush\").target_s] | $sum")" "two VMs are what consolidate says"
like "$(jq -r .conclusion "$T/out")" "^In two the target d cannot carry this load: a offered .* requests/s, it gives " "in a sentence"
"$blkcast" study scenario "$T/device-three.yaml" --json -q >"$T/out"
like "$("$blkcast" study mix "$demo=3" --storage "$T/device.json" --slo read.p95=100s -q)" \
	"it gives $(jq '.scenarios[0].vms[0].target_per_s * 3 / 10 | round / 100' "$T/out") k/s" "three of a VM get what mix finds for three"
jq '.held_out_errors = {read: {mean: {configurations: 20, mean_ratio: 0.1, log_half: 0.3}}}' "$T/device.json" >"$T/known.json"
half() { "$blkcast" study scenario "$T/device-$1.yaml" --storage "$T/known.json" --json -q | jq '.scenarios[0].vms[0].read | .ci[1] / .mean_s | log'; }
cp "$T/device.yaml" "$T/device-one.yaml"
number "$(half three) > $(half one) - 0.01" "the interval of three is as wide as that of one, or wider"
number "$(half three) - $(half two) < 0.02 && $(half two) - $(half three) < 0.02" "and as wide as that of two VMs, but for chance"
exits 0 "a cache in front of a simulated device" "$blkcast" study scenario "$T/device.yaml" "$T/device-cached.yaml" --json -q
is "$(jq '[.scenarios[] | .vms[0]] | (.[1].hit_ratio > 0.1 and .[1].read.mean_s < .[0].read.mean_s * (1 - .[1].hit_ratio) + 2e-5 and
	.[1].read.mean_s > 0.001 * (1 - .[1].hit_ratio) and .[1].write.mean_s <= .[0].write.mean_s)' "$T/out")" true "takes its hits away from the device"
# The first scenario is told with certainty, the second one not: both stand in the conclusion, the uncertain one first.
exits 3 "a later scenario that cannot be told" "$blkcast" study scenario "$T/device-two.yaml" "$T/full-old.yaml" --json -q
like "$(jq -r .conclusion "$T/out")" "^Cannot tell: in full the target old cannot carry this load: .*/s\. In two the target d cannot carry this load: " "is not hidden by an earlier one"
sed 's/scenario: full/scenario: fuller/' "$T/full-old.yaml" >"$T/fuller.yaml"
exits 3 "two of them" "$blkcast" study scenario "$T/device.yaml" "$T/fuller.yaml" "$T/full-old.yaml" --json -q
like "$(jq -r .conclusion "$T/out")" "^Cannot tell: in fuller the target old .*/s; nor in full\. With as many requests as it gives: " "are both named"
# Two VMs that send the same reads at the same instants to one server of 1 ms. Half of their reads hit: where one VM misses,
# the other one does in half of the cases, so that a miss takes 1.25 ms on average, and not the 1.5 ms of misses that coincide.
awk 'BEGIN { print "time,offset,size,op,response,tid"
	for (i = 0; i < 600; i++) printf "%d,%d,4096,R,1000,%d\n", i * 10000, i % 2 ? 0 : i * 8192 + 8192, 100 + i }' </dev/null >"$T/twins.csv"
"$blkcast" import --format csv --map time=time:us,offset=offset:bytes,size=size,op=op,response=response:us,tid=tid --store "$T/twins" --host web -q "$T/twins.csv" >/dev/null
jq '.servers = 1' "$T/device.json" >"$T/server.json"
printf 'scenario: twins\nstorages: {d: {device: server.json}}\nvms: {a: {profile: twins, storage: d}, b: {profile: twins, storage: d}}\nchanges: [{cache: {storage: d, size: 1m, hit_time: 10us}}]\n' >"$T/twins.yaml"
exits 0 "two equal VMs behind one cache" "$blkcast" study scenario "$T/twins.yaml" --json -q
is "$(jq -c '[.scenarios[0].vms[] | (.hit_ratio * 100 | round), (.read.mean_s > 0.0006 and .read.mean_s < 0.00067)]' "$T/out")" '[50,true,50,true]' \
	"do not hit and miss together"
is "$(jq '[.scenarios[0].vms[].read.mean_s] | unique | length' "$T/out")" 2 "since each has random numbers of its own"
mv "$T/out" "$T/before"
printf 'scenario: twins\nstorages: {d: {device: server.json}}\nvms: {b: {profile: twins, storage: d}, a: {profile: twins, storage: d}}\nchanges: [{cache: {storage: d, size: 1m, hit_time: 10us}}]\n' >"$T/twins.yaml"
"$blkcast" study scenario "$T/twins.yaml" --json -q >"$T/out"
is "$(jq -c '.scenarios[0].vms | sort_by(.vm) | map(.read.mean_s * 1e9 | round)' "$T/out")" "$(jq -c '.scenarios[0].vms | sort_by(.vm) | map(.read.mean_s * 1e9 | round)' "$T/before")" \
	"whatever the order of the file"
sed 's/device: device.json/models: device.json/' "$T/device.yaml" >"$T/models.yaml"
is "$("$blkcast" study scenario "$T/models.yaml" --json -q | jq -c 'del(.. | .file?) | del(.provenance)')" "$("$blkcast" study scenario "$T/device.yaml" --json -q | jq -c 'del(.. | .file?) | del(.provenance)')" "the device as a model is the same"
sed 's/device: device.json/models: [1-read_s.json, 1-write_s.json]/' "$T/device.yaml" >"$T/models.yaml"
for at in "$T/device.json" "d=$T/device.json"; do
	is "$("$blkcast" study scenario "$T/models.yaml" --storage "$at" --json -q | jq -c 'del(.. | .file?) | del(.provenance)')" \
		"$("$blkcast" study scenario "$T/device.yaml" --json -q | jq -c 'del(.. | .file?) | del(.provenance)')" "and so is --storage ${at%%"$T"*}FILE"
done
exits 2 "a storage that no scenario has is refused" "$blkcast" study scenario "$T/models.yaml" --storage "e=$T/device.json"
like "$(cat "$T/err")" "models.yaml: it has no storage e$" "by name"
sed "s|$demo|a.json|" "$T/device.yaml" >"$T/bare.yaml"
exits 2 "a profile cannot be simulated" "$blkcast" study scenario "$T/bare.yaml"
like "$(cat "$T/err")" "a.json: is a profile, not the requests themselves" "since it has no requests"

bad() { # NAME LINE-AND-REGEX YAML
	printf '%b' "$3" >"$T/bad.yaml"
	exits 2 "$1 is refused" "$blkcast" study scenario "$T/bad.yaml"
	like "$(cat "$T/err")" "$2" "$1 is named"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$1: one line, no output"
}
top='scenario: x\nbase: today.yaml\nchanges:\n'
bad "an unknown change" 'bad.yaml:4: unknown change "shrink": expected one of add, scale' "$top  - shrink: {vm: a}\n"
bad "an unknown VM" "bad.yaml:4: vm: expected all or one of a, b, got 'c'" "$top  - scale: {vm: c, load: 2}\n"
bad "an unknown storage" "bad.yaml:5: to: expected one of old, new, got 'moon'" "$top  - scale: {vm: a, load: 2}\n  - migrate: {vm: a, to: moon}\n"
bad "an unknown key" "bad.yaml:4: .*factor" "$top  - scale: {vm: a, factor: 2}\n"
bad "a load that is none" "bad.yaml:4: load: expected a factor above 0, up to 1e6, got '-1'" "$top  - scale: {vm: a, load: -1}\n"
bad "more than there are" "bad.yaml:4: count: there are 1 of a" "$top  - remove: {vm: a, count: 2}\n"
bad "a size that is none" "bad.yaml:4: size: expected a size as 8g" "$top  - cache: {storage: old, size: big}\n"
bad "a name twice" "bad.yaml:4: a: this name is taken" "$top  - add: {vm: a, profile: a.json, storage: new}\n"
bad "a circle" "bad.yaml:2: base: expected up to 16 files on top of each other" "scenario: x\nbase: bad.yaml\n"
bad "no storage" "bad.yaml:2: storage: expected a storage, but there is none, got 'old'" "scenario: x\nvms: {a: {profile: a.json, storage: old}}\n"
bad "nobody" "bad.yaml:1: vms: expected at least one" "scenario: x\n"
bad "no name" "scenario: missing: expected its name" "base: today.yaml\n"
bad "no predictor" "bad.yaml:2: old: expected either models, db or device" "scenario: x\nstorages: {old: {}}\n"
for with in "set: {x: 1}" "campaign: x" "target: x"; do
	bad "a simulated device with ${with%%:*}" "bad.yaml:2: d: a simulated device takes no campaign, target or set" "scenario: x\nstorages: {d: {device: device.json, $with}}\n"
done
bad "a profile that is not there" "nobody.json" "$top  - add: {vm: c, profile: nobody.json, storage: new}\n"
jq -s . "$T/a.json" "$T/b.json" >"$T/both.json"
bad "several devices" "bad.yaml:3: profile: 2 devices there: expected one; device names it" "scenario: x\nbase: today.yaml\nvms: {c: {profile: both.json, storage: old}}\n"
exits 2 "one name for two is refused" "$blkcast" study scenario "$T/today.yaml" "$T/today.yaml"
like "$(cat "$T/err")" "expected another name than today" "and named"
exits 2 "no scenario is refused" "$blkcast" study scenario
done_testing
