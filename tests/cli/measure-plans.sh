#!/usr/bin/env bash
# The shipped plans: valid by docs/plan.schema.json, read by blkcast measure, as many configurations
# as the studies had. The schema and the reader agree on what is wrong.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need schema "python3 has no jsonschema or yaml" python3 -c 'import jsonschema, yaml'
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
valid() {
	python3 - "$1" <<-'PY'
		import json, sys, yaml, jsonschema
		schema = json.load(open("docs/plan.schema.json"))
		jsonschema.Draft202012Validator.check_schema(schema)
		jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(open(sys.argv[1])))
	PY
}
check() { # PLAN CONFIGURATIONS
	holds "$1 is valid by the schema" valid "docs/examples/plans/$1.yaml"
	is "$("$blkcast" measure "docs/examples/plans/$1.yaml" --dry-run --json | jq .configurations)" "$2" "$1 has $2 configurations"
}
check small 18
check study-1 1120
check study-1-unseen 100
check study-2 576
check study-3 200
check qpn-cache 220
check disk 600
check disk-edges 180
check disk-unseen 104
check pair 100
check pair-unseen 24
check capacity 49
check capacity-mixed 15
check qpn-raid 500
check qpn-mix 25
check qpn-vms 60
"$blkcast" measure docs/examples/plans/study-1.yaml --dry-run >"$T/a"
"$blkcast" measure docs/examples/plans/study-1.yaml --dry-run >"$T/b"
holds "the order of a seed is always the same" cmp "$T/a" "$T/b"
"$blkcast" measure docs/examples/plans/study-1.yaml --dry-run --set seed=2 >"$T/b"
is "$(cmp -s "$T/a" "$T/b"; echo $?)" 1 "and another with another seed"
is "$(awk '{ $1 = ""; print }' "$T/a" | sort | cksum)" "$(awk '{ $1 = ""; print }' "$T/b" | sort | cksum)" "of the same configurations"
printf 'campaign: c\ntargets: {a: {directory: /tmp}}\nload: {driver: command, command: "echo {think}"}\nfactors: {think: [5ms, 0.1]}\norder: given\n' >"$T/think.yaml"
is "$("$blkcast" measure "$T/think.yaml" --dry-run | awk '/^ *[01] / { print $2 }' | xargs)" "0.005 0.1" \
	"a number is printed with the digits that it needs"
wrong() { # NAME YAML
	printf '%b' "$2" >"$T/wrong.yaml"
	exits 1 "$1: refused by the schema" valid "$T/wrong.yaml"
	exits 2 "$1: refused by the reader" "$blkcast" measure "$T/wrong.yaml" --dry-run
}
base='campaign: c\ntargets: {a: {directory: /tmp}}\nload: {driver: none}\n'
wrong "no factors" "$base"
wrong "an unknown key" "${base}factors: {s: [1]}\nspeed: 3\n"
wrong "a factor of two kinds" "${base}factors: {s: {levels: [1], low: 2, high: 3}}\n"
wrong "a design of two kinds" "${base}factors: {s: [1]}\nsetup: echo {s}\ndesign: {random: {configurations: 1}, list: []}\n"
wrong "no repetitions" "${base}factors: {s: [1]}\nsetup: echo {s}\nrepetitions: 0\n"

# A sequential design asks where models disagree: most of all at the step of a response.
cat >"$T/sequential.yaml" <<YAML
campaign: sequential
targets: {here: {directory: $T}}
load: {driver: command, command: 'echo "{{\"y_s\": {100 + x / 10 + 40 * max(0, min(1, x - 69.5))}}"'}
factors: {x: {low: 0, high: 100, step: 1}}
warm_up: 0
interval: 100ms
intervals: 1
seed: 3
design: {sequential: {response: y_s, start: 8, configurations: 20, candidates: 101}}
YAML
exits 0 "a sequential design" "$blkcast" measure "$T/sequential.yaml" --db "$T/s.db"
exits 0 "its table" "$blkcast" measure --export "$T/s.csv" --db "$T/s.db"
is "$(($(wc -l <"$T/s.csv") - 1))" 20 "has as many configurations as asked for"
is "$(awk -F, 'NR > 1 { print $3 }' "$T/s.csv" | sort -u | wc -l)" 20 "all different"
near=$(awk -F, 'NR > 9 && $3 >= 55 && $3 <= 85' "$T/s.csv" | wc -l)
number "$near >= 6" "at least half of those chosen lie around the step, in 30 % of the range ($near of 12)"
done_testing
