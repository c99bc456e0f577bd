#!/usr/bin/env bash
# blkcast measure and what can go wrong: plans, targets, disks, drivers, databases.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need sqlite3 "sqlite3 is not installed" command -v sqlite3
blkcast=$BUILD/blkcast
mkdir "$T/files" "$T/bin"
path=$PATH

plan() { # DRIVER-LINES [EXTRA-LINES]
	printf '%b' "campaign: bad\ntargets: {here: {directory: $T/files}}\nload: $1\nfactors: {size: [1, 2]}\nwarm_up: 0\ninterval: 200ms\nintervals: 1\n$2" >"$T/plan.yaml"
}
bad() { # NAME REGEX YAML
	printf '%b' "$3" >"$T/plan.yaml"
	exits 2 "$1 is refused" "$blkcast" measure "$T/plan.yaml" --db "$T/none.db"
	like "$(cat "$T/err")" "$2" "$1 is named"
	is "$(wc -l <"$T/err")" 1 "$1: in one line"
}
ok="campaign: c\ntargets: {a: {directory: /tmp}}\n"
bad "an unknown factor in a load" 'plan.yaml:3: target a: \{siez\}: .*siez.*; there are .*size' \
	"${ok}load: {driver: command, command: 'echo {siez}'}\nfactors: {size: [1]}\n"
bad "an unknown factor in a list" "plan.yaml:5: no factor 'siez'" \
	"${ok}load: {driver: command, command: 'echo {size}'}\nfactors: {size: [1]}\ndesign: {list: [{siez: 1}]}\n"
bad "a factor that nothing uses" "nothing uses 'size'" "${ok}load: {driver: none}\nfactors: {size: [1]}\n"
bad "an unknown key" "plan.yaml:5: .*warmup" "${ok}load: {driver: none}\nfactors: {size: [1]}\nwarmup: 1s\n"
bad "an unknown driver" "plan.yaml:3: driver: expected fio, command" "${ok}load: {driver: vdbench}\nfactors: {size: [1]}\n"
bad "a missing job" "plan.yaml:3: load: fio: expected job or profile" "${ok}load: {driver: fio}\nfactors: {size: [1]}\n"
bad "a full design of a range" "a full one needs levels" \
	"${ok}load: {driver: command, command: 'echo {size}'}\nfactors: {size: {low: 1, high: 2}}\n"
bad "a level twice" "size: level '1024' twice" "${ok}load: {driver: none}\nfactors: {size: [1k, 1024]}\n"
cases="${ok}load: {driver: command, command: 'echo {pattern} {rw}'}\nfactors: {pattern: {cases: "
bad "a case that sets less than another" "plan.yaml:4: .*sequential: expected a value of 'rw', which the first case sets" \
	"$cases{random: {rw: randrw}, sequential: {sync: 1}}}}\n"
bad "a case that sets more than another" "plan.yaml:4: .*sequential: sets 'sync': expected only what the first case sets" \
	"$cases{random: {rw: randrw}, sequential: {rw: rw, sync: 1}}}}\n"
bad "a relative folder" "expected an absolute path" \
	"campaign: c\ntargets: {a: {directory: x}}\nload: {driver: none}\nfactors: {size: [1]}\n"
bad "an ssh host that is an option" "ssh: expected USER@HOST" \
	"campaign: c\ntargets: {a: {directory: /x, ssh: -oProxyCommand=x}}\nload: {driver: none}\nfactors: {size: [1]}\n"
holds "no store is made of a bad plan" test ! -e "$T/none.db"

sql() { sqlite3 "$T/$1.db" "$2"; }
failing() { # DB NAME REGEX: both configurations fail with the reason, and nothing is left behind
	exits 1 "$2: the campaign ends, with status 1" "$blkcast" measure "$T/plan.yaml" --db "$T/$1.db"
	is "$(sql "$1" "select count(*) from run where status = 'failed'")" 2 "$2: both runs are recorded as failed"
	like "$(sql "$1" "select error from run limit 1")" "$3" "$2: with the reason"
	like "$(grep -vE "files are written to|: 2 configurations, 2 runs, about" "$T/err" | head -n 1)" "$3" "$2: which is said"
	is "$(ls -A "$T/files")" "" "$2: nothing is left on the target"
}
# Programs of the driver's name that do what a broken one does.
fake() { # PROGRAM SHELL
	printf '#!/bin/sh\ncase "$*" in *create_only*) exit 0 ;; esac\n%b' "$2" >"$T/bin/$1"
	chmod +x "$T/bin/$1"
	export PATH="$T/bin:$path"
}
fio="{driver: fio, job: \"[a]\\\\nbs={size}\"}"
fake fio 'echo this is no json\n'
plan "$fio"
failing nonsense "a driver that prints nonsense" "fio: expected JSON, got 'this is no json"
fake fio 'echo "{\\"jobs\\": 3}"\n'
failing shape "JSON of another shape" "its JSON has no jobs"
fake fio 'echo about to fail >&2; exit 3\n'
failing exit "a load that fails" "the load ended with status 3: about to fail"
fake fio 'echo x >half; trap : TERM; sleep 100 & while :; do wait; done\n'
plan "$fio" "time_limit: 1\n"
failing hang "a load that hangs" "time limit of 1 s passed while measuring"
sleep 0.2
is "$(pgrep -f "$T/bin/fio" | wc -l)" 0 "a load that hangs is ended, though it ignores SIGTERM"
printf '#!/bin/sh\necho "fio: no space left on device" >&2\nexit 1\n' >"$T/bin/fio"
plan "$fio"
failing full "files that cannot be laid out" "preparation ended with status 1: fio: no space left"
plan "{driver: command, command: 'echo {size} apples'}"
failing words "a command that prints no JSON" "command: expected (an object|JSON)"
plan "{driver: command, command: 'echo \"{{\\\\\"a_s\\\\\": \\\\\"x{size}\\\\\"}\"'}"
failing text "text in place of a number" "command: a_s: expected a number"
plan "{driver: command, command: 'cat /dev/zero; : {size}'}" "time_limit: 60\n"
failing flood "a flood of output" "more than 67108864 bytes of output"
plan "{driver: none}" "setup: 'echo no {size} >&2; exit 7'\n"
failing setup "a setup that fails" "preparation ended with status 1: setup failed"

