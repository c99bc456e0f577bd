#!/usr/bin/env bash
# blkcast arch solve: closed forms, sweeps, the contract's keys, what repeats.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
shop=docs/examples/shop.yaml

# model POLICY USAGE OPERATION
model() {
	cat <<-YAML
		parameters: {clients: 10, rate: 1}
		interfaces: {I: [work]}
		components:
		  C: {provides: I, operations: {work: $3}}
		containers: {host: {cpu: {cores: 1, policy: $1, rate: rate}}}
		assembly: {c: {component: C, container: host}}
		usage: {users: {$2, do: [{call: c.work}]}}
	YAML
}
mean() { jq ".$2.response_time.mean" "$1"; }

# Exact MVA of a delay of 2 s and a station of 0.5 s with 10 clients.
model ps 'clients: clients, think: Exp(1 / 2)' '[{cpu: "UniDouble(0, 1)"}]' >"$T/closed.yaml"
exits 0 "a closed model is solved" "$blkcast" arch solve "$T/closed.yaml" --json --quiet
want=$(awk 'BEGIN { for (i = 1; i <= 10; i++) { r = .5 * (1 + q); q = i * r / (2 + r) } print r }')
number "($(mean "$T/out" 'scenarios[0]') / $want - 1) < 0.02" "its response time is that of exact MVA (above)"
number "($(mean "$T/out" 'scenarios[0]') / $want - 1) > -0.02" "its response time is that of exact MVA (below)"
number "$(jq '.scenarios[0].throughput' "$T/out") * (2 + $(mean "$T/out" 'scenarios[0]')) / 10 - 1 < 0.01" \
	"the response-time law holds (above)"
number "$(jq '.scenarios[0].throughput' "$T/out") * (2 + $(mean "$T/out" 'scenarios[0]')) / 10 - 1 > -0.01" \
	"the response-time law holds (below)"
number "$(jq '.resources[0].utilization / .scenarios[0].throughput / 0.5 - 1 | fabs' "$T/out") < 0.01" \
	"the utilization law holds"
is "$(jq -r '.schema, .seed, (.scenarios[0] | keys_unsorted | join(" ")),
	(.scenarios[0].response_time | keys_unsorted | join(" ")), .operations[0].operation,
	(.resources[0] | [.container, .resource] | join("."))' "$T/out" | tr '\n' '|')" \
	'blkcast.arch/1|1|scenario response_time throughput|mean ci p50 p95 p99|c.work|host.cpu|' \
	"the keys are those of the contract"

# M/M/1 at 0.8: 5 s; its quantiles are those of an exponential.
model fcfs 'interarrival: Exp(0.8)' '[{cpu: Exp(1)}]' >"$T/open.yaml"
exits 0 "an open model is solved" "$blkcast" arch solve "$T/open.yaml" --json --quiet --precision 0.02
number "$(jq '(.scenarios[0].response_time.mean / 5 - 1) | fabs' "$T/out") < 0.04" "M/M/1: the mean"
number "$(jq '(.scenarios[0].response_time.p95 / 14.978661 - 1) | fabs' "$T/out") < 0.06" "M/M/1: 95 %"
number "$(jq '(.resources[0].utilization / 0.8 - 1) | fabs' "$T/out") < 0.02" "M/M/1: utilization"

# M/M/1 at 1.6, and at 1 exactly: no steady state, whatever is simulated.
exits 1 "what brings more than can be served ends with 1" "$blkcast" arch solve "$T/open.yaml" --set rate=0.5 --json
like "$(cat "$T/err")" 'no steady state: open scenarios bring more work than can be done \(host.cpu: 1.6 of 1\)' "with load and capacity"
is "$(jq -c '[.steady_state, (.scenarios[0].response_time | .mean, .ci, .p95), (.resources[0].offered_load * 1e9 | round)]' "$T/out")" \
	'[false,null,[null,null],null,1600000000]' "and no times"
exits 1 "as a table too" "$blkcast" arch solve "$T/open.yaml" --set rate=0.5 --quiet
like "$(cat "$T/out")" '^scenario +users +no steady state +- ' "in words"
exits 1 "a model time does not make it steady" "$blkcast" arch solve "$T/open.yaml" --set rate=0.5 --model-time 2000 --quiet
exits 1 "load and capacity may be equal" "$blkcast" arch solve "$T/open.yaml" --set rate=0.8 --quiet
exits 1 "of a sweep" "$blkcast" arch solve "$T/open.yaml" --sweep rate=0.5:1.5:0.5 --precision 0.2 --json --quiet
is "$(jq -c '[.[] | .steady_state, (.scenarios[0].response_time.mean | type)]' "$T/out")" \
	'[false,"null",true,"number",true,"number"]' "only the overloaded rows are null"
