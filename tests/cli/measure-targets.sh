#!/usr/bin/env bash
# blkcast measure on two targets in step, over ssh, in cgroups and network namespaces; stop rule. Loads of a study over
# ssh.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need root "not root: a private sshd needs it" test "$(id -u)" = 0
need ssh "sshd is not installed" test -x /usr/sbin/sshd
need sqlite3 "sqlite3 is not installed" command -v sqlite3
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
sql() { sqlite3 "$T/r.db" "$1"; }

# A private sshd on loopback, with keys made here.
ssh-keygen -q -t ed25519 -N '' -f "$T/host"
ssh-keygen -q -t ed25519 -N '' -f "$T/user"
cp "$T/user.pub" "$T/authorized"
port=$(free_port)
cat >"$T/sshd" <<CONF
Port $port
ListenAddress 127.0.0.1
HostKey $T/host
AuthorizedKeysFile $T/authorized
StrictModes no
PidFile $T/sshd.pid
PasswordAuthentication no
CONF
cat >"$T/ssh" <<CONF
Host *
IdentityFile $T/user
UserKnownHostsFile $T/known
StrictHostKeyChecking accept-new
CONF
mkdir -p /run/sshd
/usr/sbin/sshd -D -f "$T/sshd" -E "$T/sshd.log" &
sshd=$!
end_sshd() { kill $sshd 2>/dev/null; }
at_exit end_sshd
answers() { ssh -F "$T/ssh" -p "$port" root@127.0.0.1 true 2>/dev/null; }
wait_until 30 answers
need ssh "the private sshd does not answer" ssh -F "$T/ssh" -p $port root@127.0.0.1 true

mkdir "$T/a" "$T/b"
cat >"$T/plan.yaml" <<YAML
campaign: two
targets:
  vm1: {ssh: root@127.0.0.1, port: $port, ssh_config: $T/ssh, directory: $T/a, settings: {n: 1}}
  vm2: {directory: $T/b, settings: {n: 2}}
load: {driver: command, command: 'date +{{\"at_s\":%s.%N}; echo {size} {n} >>$T/seen; sleep 0.3'}
factors: {size: [1, 2, 3]}
warm_up: 0
interval: 300ms
intervals: 1
YAML
sed -i "s|'date.*'|'date +{{\\\\\"at_s\\\\\":%s.%N}; echo {size} {n} >>$T/seen; sleep 0.3'|" "$T/plan.yaml"
exits 0 "two targets, one over ssh" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db"
is "$(sort "$T/seen" | xargs)" "1 1 1 2 2 1 2 2 3 1 3 2" "each measured each configuration with its own settings"
is "$(sql "select group_concat(distinct name) from metric where name like '%at_s'")" "vm1.at_s,vm2.at_s" "metrics carry the target's name"
number "$(sql "select max(abs(a.value - b.value)) from metric a join metric b on a.run = b.run where a.name = 'vm1.at_s'
	and b.name = 'vm2.at_s'") < 0.25" "the loads begin together"
is "$(ls -A "$T/a" "$T/b" | xargs)" "$T/a: $T/b:" "both folders are empty afterwards"

# A directory that is not there is refused on the target, too.
sed "s|campaign: two|campaign: lost|; s|directory: $T/a|directory: $T/none/a|" "$T/plan.yaml" >"$T/lost.yaml"
exits 2 "a directory that the other machine does not have" "$blkcast" measure "$T/lost.yaml" --db "$T/lost.db" -q
is "$(cat "$T/err")" "blkcast measure: target vm1: $T/none/a: this directory of the plan does not exist; make it, or correct the plan" "is named"
holds "and not made" test ! -e "$T/none"

# One of them dies: the run fails, the other's load is ended.
sed -i "s|campaign: two|campaign: dies|; s|sleep 0.3'|case {n} in 1) exit 9 ;; esac; sleep 30'|" "$T/plan.yaml"
begin=$(date +%s)
exits 1 "a load that fails on one target" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db"
number "$(($(date +%s) - begin)) < 25" "ends the other's at once"
is "$(sql "select distinct error from run where status = 'failed'")" "target vm1: the load ended with status 9" "and is the recorded reason"

# Interrupted: the line to ssh ends, and so does what ran there.
sed -i "s|campaign: dies|campaign: stops|; s|case {n} in 1) exit 9 ;; esac; sleep 30|exec sleep 31.{n}|" "$T/plan.yaml"
"$blkcast" measure "$T/plan.yaml" --db "$T/r.db" -q 2>"$T/err" &
pid=$!
for _ in $(seq 100); do
	pgrep -f 'sleep 31\.[12]$' | wc -l | grep -q 2 && break
	sleep 0.1
done
is "$(pgrep -f 'sleep 31\.[12]$' | wc -l)" 2 "loads run on both targets"
kill -INT $pid
wait $pid
is $? 1 "an interrupt ends the campaign with status 1"
like "$(cat "$T/err")" "interrupted after 0 runs: --resume" "and says how to go on"
is "$(pgrep -f 'sleep 31\.[12]$' | wc -l)" 0 "no load is left on either"
is "$(ls -A "$T/a" "$T/b" | xargs)" "$T/a: $T/b:" "nor a file"

# The stop rule: intervals until the error is small enough.
cat >"$T/stop.yaml" <<YAML
campaign: stop
targets: {here: {directory: $T/b}}
load: {driver: command, command: 'for i in 1 9 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5; do echo "{{\"a\": \$i}"; sleep 0.2; done; : {size}'}
factors: {size: [1]}
warm_up: 0
interval: 200ms
intervals: 2
stop: {metric: a, relative_standard_error: 0.2, at_most: 18}
YAML
exits 0 "a stop rule" "$blkcast" measure "$T/stop.yaml" --db "$T/r.db"
nr=$(sql "select intervals from metric where name = 'a'")
number "$nr >= 7 && $nr <= 10" "ends the load once the relative standard error is below it ($nr intervals)"
number "$(sql "select relative_standard_error from metric where name = 'a'") <= 0.2" "which is what the store says"