# What is not there at all ends the campaign, and is recorded.
plan "{driver: filebench, job: '{size}'}"
export PATH=$path
if ! command -v filebench >/dev/null; then
	exits 1 "a target without the benchmark" "$blkcast" measure "$T/plan.yaml" --db "$T/lacks.db"
	like "$(cat "$T/err")" "target here: filebench is not installed" "is named"
	like "$(sql lacks "select text from event")" "filebench is not installed" "and recorded"
fi
# A target whose PATH has everything but fio.
mkdir "$T/path"
for c in sh setsid mkfifo mkdir rm mv sleep; do ln -s "$(command -v $c)" "$T/path/$c"; done
plan "$fio"
PATH=$T/path "$(realpath "$blkcast")" measure "$T/plan.yaml" --db "$T/nofio.db" >"$T/out" 2>"$T/err"
is $? 1 "a target without fio"
is "$(cat "$T/err")" "blkcast measure: target here: fio is not installed" "is named, in one line"
is "$(sql nofio "select count(*), (select count(*) from run) from event")" "1|0" "and recorded, not as a run"
if command -v ssh >/dev/null; then
	printf 'campaign: bad\ntargets: {far: {ssh: nobody@127.0.0.1, port: 1, directory: /tmp}}\nload: {driver: command, command: "echo {size}"}\nfactors: {size: [1]}\n' >"$T/plan.yaml"
	exits 1 "a target that is unreachable" "$blkcast" measure "$T/plan.yaml" --db "$T/far.db"
	like "$(cat "$T/err")" "target far: .*[Cc]onnection refused" "is named with ssh's reason"
	is "$(wc -l <"$T/err")" 1 "in one line"
fi

# A disk that fills up, for real.
if [ "$(id -u)" = 0 ] && mkdir "$T/small" && mount -t tmpfs -o size=4m none "$T/small" 2>/dev/null; then
	unmount() { umount "$T/small"; }
	at_exit unmount
	if command -v fio >/dev/null; then
		printf 'campaign: bad\ntargets: {here: {directory: %s}}\nload: {driver: fio, job: "[a]\\nrw=read\\nsize=16m\\nbs={size}"}\nfactors: {size: [4k]}\nwarm_up: 0\ninterval: 200ms\nintervals: 1\n' "$T/small" >"$T/plan.yaml"
		exits 1 "a disk that fills up" "$blkcast" measure "$T/plan.yaml" --db "$T/small.db"
		like "$(sql small 'select error from run')" "No space left on device" "is the recorded reason"
		is "$(ls -A "$T/small")" "" "and is empty afterwards"
	fi
	# The store's own disk.
	head -c 4M /dev/zero 2>/dev/null | tee "$T/small/fill" >/dev/null 2>&1
	truncate -s 3900k "$T/small/fill"
	plan "{driver: command, command: 'head -c 150000 /dev/zero | tr \"\\\\0\" \" \"; echo \"{{\\\\\"a_s\\\\\": {size}}\"'}"
	exits 1 "a store whose disk is full" "$blkcast" measure "$T/plan.yaml" --db "$T/small/s.db" -q
	like "$(cat "$T/err")" "s.db: .*full" "is said"
	is "$(wc -l <"$T/err")" 1 "in one line"
	is "$(ls -A "$T/files")" "" "and nothing is left on the target"
	truncate -s 1m "$T/small/fill"
	exits 0 "with room again it goes on" "$blkcast" measure "$T/plan.yaml" --db "$T/small/s.db" --resume
	is "$(sqlite3 "$T/small/s.db" "select count(*) from run where status = 'done'")" 2 "and no run is missing"
fi

