#!/usr/bin/env bash
# blkcast measure killed at random moments, and taken up again at once: at most the run under way is lost
# each time.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need sqlite3 "sqlite3 is not installed" command -v sqlite3
blkcast=$BUILD/blkcast
mkdir "$T/files"
sql() { sqlite3 "$T/r.db" "$1" 2>/dev/null; }
cat >"$T/plan.yaml" <<YAML
campaign: kill
targets: {here: {directory: $T/files}}
load: {driver: command, command: 'echo {x} >>$T/began; sleep 0.1; echo "{{\"a_s\": {x}}"'}
factors: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}
repetitions: 3
warm_up: 0
interval: 100ms
intervals: 1
YAML

RANDOM=$((${SEED:-1}))
kills=0 before=0 lost="" broken=""
touch "$T/began"
for _ in $(seq 12); do
	"$blkcast" measure "$T/plan.yaml" --db "$T/r.db" --resume -q >/dev/null 2>"$T/words" &
	pid=$!
	ms=$((RANDOM % 1200))
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	kill -KILL $pid 2>/dev/null && kills=$((kills + 1))
	wait $pid 2>/dev/null
	[ -e "$T/r.db" ] || continue
	[ "$(sql 'PRAGMA integrity_check')" = ok ] || broken="$broken $ms"
	now=$(sql 'select count(*) from run')
	[ "${now:-0}" -ge $before ] || lost="$lost $ms"
	before=${now:-0}
done
note "$kills kills, $before of 30 runs stored by then"
is "$broken" "" "the store is whole after every kill"
is "$lost" "" "and no run that was stored is gone"
exits 0 "what is missing is measured" "$blkcast" measure "$T/plan.yaml" --db "$T/r.db" --resume
is "$(sql "select count(*), count(distinct configuration || '.' || repetition), sum(status = 'done') from run")" \
	"30|30|30" "in the end every repetition of every configuration is there once"
is "$(sql "select count(*) from metric m join run r on r.id = m.run join level l on l.configuration = r.configuration
	where m.name = 'a_s' and m.value != l.number")" 0 "with the numbers of its own configuration"
number "$(wc -l <"$T/began") - 30 <= $kills" "and no more runs were begun anew than there were kills"
# What the last one killed had there goes by itself, also where nothing was left to be measured.
for _ in $(seq 200); do
	[ -z "$(ls -A "$T/files")" ] && break
	sleep 0.1
done
is "$(ls -A "$T/files")" "" "nothing is left on the target"
# A campaign that is killed while it waits for the folder of another one leaves nothing behind either.
"$blkcast" measure "$T/plan.yaml" --db "$T/first.db" -q >/dev/null 2>&1 &
first=$!
for _ in $(seq 100); do
	[ -e "$T/files"/blkcast-*/.keeper ] && break
	sleep 0.1
done
"$blkcast" measure "$T/plan.yaml" --db "$T/second.db" -q >/dev/null 2>&1 &
second=$!
sleep 1
kill -KILL $second && wait $second 2>/dev/null
wait $first
is $? 0 "the campaign that has the folder is measured to its end"
sleep 0.5
for _ in $(seq 100); do
	[ -z "$(ls -A "$T/files")" ] && break
	sleep 0.1
done
is "$(ls -A "$T/files")" "" "and a campaign that was killed while it waited leaves nothing on the target"
is "$(sql "select group_concat(repetition, '') from (select repetition from run order by id)")" \
	"111111111122222222223333333333" "a configuration is repeated when all were measured"
done_testing