# study --run on a folder of the other machine: mimics of all loads of a case, side by side.
echo "Port $port" >>"$T/ssh"
"$blkcast" characterize docs/examples/demo.seg --json -q | jq '.[0]' >"$T/load.json"
mkdir "$T/there"
remote() { # STATUS NAME VERB LOADS...: with the options that all have
	local status=$1 name=$2
	shift 2
	exits "$status" "$name" "$blkcast" study "$@" --ssh-config "$T/ssh" --duration 300ms --leave-out bursts,locality --json
}
remote 0 "two loads run together on the other machine" consolidate "$T/load.json" "$T/load.json" --run "root@127.0.0.1:$T/there"
is "$(jq -c '[.by, ([.results[] | select(.point == "mean" and .target_s > 0) | .case] | group_by(.) | map([.[0], length]))]' "$T/out")" \
	'["run",[["all together",4],["alone",4]]]' "each alone and all together, reads and writes"
like "$(cat "$T/err")" "$T/there \(on root@127.0.0.1\): new files of .* are written, which are removed afterwards" "which says before what it writes"
is "$(ls -A "$T/there")" "" "and removes it"
# A configuration that shares connections leaves none behind, and a load that cannot run there is refused before any runs.
{
	cat "$T/ssh"
	printf 'ControlMaster auto\nControlPath %s/master\nControlPersist 60\n' "$T"
} >"$T/sharing"
end_master() { [ ! -e "$T/master" ] || ssh -F "$T/sharing" -O exit root@127.0.0.1 2>/dev/null; }
at_exit end_master
exits 0 "ssh that is told to share connections" "$blkcast" study consolidate "$T/load.json" "$T/load.json" --run "root@127.0.0.1:$T/there" --ssh-config "$T/sharing" \
	--duration 300ms --leave-out bursts,locality --report "$T/page.html"
holds "leaves none behind" test ! -e "$T/master"
like "$(cat "$T/page.html")" "Target $T/there on root@127.0.0.1: a folder of another machine" "the page names the folder and the machine"
jq '.intensity.closed.clients_mean = 0.2' "$T/load.json" >"$T/bursts.json"
exits 2 "a load in bursts is refused" "$blkcast" study migrate "$T/bursts.json" --run "root@127.0.0.1:$T/there" --ssh-config "$T/ssh" --duration 300ms --leave-out locality
like "$(cat "$T/err")" "unless bursts are left out.*--leave-out" "with what to do"
is "$(grep -c "new files of" "$T/err")" 0 "before anything is announced"
mkdir "$T/bin"
printf '#!/bin/sh\nexit 7\n' >"$T/bin/ssh"
chmod +x "$T/bin/ssh"
PATH=$T/bin:$PATH remote 1 "an ssh that ends without a word" migrate "$T/load.json" --run "root@127.0.0.1:$T/there"
like "$(cat "$T/err")" "root@127.0.0.1: the script there ended with status 7 and without a word" "is told by its status"
remote 2 "a folder that is not there is refused" interference "$T/load.json" "$T/load.json" --run "root@127.0.0.1:$T/nowhere"
is "$(grep -v 'on another machine\|new files' "$T/err")" "blkcast study: root@127.0.0.1: $T/nowhere: this folder does not exist there" "by name"
holds "and is not made" test ! -e "$T/nowhere"
remote 2 "a host that would be an option is refused" migrate "$T/load.json" --run "-oProxyCommand=x:/tmp"
remote 2 "--overwrite there is refused" migrate "$T/load.json" --run "root@127.0.0.1:$T/there" --overwrite "root@127.0.0.1:$T/there"
"$blkcast" study migrate "$T/load.json" --run "root@127.0.0.1:$T/there" --ssh-config "$T/ssh" --duration 60s --leave-out bursts,locality >"$T/out" 2>"$T/err" &
pid=$!
begun() { ls "$T"/there/*/out.0 >/dev/null 2>&1; }
wait_until 20 begun
kill -INT $pid
wait $pid
number "$? > 0" "an interrupt ends it"
gone() { [ -z "$(ls -A "$T/there")" ]; }
holds "and nothing is left there" wait_until 20 gone

# A cgroup and a network namespace.
if ip netns add blkcast-test-$$ 2>/dev/null; then
	drop_netns() { ip netns del blkcast-test-$$; }
	at_exit drop_netns
	group=$(test -d /sys/fs/cgroup/pids && echo pids/ || echo)blkcast-test-$$
	cat >"$T/ns.yaml" <<YAML
campaign: ns
targets:
  one: {directory: $T/a, netns: blkcast-test-$$, settings: {n: 1}}
  two: {directory: $T/b, cgroup: $group, settings: {n: 2}}
load: {driver: command, command: 'ip -o link | wc -l >$T/links{n}; cat /proc/self/cgroup >$T/group{n}; echo "{{\"a\": {size}}"'}
factors: {size: [1]}
warm_up: 0
interval: 200ms
intervals: 1
YAML
	exits 0 "a namespace and a cgroup" "$blkcast" measure "$T/ns.yaml" --db "$T/r.db"
	is "$(cat "$T/links1")" 1 "the first load sees the loopback of its namespace only"
	like "$(cat "$T/group2")" "blkcast-test-$$" "the second is in its cgroup"
	holds "which is gone afterwards" test ! -e "/sys/fs/cgroup/$group"
fi
done_testing
