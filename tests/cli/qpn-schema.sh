#!/usr/bin/env bash
# docs/qpn.schema.json and the reader agree on the shipped examples and on what is wrong.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
need python3-jsonschema "python3 has no jsonschema or yaml" python3 -c 'import jsonschema, yaml'
blkcast=$BUILD/blkcast
valid() {
	python3 - "$1" <<-'PY'
		import json, sys, yaml, jsonschema
		schema = json.load(open("docs/qpn.schema.json"))
		jsonschema.Draft202012Validator.check_schema(schema)
		jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(open(sys.argv[1])))
	PY
}
for net in docs/examples/mm1.yaml docs/examples/closed-storage.yaml docs/examples/storage-priorities.yaml; do
	holds "$net is valid by the schema" valid $net
	exits 0 "$net is solved" "$blkcast" qpn solve $net --precision 0.05
done
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
