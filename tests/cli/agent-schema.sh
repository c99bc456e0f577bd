#!/usr/bin/env bash
# docs/agent.schema.json and the agent's reader agree on good configurations and on wrong ones; every key that is
# an option is in --help.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need schema "python3 has no jsonschema or yaml" python3 -c 'import jsonschema, yaml'
agent=$BUILD/blkcast-agent
valid() {
	python3 - "$1" <<-'PY'
		import json, sys, yaml, jsonschema
		schema = json.load(open("docs/agent.schema.json"))
		jsonschema.Draft202012Validator.check_schema(schema)
		jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(open(sys.argv[1])))
	PY
}
both() { # STATUS-OF-SCHEMA STATUS NAME YAML
	printf '%b' "$4" >"$T/a.yaml"
	exits "$1" "$3: by the schema" valid "$T/a.yaml"
	exits "$2" "$3: by the reader" "$agent" --config "$T/a.yaml" --doctor --json
}
both 0 0 "every kind of key" 'device: [sda, sdb]\nsink: "stdout:"\nwindow: 2s\nduration: 3\nlayer: queue\nverbose: true\nseccomp: log\nmax-overhead: 5%\nspool-bytes: 64MiB\nspool-drop: newest\nproxy: http://p:1\n'
both 1 2 "an unknown key" 'devices: sda\n'
both 1 2 "a mapping for a value" 'device: {a: b}\n'
both 1 2 "an unknown layer" 'layer: bio\n'
both 1 2 "an unknown use of seccomp" 'seccomp: never\n'
both 1 2 "an unknown end of the spool" 'spool-drop: all\n'
both 1 2 "a flag that is none" 'verbose: perhaps\n'
both 1 2 "a time below 0" 'duration: -1\n'
both 1 2 "a list" '- a\n'
"$agent" --help >"$T/help"
missing=""
for key in $(python3 -c 'import json; print(*json.load(open("docs/agent.schema.json"))["properties"])'); do
	[ "$key" = trace ] || grep -q -- "--$key\b" "$T/help" || missing="$missing $key"
done
is "$missing" "" "--help names every key"
done_testing
