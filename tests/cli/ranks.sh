#!/usr/bin/env bash
# Several processes under mpirun share the work of one question: same bits, one output, and an end when one dies.
. tests/support/tap.sh
cmd=$(realpath "$BUILD/blkcast")
ready() { have mpirun && [ -e "$BUILD/libblkcast-mpi.so" ]; }
need mpi "mpirun or libblkcast-mpi.so is missing" ready
need jq "no jq" have jq

ranks() {
	local nr=$1
	shift
	mpirun -q --allow-run-as-root --oversubscribe -n "$nr" "$@" </dev/null
}
awk 'BEGIN { srand(7); print "kb,disk,read,y,z"
	for (i = 0; i < 120; i++) { k = 1 + int(rand() * 64); r = int(rand() * 100); d = rand() < 0.5 ? "ssd" : "hdd"
		y = 2 + (k > 32 ? (k - 32) * 0.5 : 0) + (d == "hdd" ? 3 + r * 0.05 : 0) + rand() * 0.2
		printf "%d,%s,%d,%.6f,%.6f\n", k, d, r, y, 2 * y + k } }' >"$T/t.csv"
example=docs/examples

# same NUMBERS NAME FILTER ARGUMENT...: one process and each of these numbers of processes print the same, but for the time of the answer, and write the same $T/m.* and $T/log.csv
same() {
	local numbers=$1 name=$2 filter=$3 nr
	shift 3
	rm -f "$T"/m*.json "$T/log.csv" "$T/page.html"
	"$cmd" "$@" --json -q 2>"$T/err" | jq "$filter | del(.. | .made_s?)" >"$T/alone"
	number "$(wc -c <"$T/alone") > 50" "$name: one process answers"
	cat "$T"/m*.json "$T/log.csv" "$T/page.html" >"$T/files.alone" 2>/dev/null
	for nr in $numbers; do
		rm -f "$T"/m*.json "$T/log.csv" "$T/page.html"
		exits 0 "$name: $nr processes" ranks $nr "$cmd" "$@" --json -q
		jq "$filter | del(.. | .made_s?)" "$T/out" >"$T/ranks"
		holds "$name: $nr processes give the same bits, once" cmp "$T/alone" "$T/ranks"
		cat "$T"/m*.json "$T/log.csv" "$T/page.html" >"$T/files.ranks" 2>/dev/null
		holds "$name: and the same files" cmp "$T/files.alone" "$T/files.ranks"
		is "$(find "$T" -name '*.tmp')" "" "$name: nothing is left of the others' files"
	done
}
same "2 4" "fit" 'if type == "array" then map(del(.results[].seconds)) else del(.results[].seconds) end' \
	fit "$T/t.csv" -r y,z -t lrm,cart,mars,m5 --s3 splits=1,explorations=1,iterations=2 \
	-o "$T/m.json" --s3-log "$T/log.csv" --report "$T/page.html"
"$cmd" fit "$T/t.csv" -r y -t cart,mars --s3 splits=1,explorations=1,iterations=2 -q --json |
	jq 'del(.provenance) | del(.results[] | .seconds, .model_fits)' >"$T/alone"
for part in 0 400 100000; do
	head -c $part "$T/c" >"$T/part" 2>/dev/null || : >"$T/part"
	exits 0 "two processes with a checkpoint" ranks 2 "$cmd" fit "$T/t.csv" -r y -t cart,mars \
		--s3 splits=1,explorations=1,iterations=2 -q --json --checkpoint "$T/part"
	is "$(jq 'del(.provenance) | del(.results[] | .seconds, .model_fits)' "$T/out" | sha256sum)" "$(sha256sum <"$T/alone")" "go on from it"
	cp "$T/part" "$T/c"
done
same "2 4" "qpn solve" "del(.seconds)" qpn solve $example/mm1.yaml --method replications --replications 6 --model-time 30000
same 4 "qpn solve of a start" "del(.seconds)" qpn solve $example/mm1.yaml --method transient --model-time 20 --replications 7
same 4 "arch solve" 'del(.seconds)' arch solve $example/shop.yaml --precision 0.3
cat >"$T/device.json" <<'JSON'
{"schema": "blkcast.model/1", "kind": "device", "servers": 64, "read": {"base_s": 0.001}, "write": {"base_s": 0.002}, "flush": {"base_s": 0.003},
 "covered": {"concurrency": 4000, "flush": true, "durable": true, "read": {"low_bytes": 512, "high_bytes": 1048576, "random": true, "sequential": true},
  "write": {"low_bytes": 512, "high_bytes": 1048576, "random": true, "sequential": true}}}
