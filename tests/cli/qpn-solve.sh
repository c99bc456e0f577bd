#!/usr/bin/env bash
# blkcast qpn solve: what it prints, what it refuses, what repeats.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
mm1=docs/examples/mm1.yaml

exits 0 "an M/M/1 is solved to JSON" "$blkcast" qpn solve $mm1 --json --quiet
cp "$T/out" "$T/first"
is "$(jq -r '.schema + " " + .method + " " + (.seed | tostring)' "$T/out")" \
	"blkcast.qpn/1 batch-means 1" "the result says what it is"
is "$(jq -r '.places[0] | keys | join(" ")' "$T/out")" \
	"colour place population queue residence_time throughput utilization" \
	"a place has the keys of the contract"
number "$(jq '.places[0].residence_time.mean' "$T/out") > 4.85" "its residence time is near 5 (below)"
number "$(jq '.places[0].residence_time.mean' "$T/out") < 5.15" "its residence time is near 5 (above)"
number "$(jq '.precision' "$T/out") <= 0.01" "the precision asked for is reached"
is "$(jq '.places[0].residence_time.ci[0] < .places[0].residence_time.mean' "$T/out")" true \
	"the interval lies about the mean"

"$blkcast" qpn solve $mm1 --json --quiet >"$T/second"
is "$(jq -cS 'del(.seconds)' "$T/second")" "$(jq -cS 'del(.seconds)' "$T/first")" \
	"the same seed gives the same result"
"$blkcast" qpn solve $mm1 --json --quiet --seed 2 >"$T/other"
is "$(jq -r '.places[0].population.mean' "$T/other" | grep -cxF "$(jq -r '.places[0].population.mean' "$T/first")")" \
	0 "another seed gives another"

for threads in 1 2 3; do
	"$blkcast" qpn solve $mm1 --method replications --model-time 20000 --threads $threads \
		--json --quiet | jq -cS 'del(.seconds)' >"$T/threads$threads"
done
holds "one and two threads agree to the bit" cmp "$T/threads1" "$T/threads2"
holds "one and three threads agree to the bit" cmp "$T/threads1" "$T/threads3"

"$blkcast" qpn solve docs/examples/closed-storage.yaml --set clients=50 --json --quiet >"$T/out"
number "$(jq '[.places[].population.mean] | add' "$T/out") > 49.999" "a closed net keeps its tokens"
is "$(jq -r '.probes[0].probe' "$T/out")" response "probes are reported"
like "$("$blkcast" qpn solve docs/examples/closed-storage.yaml --quiet | head -n 1)" \
	'^place +colour +population' "without --json a table is printed"

cat >"$T/closed.yaml" <<'NET'
colours: [c]
places:
  a: {queue: fcfs, tokens: {c: 10}, service: {c: {exponential: {mean: .4}}}}
  b: {queue: ps, service: {c: {exponential: {mean: .25}}}}
transitions: {x: {take: {a: c}, put: {b: c}}, y: {take: {b: c}, put: {a: c}}}
NET
exits 0 "a product-form net is solved by mva" "$blkcast" qpn solve "$T/closed.yaml" --method mva --json
is "$(jq -r '.method, (.places[0].throughput.mean * 1e8 | round), .places[0].throughput.ci[0]' "$T/out" | tr '\n' ' ')" \
	"mva 249142474 null " "exactly, and without an interval"
exits 2 "another is refused" "$blkcast" qpn solve docs/examples/closed-storage.yaml --method mva
is "$(cat "$T/err")" 'blkcast qpn: docs/examples/closed-storage.yaml:18: not product-form: place "storage/cache": first come, first served needs exponential service' \
	"and the place is named"
printf '<net>\n<extra/></net>' >"$T/bad.qpe"
exits 2 "a .qpe with an unknown element is refused" "$blkcast" qpn solve "$T/bad.qpe"
is "$(cat "$T/err")" "blkcast qpn: $T/bad.qpe:2: extra: unknown element in: net" "with element and line"