# What will fail in every run ends the campaign at once.
plan "{driver: command, command: 'echo {size} >&2; echo oh no >&2; exit 4'}" "repetitions: 3\n"
exits 1 "a campaign of which every run fails" "$blkcast" measure "$T/plan.yaml" --db "$T/every.db"
is "$(sql every "select count(*) from run")" 2 "ends after two runs of six"
like "$(tail -n 1 "$T/err")" "oh no: the campaign stops here, since other configurations would fail likewise; --resume --retry-failed goes on" "and says why"
cat >"$T/plan.yaml" <<YAML
campaign: room
targets: {here: {directory: $T/files}}
load: {driver: command, command: 'case {size} in 2) echo No space left on device >&2; exit 5 ;; esac; echo "{{\"a_s\": 1}"'}
factors: {size: [1, 2, 3, 4]}
order: given
warm_up: 0
interval: 200ms
intervals: 1
YAML
exits 1 "a disk that is full" "$blkcast" measure "$T/plan.yaml" --db "$T/room.db"
is "$(sql room "select group_concat(status) from (select status from run order by id)")" done,failed "ends the campaign at the first run that finds it so"
is "$(sql room "select count(*) from artifact where kind = 'place' and content like '/% (%, scheduler %), % free'")" 2 "what was measured is stored with each run"
like "$(head -n 1 "$T/err")" "^blkcast measure: target here: files are written to $T/files on .* \(.*, scheduler .*\), .* free, and removed afterwards$" "and said before"

# The directory must be there: else another disk would be measured.
sed -i "s|directory: $T/files|directory: $T/flies/x|" "$T/plan.yaml"
exits 2 "a directory that does not exist is refused" "$blkcast" measure "$T/plan.yaml" --db "$T/flies.db"
is "$(cat "$T/err")" "blkcast measure: target here: $T/flies/x: this directory of the plan does not exist; make it, or correct the plan" "and named"
holds "and not made" test ! -e "$T/flies"
holds "and nothing is stored" test ! -e "$T/flies.db"
plan "{driver: command, command: 'echo \"{{\\\\\"a_s\\\\\": {size}}\"'}"
exits 0 "a plan is measured" "$blkcast" measure "$T/plan.yaml" --db "$T/refused.db"
is "$(grep -c "^blkcast measure: bad: 2 configurations, 2 runs, about " "$T/err")" 1 "and says at its beginning what it will do"
sed "s|campaign: bad|campaign: other|; s|$T/files|$T/missing|" "$T/plan.yaml" >"$T/refused.yaml"
exits 2 "a refused plan for a store that exists" "$blkcast" measure "$T/refused.yaml" --db "$T/refused.db"
is "$(sql refused "select group_concat(name) from campaign")" bad "begins no campaign in it"

# A folder in which another campaign of that name works: this shell, as it were.
plan "{driver: command, command: 'echo \"{{\\\\\"a_s\\\\\": {size}}\"'}"
sed -i "\$asetup: 'pwd >$T/where'" "$T/plan.yaml"
"$blkcast" measure "$T/plan.yaml" --db "$T/free.db" -q >/dev/null
mkdir "$(cat "$T/where")"
read -r words </proc/$$/stat
echo "$$ $(echo "${words##*) }" | cut -d' ' -f20)" >"$(cat "$T/where")/.keeper"
exits 1 "a folder in which a campaign is under way" "$blkcast" measure "$T/plan.yaml" --db "$T/second.db"
like "$(cat "$T/err")" "a campaign of that name is under way" "is not shared"
holds "and left as it is" test -e "$(cat "$T/where")/.keeper"
echo "$$ 1" >"$(cat "$T/where")/.keeper"
exits 0 "that of a process which is no more is taken" "$blkcast" measure "$T/plan.yaml" --db "$T/third.db"
is "$(ls -A "$T/files")" "" "and removed in the end"

# Databases.
plan "{driver: command, command: 'echo \"{{\\\\\"a_s\\\\\": {size}}\"'}"
exits 0 "a command's numbers are taken" "$blkcast" measure "$T/plan.yaml" --db "$T/good.db"
is "$(sql good "select group_concat(value) from (select value from metric where name = 'a_s' order by value)")" "1.0,2.0" "as they are"
sqlite3 "$T/good.db" 'PRAGMA user_version = 99'
exits 2 "a store of another version is refused" "$blkcast" measure "$T/plan.yaml" --db "$T/good.db" --resume
like "$(cat "$T/err")" "version 99 of the measurement store; expected 1" "with both versions"
sqlite3 "$T/other.db" 'create table t (x)'
exits 2 "another database is refused" "$blkcast" measure "$T/plan.yaml" --db "$T/other.db"
is "$(sqlite3 "$T/other.db" .tables | xargs)" "t" "and left as it was"
echo "no database, but long enough to look at" >"$T/text.db"
exits 2 "a file that is no database is refused" "$blkcast" fit --db "$T/text.db" -r a_s
exits 2 "a store that is not there is refused" "$blkcast" measure --export - --db "$T/nowhere.db"
done_testing
