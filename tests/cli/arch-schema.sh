#!/usr/bin/env bash
# docs/arch.schema.json and the reader agree on the shipped examples and on what is wrong.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need schema "python3 has no jsonschema or yaml" python3 -c 'import jsonschema, yaml'
blkcast=$BUILD/blkcast
valid() {
	python3 - "$1" <<-'PY'
		import json, sys, yaml, jsonschema
		schema = json.load(open("docs/arch.schema.json"))
		jsonschema.Draft202012Validator.check_schema(schema)
		jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(open(sys.argv[1])))
	PY
}
for model in shop fileserver mailserver both-servers fileserver-queue; do
	holds "$model is valid by the schema" valid docs/examples/$model.yaml
	exits 0 "$model is solved" "$blkcast" arch solve docs/examples/$model.yaml --precision 0.05
done
base='interfaces: {I: [a]}\ncontainers: {h: {cpu: 1}}\nassembly: {c: {component: C, container: h}}\n'
use='usage: {u: {clients: 1, do: [{call: c.a}]}}\n'
wrong() { # NAME YAML
	printf '%b' "$2" >"$T/wrong.yaml"
	exits 1 "$1: refused by the schema" valid "$T/wrong.yaml"
	exits 2 "$1: refused by the reader" "$blkcast" arch check "$T/wrong.yaml"
}
printf '%b' "${base}${use}components: {C: {provides: I, operations: {a: [{cpu: 1}]}}}\n" >"$T/good.yaml"
holds "a small model is valid by the schema" valid "$T/good.yaml"
exits 0 "and by the reader" "$blkcast" arch check "$T/good.yaml"
wrong "an unknown key" "${base}${use}components: {C: {provides: I, operation: {a: []}}}\n"
wrong "an unknown action" "${base}${use}components: {C: {provides: I, operations: {a: [{gpu: 1}]}}}\n"
wrong "two actions in one" "${base}${use}components: {C: {provides: I, operations: {a: [{cpu: 1, delay: 1}]}}}\n"
wrong "an io without a size" "${base}${use}components: {C: {provides: I, operations: {a: [{io: {sequential: 1}}]}}}\n"
wrong "a loop without a body" "${base}${use}components: {C: {provides: I, operations: {a: [{loop: {count: 2}}]}}}\n"
wrong "a scenario that is closed and open" \
	"${base}components: {C: {provides: I, operations: {a: []}}}\nusage: {u: {clients: 1, interarrival: 1, do: []}}\n"
wrong "no usage" "${base}components: {C: {provides: I, operations: {a: []}}}\n"
done_testing
