#!/usr/bin/env bash
# docs/qpn.schema.json and the reader agree on the shipped examples and on what is wrong.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need schema "python3 has no jsonschema or yaml" python3 -c 'import jsonschema, yaml'
blkcast=$BUILD/blkcast
valid() {
	python3 - "$@" <<-'PY'
		import json, sys, yaml, jsonschema
		schema = json.load(open("docs/qpn.schema.json"))
		jsonschema.Draft202012Validator.check_schema(schema)
		for net in sys.argv[1:]:
		    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(open(net)))
	PY
}
for net in docs/examples/mm1.yaml docs/examples/closed-storage.yaml docs/examples/storage-priorities.yaml; do
	holds "$net is valid by the schema" valid $net
	exits 0 "$net is solved" "$blkcast" qpn solve $net --precision 0.05
done
# Every net of the documentation.
solved=0 nets=()
for net in docs/examples/*.yaml; do
	grep -q '^colours:' "$net" || continue
	nets+=("$net")
	"$blkcast" qpn solve "$net" --model-time 50 --quiet >"$T/out" 2>"$T/err" && [ -s "$T/out" ] ||
		fail "$net is solved" "$(head -c 300 "$T/err")"
	solved=$((solved + 1))
done
number "$solved >= 8" "every example net is solved"
holds "and valid by the schema" valid "${nets[@]}"

laws=0
# Each distribution, as the schema has it and as the reader takes it; the mean by its own formula.
mean() { # DISTRIBUTION MEAN
	printf 'colours: [a]\nplaces: {p: {queue: is, tokens: {a: 1}, service: {a: {%s}}}}\ntransitions: {t: {take: {p: a}, put: {p: a}}}\n' "$1" >"$T/law-$((++laws)).yaml"
	"$blkcast" qpn solve "$T/law-$laws.yaml" --json --quiet --precision 0.01 >"$T/out" 2>"$T/err" || cat "$T/err"
	number "$(jq ".places[0].residence_time.mean / ($2) - 1 | fabs" "$T/out") < 0.02" "$1 has its mean"
}
need jq "jq is not installed" command -v jq
while IFS='|' read -r law want; do
	mean "$law" "$want"
done <<'END'
deterministic: {value: 2}|2
exponential: {rate: 4}|.25
erlang: {k: 3, rate: 1}|3
gamma: {mean: 2, sd: 1}|2
hyperexponential: {mean: 2, scv: 3}|2
hyperexponential: {probabilities: [.5, .5], means: [1, 3]}|2
lognormal: {mean: 2, sd: 1}|2
normal: {mean: 5, sd: 1}|5
cut_normal: {mean: 0, sd: 1}|0.39894228
uniform: {min: 1, max: 3}|2
weibull: {shape: 2, scale: 1}|0.88622693
beta: {alpha: 1, beta: 3}|.25
beta: {alpha: 1, beta: 3, scale: 8}|2
chi_square: {freedom: 3}|3
logarithmic: {p: .5}|1.44269504
hyperbolic: {alpha: 50, beta: 40}|1.40056
exponential_power: {tau: 2}|0.28209479
student_t: {freedom: 5}|0.47452450
von_mises: {k: 100}|0.0399443
breit_wigner: {mean: 9, gamma: 1, cut: 4}|9
breit_wigner_mean_square: {mean: 100, gamma: .1, cut: 1}|100
empirical: {values: [1, 3], weights: [3, 1]}|1.5
histogram: {edges: [0, 1, 3], counts: [1, 1]}|1.25
map: {d0: [[-2, 0], [0, -2]], d1: [[1, 1], [1, 1]]}|.5
mmpp: {rates: [4, 4], switching: [[0, 1], [1, 0]]}|.25
END
holds "all of them are valid by the schema" valid "$T"/law-*.yaml
wrong() { # NAME YAML
	printf '%b' "$2" >"$T/wrong.yaml"
	exits 1 "$1: refused by the schema" valid "$T/wrong.yaml"
	exits 2 "$1: refused by the reader" "$blkcast" qpn solve "$T/wrong.yaml"
}
wrong "an unknown key" 'colours: [a]\nplaces: {p: {tokens: {a: 1}, colour: a}}\n'
wrong "no colours" 'places: {p: {tokens: {a: 1}}}\n'
wrong "an unknown distribution" 'colours: [a]\nplaces: {p: {queue: is, service: {a: {cauchy: {mean: 1}}}}}\n'
wrong "two forms of a distribution at once" \
	'colours: [a]\nplaces: {p: {queue: is, service: {a: {exponential: {mean: 1, rate: 1}}}}}\n'
done_testing