# A closed net of QPME: what --set changes is what an edited file says. By mva, so that every digit counts.
cat >"$T/closed.qpe" <<'QPE'
<net qpme-version="2.1.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<colors><color id="c" name="x"/></colors>
<queues><queue id="q0" name="think" number-of-servers="1" strategy="IS"/><queue id="q1" name="cpu" number-of-servers="1" strategy="PS"/></queues>
<places>
<place id="p0" name="clients" departure-discipline="NORMAL" queue-ref="q0" xsi:type="queueing-place"><color-refs>
<color-ref id="r0" color-id="c" initial-population="5" distribution-function="Exponential" lambda="0.5" priority="0" ranking="0"/></color-refs></place>
<place id="p1" name="cpu.a" departure-discipline="NORMAL" queue-ref="q1" xsi:type="queueing-place"><color-refs>
<color-ref id="r1" color-id="c" distribution-function="Exponential" lambda="4" priority="0" ranking="0"/></color-refs></place>
</places>
<transitions>
<transition id="t0" name="go" priority="0" weight="1" xsi:type="immediate-transition"><modes><mode id="m0" name="x" firing-weight="1"/></modes>
<connections><connection source-id="r0" target-id="m0" count="1"/><connection source-id="m0" target-id="r1" count="1"/></connections></transition>
<transition id="t1" name="back" priority="0" weight="1" xsi:type="immediate-transition"><modes><mode id="m1" name="x" firing-weight="1"/></modes>
<connections><connection source-id="r1" target-id="m1" count="1"/><connection source-id="m1" target-id="r0" count="1"/></connections></transition>
</transitions></net>
QPE
same_as() { # NAME SED-SCRIPT SETTINGS...
	local name=$1 edit=$2
	shift 2
	sed "$edit" "$T/closed.qpe" >"$T/edited.qpe"
	"$blkcast" qpn solve "$T/edited.qpe" --method mva --json -q | jq -c '[.places, .queues]' >"$T/edited"
	"$blkcast" qpn solve "$T/closed.qpe" --method mva --json -q "$@" | jq -c '[.places, .queues]' >"$T/set"
	is "$(wc -l <"$T/set") $(sum <"$T/set")" "1 $(sum <"$T/edited")" "$name is what the edited file gives"
}
same_as "another number of tokens" 's/population="5"/population="20"/' --set place.clients.color.x.tokens=20
same_as "another rate" 's/lambda="4"/lambda="8"/' --set place.cpu.a.color.x.lambda=8
same_as "another mean" 's/lambda="4"/lambda="8"/' --set place.cpu.a.color.x.mean=0.125
same_as "a number that the file does not have" '/color-ref id="r1"/s/color-id/initial-population="3" color-id/' --set place.cpu.a.color.x.tokens=3
is "$("$blkcast" qpn solve "$T/closed.qpe" --set queue.cpu.servers=2 --json -q --precision 0.05 | jq -c .places)" \
	"$(sed '/name="cpu"/s/\(name="cpu" number-of-servers\)="1"/\1="2"/' "$T/closed.qpe" >"$T/two.qpe"; "$blkcast" qpn solve "$T/two.qpe" --json -q --precision 0.05 | jq -c .places)" "more servers are, too"
exits 0 "check takes them" "$blkcast" qpn check "$T/closed.qpe" --set transition.go.mode.x.weight=3,transition.back.priority=1
exits 2 "an unknown number of a .qpe is refused" "$blkcast" qpn solve "$T/closed.qpe" --set place.clients.color.x.mena=3
is "$(cat "$T/err")" "blkcast qpn: $T/closed.qpe: no number is named place.clients.color.x.mena, but place.clients.color.x.tokens, place.clients.color.x.capacity, place.clients.color.x.priority, place.clients.color.x.lambda, place.clients.color.x.mean" "with those that are there"
exits 2 "a mean and a rate of the same time are refused" "$blkcast" qpn solve "$T/closed.qpe" --set place.cpu.a.color.x.mean=2,place.cpu.a.color.x.lambda=4
like "$(cat "$T/err")" "closed.qpe:8: color-ref: set by its mean and a second time by: lambda" "by name"
sed 's|<mode id="m0" name="x" firing-weight="1"/>|&<mode id="m9" name="x" firing-weight="1"/>|; s|<connection source-id="r0" target-id="m0" count="1"/><connection source-id="m0" target-id="r1" count="1"/>|&<connection source-id="r0" target-id="m9" count="1"/><connection source-id="m9" target-id="r1" count="1"/>|' \
	"$T/closed.qpe" >"$T/twice.qpe"
