#!/usr/bin/env bash
# blkcast arch with storage models of queueing Petri nets inside: what a net answers to the same load
# asked directly.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

# Reads that take 1 ms of one server: R = 1 ms x clients.
awk 'BEGIN { print "type,clients,size_bytes,response_time_s,response_sd_s"
	for (s = 4096; s <= 65536; s *= 4) { printf "read,1,%d,0.001,0.0003\n", s
		for (t = 10; t <= 50; t += 10) printf "read,%d,%d,%.9g,\n", t, s, 0.001 * t } }' </dev/null >"$T/reads.csv"
# Reads of 1 ms and writes of 3 ms at one server that prefers neither.
awk 'BEGIN { print "configuration,type,clients,size_bytes,response_time_s,response_sd_s"
	for (t = 0; t <= 40; t += 10) for (u = 0; u <= 40; u += 10) if (t + u) { n++
		x = t + u == t || t + u == u ? 0 : 1
		if (t) printf "%d,read,%d,4096,%.9g,%s\n", n, t, t * 0.001 + u * 0.003, ""
		if (u) printf "%d,write,%d,4096,%.9g,%s\n", n, u, t * 0.001 + u * 0.003, "" }
	printf "%d,read,1,4096,0.001,0.0003\n%d,write,1,4096,0.003,0.0009\n", n + 1, n + 2 }' </dev/null >"$T/mixed.csv"
mkdir "$T/models"
exits 0 "a net of reads is calibrated" "$blkcast" qpn calibrate --model cache "$T/reads.csv" -o "$T/models/reads.json" -q
exits 0 "a net of both is calibrated" "$blkcast" qpn calibrate --model mixed "$T/mixed.csv" -o "$T/models/mixed.json" -q
cat >"$T/models/repository.yaml" <<'YAML'
models:
- features: {system: one server, formalism: qpn, technique: cache}
  qpn: reads.json
- features: {system: one server, formalism: qpn, technique: mixed}
  qpn: mixed.json
YAML
# model OPERATION TECHNIQUE
model() {
	cat <<-YAML
		parameters: {clients: 10, size: 4k}
		interfaces: {I: [work]}
		components: {C: {provides: I, operations: {work: $1}}}
		storages:
		  disk:
		    repository: models
		    features: {formalism: qpn, technique: $2}
		    list_length: 1000
		containers: {host: {storage: disk}, other: {storage: disk}}
		assembly: {c: {component: C, container: host}, d: {component: C, container: other}}
		usage:
		  users: {clients: clients, do: [{call: c.work}]}
		  others: {clients: 2 * clients, do: [{call: d.work}]}
	YAML
}
direct() { # MODEL TYPE SET...
	local model=$1 type=$2
	shift 2
	"$blkcast" qpn predict "$model" "$@" --json --quiet | jq --arg type "$type" '.[] | select(.type == $type) | .predicted'
}
inside() { jq --arg name "$1" '.io[] | select(.io | endswith($name)) | .response_time.mean' "$T/out" | head -n 1; }

model '[{name: read, io: {read: size}}]' cache >"$T/reads.yaml"
exits 0 "a net inside is solved" "$blkcast" arch solve "$T/reads.yaml" --model-time 20 --json --quiet
want=$(direct "$T/models/reads.json" read --set type=read,clients=30,size_bytes=4k)
number "$(inside read) / $want - 1 < 0.002" "10 and 20 users of two containers wait as 30 clients of the net do (above)"
number "$(inside read) / $want - 1 > -0.002" "10 and 20 users of two containers wait as 30 clients of the net do (below)"
is "$(jq '.io_model.outside_training' "$T/out")" 0 "within what the net was calibrated on"
exits 0 "sizes between the grid's are asked for" "$blkcast" arch solve "$T/reads.yaml" --set size=11k --model-time 20 --json --quiet
want=$(direct "$T/models/reads.json" read --set type=read,clients=30,size_bytes=11k)
number "$(inside read) / $want - 1 < 0.01" "and lie between (above)"
number "$(inside read) / $want - 1 > -0.01" "and lie between (below)"
exits 0 "more users than the net knows" "$blkcast" arch solve "$T/reads.yaml" --set clients=20 --model-time 5 --json
like "$(cat "$T/err")" "outside its training range: extrapolated" "are said to be extrapolated"
number "$(jq '.io_model | .outside_training / .asked' "$T/out") > 0.9" "and counted"

model '[{name: read, io: {read: size}}, {name: write, io: {write: size}}]' mixed >"$T/mixed.yaml"
exits 0 "a net of reads and writes is solved" "$blkcast" arch solve "$T/mixed.yaml" --set clients=4 --model-time 100 --json --quiet
cp "$T/out" "$T/solved"
printf 'configuration,type,clients,size_bytes\n1,read,6,4096\n1,write,6,4096\n' >"$T/ask.csv"
for type in read write; do
	want=$(direct "$T/models/mixed.json" $type "$T/ask.csv")
	number "$(inside $type) / $want - 1 < 0.03" "${type}s of 12 users who do both wait as 6 and 6 clients of the net do (above)"
	number "$(inside $type) / $want - 1 > -0.03" "${type}s of 12 users who do both wait as 6 and 6 clients of the net do (below)"
done
"$blkcast" arch solve "$T/mixed.yaml" --set clients=4 --model-time 100 --json --quiet --threads 1 | jq -S 'del(.seconds)' >"$T/one"
holds "one thread gives the same to the bit" cmp "$T/one" <(jq -S 'del(.seconds)' "$T/solved")

# bad NAME SED-SCRIPT LINE MESSAGE
bad() {
	sed "$2" "$T/reads.yaml" >"$T/bad.yaml"
	exits 2 "$1: refused" "$blkcast" arch solve "$T/bad.yaml"
	is "$(cat "$T/err" "$T/out")" "blkcast arch: $T/$3: $4" "$1: said so"
}
bad "writes to a net of reads" 's/{read: size}/{write: size}/' bad.yaml:3 "c writes, but storage disk has no I/O model of writes"
bad "features of no model" 's/cache}/other}/' bad.yaml:7 "0 of the models in $T/models/repository.yaml have these features: expected one"
bad "a file that is not there" 's/repository: models/qpn: models\/none.json/; /features/d' bad.yaml:6 "$T/models/none.json: No such file or directory"
sed -i 's/cache}/cache}\n  unit: 1ms/' "$T/models/repository.yaml"
bad "a unit of a net" '' models/repository.yaml:3 '"unit" and "qpn": expected one of them'
sed -i '/unit/d; s/reads.json/repository.yaml/' "$T/models/repository.yaml"
exits 2 "what is no model is refused" "$blkcast" arch check "$T/reads.yaml"
like "$(cat "$T/err")" "^blkcast arch: $T/models/repository.yaml:3: $T/models/repository.yaml" "by file and line"
done_testing