exits 1 "as CSV" "$blkcast" arch solve "$T/open.yaml" --sweep rate=0.5:1.5:1 --precision 0.2 --csv --quiet
is "$(awk -F, '$2 == "scenario" { print $1, ($4 == "" ? "empty" : "time") }' "$T/out" | xargs)" "0.5 empty 1.5 time" "they are empty"
exits 1 "a comparison with it" "$blkcast" arch compare "$T/open.yaml" "$T/open.yaml" --set rate=0.5 --json --quiet
is "$(jq -r '.times[0] | .verdict, .ratio' "$T/out" | xargs)" "no steady state null" "says so"
exits 1 "check compares load with capacity" "$blkcast" arch check "$T/open.yaml" --set rate=0.5
like "$(cat "$T/out")" 'open.yaml: no steady state: .*\(host.cpu: 1.6 of 1\)' "and names the resource"
exits 0 "and finds nothing below" "$blkcast" arch check "$T/open.yaml"
# A lock that is held for 2 s by one in 1.5 s.
cat >"$T/lock.yaml" <<'YAML'
interfaces: {I: [work]}
components:
  C: {provides: I, passive: {lock: 1}, operations: {work: [{acquire: lock}, {delay: Exp(0.5)}, {release: lock}]}}
containers: {host: {cpu: 1}}
assembly: {c: {component: C, container: host}}
usage: {users: {interarrival: Exp(1 / 1.5), do: [{call: c.work}]}}
YAML
exits 1 "a lock has a load too" "$blkcast" arch check "$T/lock.yaml"
like "$(cat "$T/out")" 'c.lock: 1.[23][0-9]* of 1\)' "how often it is held at once"
# Who waits for the cpu holds the lock meanwhile: its load is known from below alone, its queue grows.
cat >"$T/held.yaml" <<'YAML'
interfaces: {I: [locked, free], J: [work, free]}
components:
  C:
    provides: I
    requires: {other: J}
    passive: {lock: 1}
    operations:
      locked: [{acquire: lock}, {cpu: Exp(100)}, {call: other.work}, {release: lock}]
      free: [{cpu: Exp(1)}]
  D: {provides: J, operations: {work: [{cpu: Exp(100)}], free: [{cpu: Exp(1)}]}}
containers: {one: {cpu: {cores: 1, policy: fcfs}}, two: {cpu: {cores: 1, policy: fcfs}}}
assembly: {c: {component: C, container: one, connects: {other: d}}, d: {component: D, container: two}}
usage:
  a: {interarrival: Exp(20), do: [{call: c.locked}]}
  b: {interarrival: Exp(0.7), do: [{call: c.free}]}
  c: {interarrival: Exp(0.7), do: [{call: d.free}]}
YAML
exits 0 "a load that cannot be computed passes the check" "$blkcast" arch check "$T/held.yaml"
exits 1 "but its simulation does not" "$blkcast" arch solve "$T/held.yaml" --json
like "$(cat "$T/err")" 'no steady state: what waits grows' "for what waits grows"
is "$(jq -c '[.steady_state, .scenarios[].response_time.mean]' "$T/out")" '[false,null,null,null]' "no time is given"
# Constant times: every quantile is the one time there is, and its interval has no width.
model fcfs 'clients: 1, think: 1.0' '[{cpu: 50.0}]' >"$T/constant.yaml"
exits 0 "constant times are solved" "$blkcast" arch solve "$T/constant.yaml" --json --quiet
is "$(jq -c '.scenarios[0].response_time | [.p50, .p95, .p99]' "$T/out")" "[50,50,50]" "no quantile lies beyond the only time"
exits 0 "and printed" "$blkcast" arch solve "$T/constant.yaml"
hasnt=$(grep -c 'e-1' "$T/out" "$T/err" | cut -d: -f2 | xargs)
is "$hasnt" "0 0" "without a spread of 1e-14 %"
model fcfs 'clients: 1, think: 1.0' '[{cpu: 184.82}]' >"$T/long.yaml"
"$blkcast" arch solve "$T/long.yaml" --quiet >"$T/out"
like "$(cat "$T/out")" 'scenario +users +185 s' "a long time keeps three digits"
# Two cpus that one instance each of a replica has: half of the arrivals each, M/M/1 at 0.4.
cat >"$T/replicas.yaml" <<'YAML'
interfaces: {I: [work]}
components: {C: {provides: I, operations: {work: [{cpu: Exp(1)}]}}}
containers: {a: {cpu: 1}, b: {cpu: 1}}
assembly: {c: {component: C, container: [a, b]}}
usage: {users: {interarrival: Exp(0.8), do: [{call: c.work}]}}
YAML
exits 0 "replicas are solved" "$blkcast" arch solve "$T/replicas.yaml" --json --quiet --precision 0.02
number "$(jq '(.scenarios[0].response_time.mean * 0.6 - 1) | fabs' "$T/out") < 0.03" \
	"load is spread over replicas at random: M/M/1 each"
is "$(jq -r '[.operations[].operation] | join(" ")' "$T/out")" "c#1.work c#2.work" "and shown for each"

"$blkcast" arch solve "$shop" --json --quiet --model-time 100 | jq -cS 'del(.seconds)' >"$T/one"
for threads in 1 3; do
	"$blkcast" arch solve "$shop" --json --quiet --model-time 100 --threads $threads |
		jq -cS 'del(.seconds)' >"$T/threads$threads"
	holds "$threads threads give the same to the bit" cmp "$T/one" "$T/threads$threads"
