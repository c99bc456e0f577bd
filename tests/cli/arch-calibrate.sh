#!/usr/bin/env bash
# blkcast arch calibrate and validate: parameters found again from times that a model with known ones
# gave, and how far predictions at other loads are.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
cat >"$T/m.yaml" <<'YAML'
parameters: {clients: 10, work_s: 50ms, wait_s: 100ms, factor: 1}
interfaces: {I: [work, wait]}
components:
  C: {provides: I, operations: {work: [{cpu: Exp(1 / work_s)}, {name: read, io: {read: 4k}}], wait: [{delay: wait_s}]}}
storages: {disk: {formula: {read: 5ms + 20ms * requests}, concurrency: factor}}
containers: {host: {cpu: 1, storage: disk}}
assembly: {c: {component: C, container: host}}
usage: {users: {clients: clients, think: Exp(2), do: [{call: c.wait}, {call: c.work}]}}
YAML
# measured CLIENTS: what the true parameters give
truth='--set work_s=30ms --set wait_s=0.2 --set factor=1.4'
measured() {
	{
		echo time,mean_s,per_round
		"$blkcast" arch solve "$T/m.yaml" $truth --set clients=$1 --seed 7 --precision 0.003 --csv --quiet |
			awk -F, '$1 == "operation" && $2 == "c.wait" || $2 == "C.read" || $2 == "c.work" { print $2 "," $3 ",1" }' |
			sort -u
	} >"$T/$1.csv"
}
measured 10
measured 20
is "$(wc -l <"$T/10.csv")" 4 "three times are measured"
exits 0 "parameters are found" "$blkcast" arch calibrate "$T/m.yaml" "$T/10.csv" --model-time 200 --json --quiet \
	--fit work_s=0.001:1 --fit wait_s=0.01:1 --fit factor=0.2:4
cp "$T/out" "$T/found.json"
near() { # NAME TRUTH
	number "$(jq --arg name "$1" ".set[\$name] / $2 - 1 | fabs" "$T/found.json") < 0.03" "$1 is what it was"
}
near work_s 0.03
near wait_s 0.2
near factor 1.4
number "$(jq .error_end_to_end "$T/found.json") < 0.005" "and a round takes what was measured"
exits 0 "as options, too" "$blkcast" arch calibrate "$T/m.yaml" "$T/10.csv" --model-time 200 --quiet \
	--fit work_s=0.001:1 --fit wait_s=0.01:1 --fit factor=0.2:4
found=$(sed -n '/^--set /p' "$T/out")
like "$found" '^--set work_s=[0-9.e-]+ --set wait_s=[0-9.e-]+ --set factor=[0-9.e-]+$' "that solve takes"
exits 0 "another load is judged" "$blkcast" arch validate "$T/m.yaml" "$T/20.csv" --set clients=20 $found --model-time 300 --json --quiet
number "$(jq .error_io "$T/out") < 0.04" "its io is predicted"
number "$(jq .error_end_to_end "$T/out") < 0.03" "and its rounds"
exits 0 "the wrong parameters are judged" "$blkcast" arch validate "$T/m.yaml" "$T/20.csv" --set clients=20 --model-time 300 --json --quiet
number "$(jq .error_end_to_end "$T/out") > 0.1" "by their error"

exits 2 "nothing to fit is refused" "$blkcast" arch calibrate "$T/m.yaml" "$T/10.csv"
exits 2 "bounds that fall are refused" "$blkcast" arch calibrate "$T/m.yaml" "$T/10.csv" --fit work_s=1:0.1
is "$(cat "$T/err")" "blkcast arch: fit: expected NAME=LOW:HIGH above 0, as open=1e-6:1e-3, got 'work_s=1:0.1'" "by what was expected"
exits 2 "a parameter the model does not have is refused" "$blkcast" arch calibrate "$T/m.yaml" "$T/10.csv" --fit x=1:2
is "$(cat "$T/err")" "blkcast arch: $T/m.yaml: no parameter \"x\" to set" "by name"
printf 'time,mean_s\nc.none,1\n' >"$T/bad.csv"
exits 2 "a time the model does not have is refused" "$blkcast" arch validate "$T/m.yaml" "$T/bad.csv" --model-time 10
is "$(cat "$T/err")" "blkcast arch: $T/bad.csv: row 1: the model has no operation, io or scenario \"c.none\" that happened" "by row"
printf 'time,mean_s\nc.work,0\n' >"$T/bad.csv"
exits 2 "a time of 0 is refused" "$blkcast" arch validate "$T/m.yaml" "$T/bad.csv" --model-time 10
is "$(cat "$T/err")" "blkcast arch: $T/bad.csv: row 1: expected mean_s and per_round above 0" "by row"
done_testing