JSON
sed 's/0.001/0.0007/' "$T/device.json" >"$T/old.json"
demo=$example/demo.seg
same 4 "study of a migration" . study migrate $demo $demo --storage "$T/device.json" --from "$T/old.json" --report "$T/page.html"
same 2 "study of several loads" . study consolidate $demo $demo --storage "$T/device.json"
same 2 "study of a cache" . study cache $demo --hit-time 100us --storage "$T/device.json"
# Ranks share the hosts of a trace. Large requests of many hosts use up what one process shares among their tables.
for i in 1 2 3 4 5; do "$BUILD/tests/system/make_trace" "$T/$i.seg" 3 900 2 plain "host$i"; done
same "2 3 8" "characterize of five hosts" . characterize "$T"/[1-5].seg
same 2 "characterize --together" . characterize --together "$T"/[1-5].seg
same 2 "characterize of periods" . characterize --window 1s "$T/1.seg" "$T/2.seg"
for i in 6 7; do "$BUILD/tests/system/make_trace" "$T/$i.seg" 3 20 1 kept "host$i"; done
"$cmd" characterize --together "$T/6.seg" "$T/7.seg" >"$T/alone" 2>"$T/alone.err"
exits 0 "characterize where requests were kept back" ranks 2 "$cmd" characterize --together "$T/6.seg" "$T/7.seg"
holds "says how many of all hosts" cmp "$T/err" "$T/alone.err"
like "$(cat "$T/err")" ' requests of these hosts were kept back' "in one line"
for i in 1 2 3 4 5 6 7 8 9; do
	awk -v i=$i 'BEGIN { for (k = 0; k < 60; k++) printf "%d,%.0f,1048576,R\n", k * 1000, (k * 97 + i) * 1048576 }' >"$T/large.csv"
	"$cmd" import -q --store "$T/large" --host "large$i" --begin 2026-01-01T00:00:00Z \
		--map time=1:us,offset=2,size=3,op=4 "$T/large.csv" 2>"$T/err" || cat "$T/err"
done
same 2 "characterize without room for all tables" . characterize --store "$T/large"
find "$T/large/segments" -type f | sort | tail -n 1 | xargs -I{} truncate -s 40 {}
"$cmd" characterize --store "$T/large" --json -q >"$T/alone" 2>"$T/alone.err" || true
exits 1 "characterize of a damaged store" ranks 2 "$cmd" characterize --store "$T/large" --json -q
holds "says what is damaged once" cmp "$T/err" "$T/alone.err"
holds "and has the rest" cmp "$T/out" "$T/alone"
same 2 "a command without shared work" . qpn check $example/mm1.yaml
cat >"$T/arch.yaml" <<'YAML'
parameters: {work_s: 50ms}
interfaces: {I: [work]}
components: {C: {provides: I, operations: {work: [{cpu: Exp(1 / work_s)}]}}}
containers: {host: {cpu: 1}}
assembly: {c: {component: C, container: host}}
usage: {users: {clients: 3, think: Exp(2), do: [{call: c.work}]}}
YAML
printf 'time,mean_s,per_round\nc.work,0.04,1\n' >"$T/times.csv"
same 2 "a command that solves in rank 0 alone" . arch calibrate "$T/arch.yaml" "$T/times.csv" --model-time 100 --fit work_s=0.001:1

# A mistake is said once.
exits 2 "a mistake in the arguments" ranks 3 "$cmd" fit "$T/t.csv" -r y -t nothing
is "$(grep -c "^blkcast fit" "$T/err")" 1 "is said once"
exits 2 "a mistake that only rank 0 sees" ranks 2 "$cmd" fit "$T/t.csv" -r y -t mars --checkpoint "$T/times.csv"
is "$(grep -c "^blkcast" "$T/err")" 1 "is said once"
printf '#!/bin/sh\ncd "%s/$OMPI_COMM_WORLD_RANK" && exec "%s" "$@"\n' "$T" "$cmd" >"$T/apart"
chmod +x "$T/apart"
for i in 0 1 2; do
	mkdir "$T/$i"
	head -n $((100 + i)) "$T/t.csv" >"$T/$i/t.csv"
done
exits 3 "ranks with different tables" ranks 2 "$T/apart" fit t.csv -r y -t mars --standard -q
cp "$T/device.json" "$T/0/"
exits 3 "a rank without the device ends all" ranks 2 "$T/apart" study migrate "$PWD/$demo" "$PWD/$demo" --storage device.json -q
is "$(grep -c '^blkcast: rank 1 ended with status 2 before the others: .*device\.json' "$T/err")" 1 "since each rank simulates a part"
rm "$T/2/t.csv"
head -n 100 "$T/t.csv" | tee "$T/0/t.csv" >"$T/1/t.csv"
exits 3 "a rank without the table ends all" ranks 3 "$T/apart" fit t.csv -r y -t mars --standard -q
is "$(grep -c '^blkcast: rank 2 ended with status 2 before the others: .*t\.csv' "$T/err")" 1 "and one line says which and why"
is "$(cat "$T/out")" "" "nothing is printed"

