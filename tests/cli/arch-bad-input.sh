#!/usr/bin/env bash
# blkcast arch: what is wrong with a model is said with file and line, exit 2, nothing printed.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
blkcast=$BUILD/blkcast
cat >"$T/good.yaml" <<'YAML'
parameters: {n: 2, half: 0.5}
interfaces:
  I: [work]
  J: [help, more]
components:
  C:
    provides: I
    requires: {helper: J}
    passive: {lock: 1}
    operations:
      work:
      - cpu: 10ms
      - call: helper.help
      - loop: {count: n, do: [{delay: 1ms}]}
      - branch:
        - {probability: half, do: []}
        - {probability: 0.5, do: []}
      - acquire: lock
      - release: lock
  D:
    provides: J
    operations:
      help:
      - io: {read: 4k, sequential: 0.5, file_set: data}
      more: []
file_sets: {data: 1G}
storages:
  disk: {formula: {read: 1ms * requests}}
containers:
  host: {cpu: 2, storage: disk}
assembly:
  c: {component: C, container: host, connects: {helper: d}}
  d: {component: D, container: host}
usage:
  users: {clients: 5, think: 1s, do: [{call: c.work}]}
YAML
exits 0 "the model they are all made of is good" "$blkcast" arch check "$T/good.yaml"

# bad NAME SED-SCRIPT LINE MESSAGE
bad() {
	sed "$2" "$T/good.yaml" >"$T/bad.yaml"
	exits 2 "$1: refused" "$blkcast" arch solve "$T/bad.yaml"
	is "$(cat "$T/err" "$T/out")" "blkcast arch: $T/bad.yaml:$3: $4" "$1: said so"
}
bad "an unknown key" 's/passive:/passives:/' 9 \
	'unknown key "passives": expected one of provides, requires, passive, operations, parameters; did you mean "passive"?'
bad "an unknown role" 's/helper.help/disk.help/' 13 'component C requires no "disk"'
bad "an unknown operation" 's/helper.help/helper.hinder/' 13 'interface J has no operation "hinder"'
bad "an unknown interface" 's/helper: J/helper: K/' 8 'no interface "K"'
bad "an unknown instance" 's/helper: d/helper: e/' 32 'no instance "e" in the assembly'
bad "an instance that offers something else" 's/helper: d/helper: c/' 32 \
	'c does not provide J, which "helper" requires'
bad "an unknown component" 's/component: D/component: E/' 33 'no component "E"'
bad "an unknown container" 's/component: D, container: host/component: D, container: guest/' 33 \
	'no container "guest"'
bad "an unknown file set" 's/file_set: data/file_set: date/' 24 'no file set "date"'
bad "an unknown passive resource" 's/acquire: lock/acquire: look/' 18 \
	'component C has no passive resource "look"'
bad "an operation left out" 's/^      more: \[\]/      # more/' 20 \
	'component D provides J, but says nothing of its operation "more"'
bad "a role left open" 's/, connects: {helper: d}//' 13 \
	'c calls help, but its role "helper" is not connected'
bad "probabilities" 's/probability: half/probability: 0.4/' 15 \
	'the probabilities of a branch sum to 0.9: expected 1'
bad "a population of zero" 's/clients: 5/clients: 0/' 35 'clients: expected 1 or more, got 0'
bad "a population that is no number" 's/clients: 5/clients: 2.5/' 35 \
	'clients: expected a whole number, got 2.5'
bad "a negative demand" 's/cpu: 10ms/cpu: 1ms - 2ms/' 12 'cpu: expected 0 or more, got -0.001'
bad "an unknown variable" 's/count: n/count: m/' 14 '"m": no parameter "m", and nothing sets it'
bad "an expression" 's/cpu: 10ms/cpu: "10ms +"/' 12 'cpu: "10ms +": expected a value at its end'
bad "a missing I/O model" 's/read: 4k/write: 4k/' 24 \
	'd writes, but storage disk has no I/O model of writes'
bad "no storage" 's/, storage: disk//' 24 'd runs in host, which has no storage'
bad "a model file that is not there" 's/formula: {read: 1ms \* requests}/read: none.json/' 28 \
	"$T/none.json: No such file or directory"
bad "a formula of something else" 's/1ms \* requests/1ms * clients/' 28 \
	'read: "1ms * clients": "clients" is no input: expected requests, type, size, read_size, write_size, pattern, read_pattern, write_pattern, read_share or file_set'
bad "a formula that draws" 's/1ms \* requests/Exp(1)/' 28 'read: "Exp(1)": expected no distribution'

sed 's/^      more: \[\]/      more: [{call: back.work}]/; s/provides: J$/provides: J\n    requires: {back: I}/
	s/component: D, container: host/component: D, container: host, connects: {back: c}/
	s/helper.help/helper.more/' "$T/good.yaml" >"$T/bad.yaml"
exits 2 "a cycle of calls is refused" "$blkcast" arch check "$T/bad.yaml"
is "$(cat "$T/err")" "blkcast arch: $T/bad.yaml:12: a cycle of calls leads back to c" "and named"
exits 2 "a setting of nothing is refused" "$blkcast" arch solve "$T/good.yaml" --set m=1
is "$(cat "$T/err")" "blkcast arch: $T/good.yaml: no parameter \"m\" to set" "and named"
exits 2 "a setting that is no expression is refused" "$blkcast" arch solve "$T/good.yaml" --set n=1+
is "$(cat "$T/err")" 'blkcast arch: n: "1+": expected a value at its end' "and quoted"
exits 2 "a sweep without end is refused" "$blkcast" arch solve "$T/good.yaml" --sweep n=1
is "$(cat "$T/err")" "blkcast arch: sweep: expected NAME=FROM:TO:STEP, as clients=10:100:10, got 'n=1'" \
	"with what was expected"

exits 2 "a parameter that varies twice is refused" "$blkcast" arch solve "$T/good.yaml" --sweep n=1:2 --sweep n=3:4
is "$(cat "$T/err")" "blkcast arch: sweep: n twice" "and named"
exits 2 "too many combinations are refused" "$blkcast" arch solve "$T/good.yaml" --sweep n=1:200 --sweep half=1:200
is "$(cat "$T/err" "$T/out")" "blkcast arch: sweep: more than 10000 points" "before any is solved"
exits 2 "CSV and JSON at once are refused" "$blkcast" arch solve "$T/good.yaml" --csv --json
is "$(cat "$T/out")" "" "without output"

mkdir "$T/models"
printf 'models:\n- features: {system: a}\n  read: x.json\n- features: {system: a}\n  read: y.json\n' \
	>"$T/models/repository.yaml"
bad "features of two models" 's/formula: {.*}}/repository: models, features: {system: a}}/' 28 \
	"2 of the models in $T/models/repository.yaml have these features: expected one"
done_testing
