#!/usr/bin/env bash
# What ships for a fleet: the units of several serves, a balancer's settings, Kubernetes manifests and an Ansible role.
# Each is read by its own program where that is installed, and names no option that the programs do not have.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/browser/setup.sh
need tree "the top of the source tree is not here" test -f Makefile
need schema "python3 has no yaml" python3 -c 'import yaml'
at=scripts/package/fleet

# options PROGRAM FILE: the long options in the file that the program's help does not list
unknown_options() {
	local o
	for o in $(grep -oE -- '--[a-z][a-z-]+' "$2" | sort -u); do
		grep -qE -- "$o\b" <<<"$1" || printf '%s ' "$o"
	done
}
serve_help=$("$BUILD/blkcast" serve --help)
agent_help=$("$BUILD/blkcast-agent" --help)
for f in scripts/package/blkcast-serve@.service scripts/package/blkcast-serve-cluster.default \
	$at/ansible/roles/blkcast/templates/blkcast-serve-cluster.j2; do
	is "$(unknown_options "$serve_help" $f)" "" "$f: serve knows the options"
done
for f in scripts/package/blkcast-serve.service scripts/package/blkcast-serve@.service $at/kubernetes/serve.yaml; do
	like "$(cat $f)" "GLIBC_TUNABLES.*glibc.malloc.tcache_count=0" "$f: threads of idle connections keep no freed memory"
done
python3 - $at <<'P' >"$T/args"
import glob
import sys
import yaml
for path in sorted(glob.glob(sys.argv[1] + "/kubernetes/*.yaml")):
    for d in yaml.safe_load_all(open(path)):
        print(d["kind"], d["metadata"]["name"])
        for c in d["spec"].get("template", {}).get("spec", {}).get("containers", []):
            print("COMMAND", " ".join(c["command"] + [a.split("=")[0] for a in c["args"]]))
for path in glob.glob(sys.argv[1] + "/ansible/**/*.yml", recursive=True):
    assert yaml.safe_load(open(path)), path
P
is $? 0 "every YAML file can be read"
is "$(grep -v COMMAND "$T/args" | tr '\n' ' ')" \
	"DaemonSet blkcast-agent Deployment blkcast-serve Service blkcast-serve PodDisruptionBudget blkcast-serve " \
	"the manifests hold an agent on each node, and serves behind a service"
grep 'COMMAND blkcast serve' "$T/args" >"$T/serve.args"
grep 'COMMAND blkcast-agent' "$T/args" >"$T/agent.args"
is "$(unknown_options "$serve_help" "$T/serve.args")" "" "serve knows the options of its manifest"
is "$(unknown_options "$agent_help" "$T/agent.args")" "" "and the agent those of its own"
unknown=""
for key in $(sed -n 's/^\([a-z-]*\):.*/\1/p' $at/ansible/roles/blkcast/templates/agent.yaml.j2); do
	grep -q -- "--$key\b" <<<"$agent_help" || unknown="$unknown $key"
done
is "$unknown" "" "the agent knows the keys that the role writes"

if browser_packages >/dev/null 2>&1; then
	python3 - $at <<'P' >"$T/manifests.json"
import glob
import json
import sys
import yaml
print(json.dumps([d for p in sorted(glob.glob(sys.argv[1] + "/kubernetes/*.yaml")) for d in yaml.safe_load_all(open(p))]))
P
	cat >"$T/check.js" <<'J'
const fs = require('fs')
const at = process.argv[2] + '/node_modules/kubernetes-models/'
for (const d of JSON.parse(fs.readFileSync(process.argv[3]))) {
	const Kind = require(at + d.apiVersion)[d.kind]
	new Kind(d).validate()
}
let refused = false
try {
	new (require(at + 'apps/v1').Deployment)({ spec: { replicas: 'three' } }).validate()
} catch (e) {
	refused = true
}
if (!refused) throw new Error('a wrong manifest is not refused')
J
	exits 0 "the manifests satisfy the schema of Kubernetes" node "$T/check.js" "$(realpath "$BUILD")/browser" "$T/manifests.json"
else
	skip_one playwright "npm cannot install the packages of tests/browser" "the manifests satisfy the schema of Kubernetes"
fi
if have haproxy; then
	exits 0 "haproxy accepts the balancer's settings" haproxy -c -f $at/haproxy.cfg
fi
if have systemd-analyze && [ "$(id -u)" = 0 ]; then
	mkdir "$T/units"
	sed "s,^ExecStart=/usr/bin/blkcast,ExecStart=$(realpath "$BUILD")/blkcast,; s/^\(User\|Group\)=.*//" \
		scripts/package/blkcast-serve@.service >"$T/units/blkcast-serve@1.service"
	systemd-analyze verify --man=no "$T/units/blkcast-serve@1.service" >"$T/verify" 2>&1
	is "$(grep -c 'blkcast-serve' "$T/verify")" 0 "systemd accepts the unit of one of several serves"
fi
if have ansible-playbook; then
	exits 0 "ansible accepts the role" env LC_ALL=C.UTF-8 ANSIBLE_LOCAL_TEMP="$T/ansible" ansible-playbook --syntax-check \
		-i "blkcast_serves," $at/ansible/site.yml
fi
done_testing