# A real target gets the load once.
mkdir "$T/fake"
printf '#!/bin/sh\necho begun >>"%s/begun"\nexit 1\n' "$T" >"$T/fake/fio"
chmod +x "$T/fake/fio"
"$cmd" characterize $demo --json -q >"$T/demo.json"
mkdir "$T/target"
PATH="$T/fake:$PATH" ranks 3 "$cmd" study migrate "$T/demo.json" --run "$T/target" --duration 1s -q >"$T/out" 2>"$T/err" || true
is "$(sort "$T/begun" | uniq -c | xargs)" "1 begun" "a study on a real target runs in one process alone"

# A rank that is killed, and Ctrl-C: no process is left behind.
long=(qpn solve "$example/mm1.yaml" --method replications --precision 0.00001 --max-events 1000000000000 -q)
mine() { pgrep -f "^$cmd qpn solve .*--max-events 1000000000000" || true; }
# Every rank but the first prints into a memory file, which it makes after all ranks have met in MPI.
met() { [ "$(mine | sed 's:.*:/proc/&/fd/2:' | xargs -r readlink | grep -c memfd:blkcast-said)" = 2 ]; }
# A signal that reaches mpirun while its ranks still meet can leave it waiting for itself in PMIx_server_finalize(),
# after all ranks have ended (OpenMPI 4.1.4 with PMIx 4.2.2). The signals of this test come later.
begin() {
	# A shell makes its background commands ignore SIGINT.
	env --default-signal=INT mpirun -q --allow-run-as-root --oversubscribe -n 3 "$cmd" "${long[@]}" >"$T/out" 2>"$T/err" </dev/null &
	holds "three ranks meet" wait_until 60 met
}
# A job that does not end is killed after a while, so that the test ends.
timed_wait() {
	wait_until 30 eval "! kill -0 $1 2>/dev/null" || { fail "mpirun ends" && kill -9 "$1"; }
	wait "$1"
}
none() { [ -z "$(mine)" ]; }
begin
kill -9 "$(mine | tail -n 1)"
status=0
timed_wait $! || status=$?
number "$status != 0" "a job of which a rank was killed fails"
holds "and ends the others" wait_until 20 none
is "$(cat "$T/out")" "" "without an answer"
begin
kill -INT $!
timed_wait $!
holds "Ctrl-C ends all ranks" wait_until 20 none
begin
kill -TERM $!
timed_wait $!
holds "so does SIGTERM" wait_until 20 none

mkdir "$T/bin"
cp "$cmd" "$T/bin/"
exits 2 "without its shared object it does not answer twice" ranks 2 "$T/bin/blkcast" qpn solve $example/mm1.yaml -q
is "$(grep -c "^blkcast: started as one of 2 processes, but libblkcast-mpi.so does not load" "$T/err")" 1 "and says once what is missing"

# The examples of arrays: a task answers once.
for shell in sh "python3 -c"; do
	case $shell in sh) index="SLURM_ARRAY_TASK_ID=2" script="sh $example/slurm-array.sh" ;;
	*) python3 -c 'import sys, yaml
print(yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["containers"][0]["args"][0].replace("/answers", sys.argv[2]))' \
		$example/kubernetes-indexed-job.yaml "$T/answers" >"$T/pod.sh" || continue
	index="JOB_COMPLETION_INDEX=1" script="sh -eu $T/pod.sh" ;;
	esac
	rm -rf "$T/answers"
	mkdir "$T/answers"
	sed 's/^\( *\)precision:.*//' $example/closed-storage.yaml >"$T/answers/net.yaml"
	for again in first again; do
		# shellcheck disable=SC2086
		exits 0 "the array's example ($index, $again)" env "PATH=$(dirname "$cmd"):$PATH" $index HOSTNAME=pod \
			"NET=$T/answers/net.yaml" "OUT=$T/answers" $script
	done
	is "$(cd "$T/answers" && echo *.json)" "20.json" "leaves one answer"
done

# The commands of the guide, without its machines and its precision.
cp $example/measurements.csv "$T/"
cp $example/mm1.yaml "$T/net.yaml"
n=0
while read -r line <&8; do
	n=$((n + 1))
	line=$(sed 's/--hostfile hosts//; s/--mpi=pmix//; s/0\.001/0.2/; s/blkcast fit/blkcast fit --standard -t lrm,mars/; s/-n 4//' <<<"$line")
	# shellcheck disable=SC2086
	exits 0 "the guide's $line" env -C "$T" "PATH=$(dirname "$cmd"):$PATH" \
		mpirun -q --allow-run-as-root --oversubscribe -n 2 $line -q 8<&- </dev/null
done 8< <(sed -n 's/^    \(mpirun\|srun\) //p' docs/guide/many-machines.md)
is "$n" 2 "the guide has two commands"
done_testing
