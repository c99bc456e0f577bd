#!/usr/bin/env bash
# --sweep --checkpoint of qpn solve and arch solve: a sweep that was killed goes on and gives the same answer.
. tests/support/tap.sh
cmd=$(realpath "$BUILD/blkcast")
need jq "no jq" have jq
example=docs/examples
ready() { have mpirun && [ -e "$BUILD/libblkcast-mpi.so" ]; }

qpn() { "$cmd" qpn solve $example/mm1.yaml --sweep rate=0.2:0.8:0.1 --precision 0.03 -q "$@"; }
cat >"$T/closed.yaml" <<'YAML'
parameters: {n: 4}
colours: [x]
places:
  think: {queue: is, tokens: {x: n}, service: {x: {exponential: {mean: 2}}}}
  cpu: {queue: fcfs, service: {x: {exponential: {mean: 0.5}}}}
transitions:
  go: {take: {think: x}, put: {cpu: x}}
  back: {take: {cpu: x}, put: {think: x}}
YAML
mva() { "$cmd" qpn solve "$T/closed.yaml" --sweep n=1:40 --method mva -q "$@"; }
arch() { "$cmd" arch solve $example/shop.yaml --sweep clients=20:80:20 --precision 0.3 -q "$@"; }
seconds='walk(if type == "object" then del(.seconds) else . end)'

for solve in qpn mva arch; do
	exits 0 "$solve: a sweep without a checkpoint" $solve --json
	jq "$seconds" "$T/out" >"$T/want"
	exits 0 "$solve: as a table" $solve
	cat "$T/out" >"$T/table"
	exits 0 "$solve: with a checkpoint" $solve --json --checkpoint "$T/$solve"
	cat "$T/out" >"$T/first"
	jq "$seconds" "$T/out" >"$T/got"
	holds "$solve: gives the same bits" cmp "$T/want" "$T/got"
	exits 0 "$solve: once more" $solve --json --checkpoint "$T/$solve"
	holds "$solve: takes every point from it, with its seconds" cmp "$T/first" "$T/out"
	exits 0 "$solve: as a table from it" $solve --checkpoint "$T/$solve"
	holds "$solve: is the same table" cmp "$T/table" "$T/out"
	size=$(stat -c %s "$T/$solve")
	for part in 0 5 100 $((size / 2)); do
		head -c "$part" "$T/$solve" >"$T/torn"
		exits 0 "$solve: from the first $part bytes" $solve --json --checkpoint "$T/torn"
		jq "$seconds" "$T/out" >"$T/got"
		holds "$solve: the answer is the same" cmp "$T/want" "$T/got"
		is "$(stat -c %s "$T/torn")" "$size" "$solve: and so is the size in the end"
	done
done

# A kill in the middle: some points are there, and not all.
sweep=(qpn solve "$example/mm1.yaml" --sweep rate=0.2:0.8:0.1 --precision 0.03 -q --json)
size=$(stat -c %s "$T/qpn")
for i in 1 2 3; do
	rm -f "$T/killed"
	# The file of a stopped process does not grow, so that the kill falls between two points.
	"$cmd" "${sweep[@]}" --checkpoint "$T/killed" >"$T/out" 2>&1 &
	some() { [ "$(stat -c %s "$T/killed" 2>/dev/null || echo 0)" -gt $((i * 100)) ]; }
	holds "records are there while the sweep works" wait_until 30 some
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null || true
	number "$(stat -c %s "$T/killed") <= $size" "the file is a part"
	exits 0 "after a kill" "$cmd" "${sweep[@]}" --checkpoint "$T/killed"
	jq "$seconds" "$T/out" >"$T/got"
	qpn --json | jq "$seconds" >"$T/want"
	holds "the answer is the same" cmp "$T/want" "$T/got"
done

# A table is a way to show the answer and no other question; neither are threads.
exits 0 "CSV from the checkpoint of a JSON" arch --csv --threads 1 --checkpoint "$T/arch"
cat "$T/out" >"$T/csv"
arch --csv >"$T/want"
holds "is the same" cmp "$T/want" "$T/csv"

# refused CHECKPOINT WHAT COMMAND...: another question is refused with one line, and the file stays.
refused() {
	local file=$1 what=$2
	shift 2
	cp "$file" "$T/before"
	exits 2 "$what is another question" "$cmd" "$@" -q --checkpoint "$file"
	like "$(cat "$T/err")" "^blkcast [a-z]+: $file: a checkpoint of another question \(.*\): name a new file, or remove it$" \
		"one line says so"
	holds "the file stays as it is" cmp "$T/before" "$file"
}
refused "$T/qpn" "a precision" qpn solve $example/mm1.yaml --sweep rate=0.2:0.8:0.1 --precision 0.04
refused "$T/qpn" "a range" qpn solve $example/mm1.yaml --sweep rate=0.2:0.9:0.1 --precision 0.03
refused "$T/qpn" "a seed" qpn solve $example/mm1.yaml --sweep rate=0.2:0.8:0.1 --precision 0.03 --seed 2
refused "$T/qpn" "a method" qpn solve $example/mm1.yaml --sweep rate=0.2:0.8:0.1 --precision 0.03 -m replications
{ cat $example/mm1.yaml && echo "# other"; } >"$T/mm1.yaml"
refused "$T/qpn" "another file" qpn solve "$T/mm1.yaml" --sweep rate=0.2:0.8:0.1 --precision 0.03
refused "$T/arch" "a setting" arch solve $example/shop.yaml --sweep clients=20:80:20 --precision 0.3 --set buyers=0.5
exits 2 "a checkpoint of the other command" "$cmd" qpn solve $example/mm1.yaml --sweep rate=0.2:0.8:0.1 -q --checkpoint "$T/arch"
like "$(cat "$T/err")" "no checkpoint of blkcast qpn solve: name a new file, or remove it" "is named"