exits 0 "modes of one name are a net" "$blkcast" qpn check "$T/twice.qpe" --set place.clients.color.x.tokens=3
exits 2 "a name that two numbers have is refused" "$blkcast" qpn check "$T/twice.qpe" --set transition.go.mode.x.weight=3
like "$(cat "$T/err")" "twice.qpe: 2 numbers are named transition.go.mode.x.weight; give what they belong to different names in the file" "with how many have it"
exits 2 "a value that the file may not have is refused" "$blkcast" qpn solve "$T/closed.qpe" --set queue.cpu.servers=1.5
like "$(cat "$T/err")" "closed.qpe:3: queue: expected a whole number, not too large, in attribute: number-of-servers" "as in the file"

# A sweep is one solution for each value, of both kinds of files.
exits 0 "a sweep" "$blkcast" qpn solve "$T/closed.qpe" --method mva --sweep place.clients.color.x.tokens=5:25:10 --sweep place.cpu.a.color.x.mean=0.25:0.5:0.25 --json -q
for at in "5 0.25 0" "25 0.5 5"; do
	read -r tokens mean point <<<"$at"
	is "$(jq -c ".[$point] | .places, .set" "$T/out")" \
		"$("$blkcast" qpn solve "$T/closed.qpe" --method mva --json -q --set "place.clients.color.x.tokens=$tokens,place.cpu.a.color.x.mean=$mean" |
			jq -c --argjson t "$tokens" --argjson m "$mean" '.places, {"place.clients.color.x.tokens": ($t + 0.0), "place.cpu.a.color.x.mean": $m}')" "point $point is what --set gives"
done
exits 0 "a sweep for people" "$blkcast" qpn solve $mm1 --sweep rate=0.2:0.4:0.2 --precision 0.05 -q
like "$(head -n 2 "$T/out" | tr -s ' ' | tr '\n' '|')" '^rate \|? ?place colour population .*0\.2 ' "has a column for what varies"
exits 1 "a sweep into overload" "$blkcast" qpn solve $mm1 --sweep rate=0.5:1.5:1 --precision 0.05 --json
is "$(jq -c 'map(.steady_state)' "$T/out")" '[true,false]' "goes on, and says where there is no steady state"
exits 2 "a sweep of bounds is refused" "$blkcast" qpn solve "$T/closed.yaml" --method bounds --sweep rate=1:2

exits 0 "the precision of quantiles can be asked for" "$blkcast" qpn solve $mm1 --quantiles --precision 0.02 --json --quiet
number "$(jq '.places[0].residence_time | (.p99_ci[1] - .p99) / .p99' "$T/out") <= 0.02" "and is reached"
number "$(jq '.places[0].residence_time | (.p99 - 23.025851) / 23.025851 | fabs' "$T/out") <= 0.03" "the 99 % quantile is that of M/M/1"

exits 2 "an unknown parameter is bad usage" "$blkcast" qpn solve $mm1 --set speed=3
is "$(cat "$T/err")" "blkcast qpn: $mm1: no parameter \"speed\" to set" "it is named"
exits 2 "a setting without a value is bad usage" "$blkcast" qpn solve $mm1 --set rate
exits 2 "an unknown method is bad usage" "$blkcast" qpn solve $mm1 --method magic
exits 2 "a missing file is bad input" "$blkcast" qpn solve "$T/none.yaml"
printf 'colours: [a]\nplaces: {p: {tokens: {b: 1}}}\n' >"$T/bad.yaml"
exits 2 "a missing colour is bad input" "$blkcast" qpn solve "$T/bad.yaml"
is "$(cat "$T/err")" "blkcast qpn: $T/bad.yaml:2: no colour \"b\"" "file and line are named"
printf 'colours: [a]\nplaces: {p: {tokens: {a: 1}}, q: {colours: [a]}}\ntransitions: {t: {take: {p: a}, put: {q: a}}}\n' >"$T/dead.yaml"
exits 1 "a deadlock is a failure" "$blkcast" qpn solve "$T/dead.yaml"
like "$(cat "$T/err")" 'dead.yaml:2: deadlock at time 0.*q \(a\): 1' "it says where the tokens are"
cat >"$T/grows.yaml" <<'NET'
colours: [c, permit]
places:
  waiting: {colours: [c]}
  pool: {tokens: {permit: 2}}
  work: {queue: is, service: {c: {exponential: {mean: 1}}}}
