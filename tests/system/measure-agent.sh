#!/usr/bin/env bash
# blkcast measure with the agent beside a real fio on a loop device: both count the same requests.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need fio "fio is not installed" command -v fio
need sqlite3 "sqlite3 is not installed" command -v sqlite3
need_loop
need_bpf
blkcast=$BUILD/blkcast
loop_new 64M
mkdir "$T/files" "$T/traces"
cat >"$T/plan.yaml" <<YAML
campaign: agent
targets: {here: {directory: $T/files, device: $loop_name}}
load:
  driver: fio
  job: |
    [global]
    ioengine=libaio
    direct=1
    iodepth=4
    filename=$loop_dev
    rate_iops=3000
    [a]
    rw=randrw
    rwmixread={read}
    bs={size}
factors: {size: [4k, 16k], read: [70]}
warm_up: 0
interval: 500ms
intervals: 3
monitor: {agent: true, traces: $T/traces}
YAML
exits 0 "a campaign with the agent beside" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db" --json
note "at most $(jq .overhead_most_s "$T/out") s of a run beside warm-up and intervals"
metric() { sqlite3 "$T/r.db" "select group_concat(value) from (select value from metric where name = '$1' order by run)"; }
for side in read write; do
	is "$(metric agent_${side}_requests)" "$(metric ${side}_requests)" "the agent's $side requests are fio's"
	number "$(sqlite3 "$T/r.db" "select max(a.value / f.value) from metric a join metric f on a.run = f.run
		where a.name = 'agent_${side}_s' and f.name = '${side}_s'") < 1" \
		"the response time of ${side}s at the block layer is below fio's"
done
is "$(metric agent_lost)" "0.0,0.0" "nothing is lost"
is "$(sqlite3 "$T/r.db" "select count(*) from artifact where kind = 'profiles'")" 2 "the profiles of its windows are stored"
sqlite3 "$T/r.db" "select content from artifact where kind = 'profiles' limit 1" | grep '^{' | jq -se 'all(.[]; .schema == "blkcast.profile/1")' >/dev/null
is $? 0 "as blkcast.profile/1"
run=$(sqlite3 "$T/r.db" "select content from artifact where kind = 'traces' limit 1")
is "$("$blkcast" characterize --store "$run" --json -q | jq '.[0].requests | .read + .write')" \
	"$(sqlite3 "$T/r.db" "select sum(value) from metric where run = 1 and name in ('read_requests', 'write_requests')" | sed 's/\.0$//')" \
	"the kept trace holds every request"
is "$(ls -A "$T/files")" "" "nothing is left on the target"
done_testing