done
exits 0 "a sweep is solved" "$blkcast" arch solve "$T/closed.yaml" --sweep clients=5:15:5 --json --quiet
is "$(jq -c '[.[].set.clients]' "$T/out")" "[5,10,15]" "for each value"
is "$(jq '[.[].scenarios[0].response_time.mean] | . == sort' "$T/out")" true "and more clients wait longer"
exits 0 "two parameters vary" "$blkcast" arch solve "$T/closed.yaml" --sweep clients=1:2 --sweep rate=1:3:2 \
	--model-time 500 --json --quiet
is "$(jq -c '[.[] | [.set.clients, .set.rate]]' "$T/out")" "[[1,1],[1,3],[2,1],[2,3]]" "every combination, the last fastest"
cp "$T/out" "$T/points.json"
"$blkcast" arch solve "$T/closed.yaml" --sweep clients=1:2 --model-time 500 --quiet >"$T/text"
is "$(grep -c training "$T/text") $(grep -c busiest "$T/text")" "0 1" "people get no column that would be empty"
exits 0 "and as CSV" "$blkcast" arch solve "$T/closed.yaml" --sweep clients=1:2 --sweep rate=1:3:2 \
	--model-time 500 --csv --quiet
is "$(head -n 1 "$T/out")" \
	"clients,rate,what,name,mean_s,low_s,high_s,p50_s,p95_s,p99_s,per_s,outside_training" "with a head"
is "$(awk -F, '$3 == "scenario" { printf "%s %s %.12g|", $1, $2, $5 }' "$T/out")" \
	"$(jq -r '.[] | "\(.set.clients) \(.set.rate) \(.scenarios[0].response_time.mean)"' "$T/points.json" |
		awk '{ printf "%s %s %.12g|", $1, $2, $3 }')" \
	"CSV and JSON tell the same"
exits 0 "of one point too" "$blkcast" arch solve "$T/closed.yaml" --csv --quiet --model-time 500
is "$(cut -d, -f1-2 "$T/out" | tr '\n' ' ')" "what,name scenario,users operation,c.work " "a line for each time"
exits 0 "two parameters are set" "$blkcast" arch solve "$T/closed.yaml" --set rate=4 --set clients=1 --json --quiet
number "$(jq '(.scenarios[0].response_time.mean / 0.125 - 1) | fabs' "$T/out") < 0.02" "both count"
exits 0 "a parameter is set" "$blkcast" arch solve "$T/closed.yaml" --set rate=2 --set clients=1 --json --quiet
number "$(jq '(.scenarios[0].response_time.mean / 0.25 - 1) | fabs' "$T/out") < 0.02" "and one client meets no other"
exits 0 "two models are compared" "$blkcast" arch compare "$T/closed.yaml" "$T/closed.yaml" --json --quiet
is "$(jq -r '[.times[].verdict] | unique | join(" ")' "$T/out")" "cannot tell" "a model is no slower than itself"
like "$("$blkcast" arch solve "$shop" --quiet --precision 0.05 | head -n 1)" '^what +name +response time' \
	"without --json a table is printed"
# 10 + 3 x 20 + 3 x 5 + 3 x 2 x 1 bytes at 1000 per second, and nothing back.
cat >"$T/sizes.yaml" <<'YAML'
interfaces: {I: [work], J: [take]}
components:
  C:
    provides: I
    requires: {taker: J}
    operations:
      work:
      - call: taker.take
        with: {list.NUMBER_OF_ELEMENTS: 3, list.BYTESIZE: 10, list.INNER.BYTESIZE: 20, list.INNER.part.BYTESIZE: 5,
          list.INNER.NUMBER_OF_ELEMENTS: 2, list.INNER.INNER.BYTESIZE: 1}
  D: {provides: J, operations: {take: []}}
containers: {a: {cpu: 1}, b: {cpu: 1}}
links: {lan: {joins: [a, b], throughput: 1000, latency: 0}}
assembly: {c: {component: C, container: a, connects: {taker: d}}, d: {component: D, container: b}}
usage: {users: {clients: 1, think: 1, do: [{call: c.work}]}}
YAML
exits 0 "a list is handed over" "$blkcast" arch solve "$T/sizes.yaml" --json --quiet
number "$(jq '.scenarios[0].response_time.mean - 0.091 | fabs' "$T/out") < 1e-9" "each of its elements weighs on the link, and each of theirs"
exits 0 "nobody waits for connections" "$blkcast" arch solve "$shop" --sweep clients=100:200:100 --precision 0.05 --csv --quiet
is "$(sed -n 's/^100,wait,shop#1.connections,\([^,]*,[^,]*,[^,]*\),.*/\1/p' "$T/out")" "0,0,0" "which is 0 seconds, not -0"
is "$(grep -c -- ',-' "$T/out")" 0 "and nothing is below 0"
exits 0 "a model is checked" "$blkcast" arch check "$shop"
if command -v dot >/dev/null; then
	exits 0 "a model is drawn" "$blkcast" arch draw "$shop"
	like "$(cat "$T/out")" '<svg' "as SVG"
fi
done_testing