transitions:
  in: {time: {exponential: {rate: 4}}, put: {waiting: c}}
  go: {take: {waiting: c, pool: permit}, put: {work: c}}
  out: {take: {work: c}, put: {pool: permit}}
NET
exits 1 "an unstable net is a failure" "$blkcast" qpn solve "$T/grows.yaml" --quiet
is "$(cat "$T/err")" "blkcast qpn: $T/grows.yaml:4: unstable, more tokens are in service than it has: the pool of place \"pool\" (4 of 2 tokens)" \
	"the pool is named before anything is run"
exits 1 "as JSON" "$blkcast" qpn solve "$T/grows.yaml" --quiet --json
is "$(jq -c '[.steady_state, .places[0].residence_time.mean, .places[0].population.mean]' "$T/out")" '[false,null,null]' \
	"it has no steady state, and no numbers"
# With a capacity somewhere the flows are not known beforehand: it is seen to grow.
sed -i 's/{permit: 2}}$/{permit: 2}, capacity: {permit: 2}}/' "$T/grows.yaml"
exits 1 "an unstable net of unknown flows is a failure" "$blkcast" qpn solve "$T/grows.yaml" --quiet
like "$(cat "$T/err")" 'grows.yaml:3: unstable, tokens pile up: .* in place "waiting" \(c\)' "the place is named"
printf 'colours: [a]\nplaces: {p: {tokens: {a: 1}}, q: {colours: [a]}}\ntransitions:\n  ping: {take: {p: a}, put: {q: a}}\n  pong: {take: {q: a}, put: {p: a}}\n' >"$T/loop.yaml"
exits 1 "a loop without time is a failure" "$blkcast" qpn solve "$T/loop.yaml" --quiet
like "$(cat "$T/err")" 'loop.yaml:4: .*immediate transitions fire without end .*ping, pong' "its transitions are named"
# A colour that is rare makes a run long.
cat >"$T/rare.yaml" <<'NET'
colours: [common, rare]
places:
  think:
    queue: is
    tokens: {common: 20, rare: 1}
    service: {common: {exponential: {mean: 1}}, rare: {exponential: {mean: 500}}}
  disk:
    queue: ps
    service: {common: {exponential: {mean: 0.02}}, rare: {exponential: {mean: 0.02}}}
transitions:
  ask: {take: {think: common}, put: {disk: common}}
  ask-rarely: {take: {think: rare}, put: {disk: rare}}
  end: {take: {disk: common}, put: {think: common}}
  end-rarely: {take: {disk: rare}, put: {think: rare}}
NET
rare='the [a-z]+ of "(disk|think)\.rare" limits'
for method in batch-means replications; do
	"$blkcast" qpn solve "$T/rare.yaml" --method $method --replications 2 --max-events 2500000 --json >"$T/all" 2>"$T/err"
	like "$(head -n 1 "$T/err")" \
		"$rare the precision: [0-9.e+]+ after [0-9]+ events; 0\.01 takes about [0-9.e+]+, but the run ends" \
		"$method: the first look names the colour that makes the run long, and how long"
	like "$(tail -n 1 "$T/err")" "stopped after [0-9]+ events at a relative precision of [0-9.]+, not 0\.01; $rare it" \
		"$method: so does the end"
done
# A colour that few visits of a replication belong to: its mean stay is 60, exactly (infinite servers), and its stays are
# exponential. A visit that lasts beyond the end of a replication is not counted, and one that began in the warm-up is.
sed 's/common: 20,/common: 2,/; s/mean: 500/mean: 60/' "$T/rare.yaml" >"$T/stays.yaml"
"$blkcast" qpn solve "$T/stays.yaml" --method replications --model-time 1000 --replications 4000 --json -q |
	jq '.places[] | select(.place == "think" and .colour == "rare")' >"$T/stays"
