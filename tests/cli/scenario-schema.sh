#!/usr/bin/env bash
# docs/scenario.schema.json and the reader agree on the shipped examples and on what is wrong.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need schema "python3 has no jsonschema or yaml" python3 -c 'import jsonschema, yaml'
blkcast=$BUILD/blkcast
valid() {
	python3 - "$1" <<-'PY'
		import json, sys, yaml, jsonschema
		schema = json.load(open("docs/scenario.schema.json"))
		jsonschema.Draft202012Validator.check_schema(schema)
		jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(open(sys.argv[1])))
	PY
}
for f in docs/examples/scenarios/*.yaml; do
	holds "$f is valid by the schema" valid "$f"
	exits 0 "$f is solved" "$blkcast" study scenario "$f"
done
cp -r docs/examples "$T/examples"
both() { # STATUS-OF-SCHEMA STATUS NAME YAML
	printf 'scenario: x\nbase: today.yaml\n%b' "$4" >"$T/examples/scenarios/x.yaml"
	exits "$1" "$3: by the schema" valid "$T/examples/scenarios/x.yaml"
	exits "$2" "$3: by the reader" "$blkcast" study scenario "$T/examples/scenarios/x.yaml"
}
both 0 0 "all changes" 'changes:
- add: {vm: new, profile: ../demo.seg, device: loop1, storage: flash, count: 2, load: 0.5}
- add: {vm: web, count: 1}\n- scale: {vm: all, load: 1.1}\n- migrate: {vm: web, to: flash}
- swap: {storage: flash, for: disks}\n- cache: {storage: disks, size: 1g, hit_time: 0.0001}\n- remove: {vm: web, count: 1}\n'
both 0 0 "storages and VMs" 'storages: {more: {models: flash-read.json, cache: {size: 1g, hit_time: 10us}, set: {x: 1}}}\n'
both 1 2 "an unknown key" 'vm: {}\n'
both 1 2 "two changes in one entry" 'changes:\n- {scale: {vm: all, load: 2}, remove: {vm: web}}\n'
both 1 2 "a change without its VM" 'changes:\n- remove: {count: 1}\n'
both 1 2 "a scale without a load" 'changes:\n- scale: {vm: all}\n'
both 1 2 "models and a store" 'storages: {more: {models: flash-read.json, db: x.sqlite}}\n'
both 1 2 "a place without a profile" 'changes:\n- add: {vm: web, storage: flash}\n'
both 1 2 "a VM without a place" 'vms: {x: {profile: ../demo.seg}}\n'
both 1 2 "none of a VM" 'changes:\n- add: {vm: web, count: 0}\n'
done_testing