# The numbers of a net that lie in a file of their own belong to the question.
printf '1\n2\n3\n' >"$T/times.txt"
sed 's/exponential: {mean: 0.5}/empirical: {file: times.txt}/' "$T/closed.yaml" >"$T/net.yaml"
exits 0 "a net with a file of numbers" "$cmd" qpn solve "$T/net.yaml" --sweep n=1:3 --precision 0.1 -q --checkpoint "$T/numbers"
printf '1\n2\n3.5\n' >"$T/times.txt"
refused "$T/numbers" "other numbers" qpn solve "$T/net.yaml" --sweep n=1:3 --precision 0.1

# So do the models of storages that an architecture names, and the list from which they are chosen.
mkdir "$T/models"
awk 'BEGIN { print "type,clients,size_bytes,response_time_s,response_sd_s"
	for (s = 4096; s <= 65536; s *= 4) { printf "read,1,%d,0.001,0.0003\n", s
		for (t = 10; t <= 50; t += 10) printf "read,%d,%d,%.9g,\n", t, s, 0.001 * t } }' </dev/null >"$T/reads.csv"
"$cmd" qpn calibrate --model cache "$T/reads.csv" -o "$T/models/reads.json" -q >"$T/out" 2>&1 || cat "$T/out"
printf 'models:\n- features: {system: a}\n  qpn: reads.json\n' >"$T/models/repository.yaml"
cat >"$T/system.yaml" <<'YAML'
parameters: {clients: 10, size: 4k}
interfaces: {I: [work]}
components: {C: {provides: I, operations: {work: [{name: read, io: {read: size}}]}}}
storages: {disk: {repository: models, features: {system: a}, list_length: 1000}}
containers: {host: {storage: disk}}
assembly: {c: {component: C, container: host}}
usage: {users: {clients: clients, do: [{call: c.work}]}}
YAML
system=(arch solve "$T/system.yaml" --sweep clients=2:3 --precision 0.3)
exits 0 "an architecture with a model of a storage" "$cmd" "${system[@]}" -q --checkpoint "$T/storage"
exits 0 "once more" "$cmd" "${system[@]}" -q --checkpoint "$T/storage"
echo >>"$T/models/reads.json"
refused "$T/storage" "another model of the storage" "${system[@]}"
rm "$T/storage"
exits 0 "that model" "$cmd" "${system[@]}" -q --checkpoint "$T/storage"
echo "# other" >>"$T/models/repository.yaml"
refused "$T/storage" "another list of models" "${system[@]}"

# A point without a steady state is solved again, and has its line again.
unsteady=(qpn solve $example/mm1.yaml --sweep rate=0.5:1.5:1 --precision 0.05 --json)
exits 1 "a sweep into overload" "$cmd" "${unsteady[@]}" --checkpoint "$T/overload"
jq "$seconds" "$T/out" >"$T/want"
exits 1 "once more" "$cmd" "${unsteady[@]}" --checkpoint "$T/overload"
jq "$seconds" "$T/out" >"$T/got"
holds "gives the same" cmp "$T/want" "$T/got"
like "$(cat "$T/err")" "rate|load|grows" "and says why"

exits 2 "without --sweep" "$cmd" qpn solve $example/mm1.yaml --checkpoint "$T/c"
like "$(cat "$T/err")" "--checkpoint: expected --sweep with it" "it is refused"
exits 2 "without --sweep" "$cmd" arch solve $example/shop.yaml --checkpoint "$T/c"
like "$(cat "$T/err")" "--checkpoint: expected --sweep with it" "it is refused"

if ready; then
	head -c $((size / 2)) "$T/qpn" >"$T/ranks"
	exits 0 "ranks go on" mpirun -q --allow-run-as-root --oversubscribe -n 2 "$cmd" "${sweep[@]}" --checkpoint "$T/ranks" </dev/null
	jq "$seconds" "$T/out" >"$T/got"
	qpn --json | jq "$seconds" >"$T/want"
	holds "to the same answer" cmp "$T/want" "$T/got"
	is "$(stat -c %s "$T/ranks")" "$size" "and write each point once"
fi
done_testing