number "$(jq .residence_time.mean "$T/stays") > 59.2" "replications with 12 visits each give a rare colour its stay (below)"
number "$(jq .residence_time.mean "$T/stays") < 60.8" "and above"
number "$(jq .residence_time.p95 "$T/stays") > 176" "its 95th percentile is -60 ln 0.05 = 179.7 (below)"
number "$(jq .residence_time.p95 "$T/stays") < 183.5" "and above"
number "$(jq '.throughput.mean * .residence_time.mean / .population.mean' "$T/stays") > 0.996" "Little's law holds (below)"
number "$(jq '.throughput.mean * .residence_time.mean / .population.mean' "$T/stays") < 1.004" "and above"
"$blkcast" qpn solve "$T/stays.yaml" --method replications --model-time 200 --replications 200 --json -q |
	jq '.places[] | select(.place == "think")' >"$T/stays"
is "$(jq -s 'map(.residence_time.mean | type) | join(" ")' "$T/stays")" '"number null"' \
	"where a replication has three visits, the stay is not known"
"$blkcast" qpn solve "$T/stays.yaml" --method replications --model-time 200 --replications 20 --json >"$T/out" 2>"$T/err"
is "$(tail -n 1 "$T/err")" 'blkcast qpn: the time of "think.rare" is not known: expected a model time of more than 200' \
	"and this is said"
"$blkcast" qpn solve "$T/rare.yaml" --of disk.common --precision 0.03 --max-events 1500000 --json >"$T/common" 2>"$T/err"
is "$(grep -c limits "$T/err")" 0 "--of PLACE.COLOUR does not wait for another colour"
number "$(jq .precision "$T/common") <= 0.03" "it reaches the precision of its own"
number "$(jq .events "$T/common") < 1400000" "with fewer events"
"$blkcast" qpn solve "$T/rare.yaml" --of disk --precision 0.03 --max-events 1500000 --json >"$T/disk" 2>"$T/err"
like "$(tail -n 1 "$T/err")" 'not 0\.03; the [a-z]+ of "disk\.rare" limits it' "--of PLACE waits for all its colours"
exits 2 "a colour that the place does not have is bad usage" "$blkcast" qpn solve "$T/rare.yaml" --of disk.none
is "$(cat "$T/err")" "blkcast qpn: $T/rare.yaml: no place, place.colour or probe \"disk.none\"" "and it is named"
sed -i 's/rare: 1}/rare: 0}/' "$T/rare.yaml"
"$blkcast" qpn solve "$T/rare.yaml" --of disk.rare --max-events 1500000 --json >"$T/never" 2>"$T/err"
like "$(head -n 1 "$T/err")" '"disk\.rare" limits the precision: it was observed too rarely in [0-9]+ events' \
	"a colour that is asked for and never moves is said to be unknown"

# What the precision of a run does not tell is said.
printf '%s\n' 'colours: [c]' 'places: {a: {colours: [c]}}' 'transitions:' \
	'  in: {time: {exponential: {rate: 0.8}}, put: {a: c}}' '  out: {time: {exponential: {rate: 1}}, take: {a: c}}' \
	>"$T/plain.yaml"
"$blkcast" qpn solve "$T/plain.yaml" --json >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" 'the population of "a\.c" is known to a relative precision of 0\.0[0-9]+ only.*--of a\.c runs until' \
	"the population of a place without a queue does not count, which is said"
"$blkcast" qpn solve "$T/plain.yaml" --of a.c --json >"$T/out" 2>"$T/err"
is "$(grep -c 'is known to a relative precision' "$T/err")" 0 "it counts where it is named"
"$blkcast" qpn solve docs/examples/mm1.yaml --set rate=0.9 --model-time 500 --seed 3 >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" 'parts of this run depend on each other .*intervals are too narrow' "a run that is too short is called so"
"$blkcast" qpn solve docs/examples/mm1.yaml --model-time 1e-9 >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" 'no token left any place in this time: nothing is known' "and one that shows nothing"
exits 2 "a parameter has one value or a sweep" "$blkcast" qpn solve docs/examples/mm1.yaml --set rate=0.5 --sweep rate=0.1:0.2:0.1
like "$(cat "$T/err")" 'sweep: rate has a value by --set already' "and the line names it"
done_testing
