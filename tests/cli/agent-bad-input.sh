#!/usr/bin/env bash
# Whatever is wrong with what the agent is given: one line that says so, exit status 2, and nothing
# left behind.
. tests/support/tap.sh
agent=$BUILD/blkcast-agent

# bad NAME REGEX ARGUMENTS...
bad() {
	local name=$1 want=$2
	shift 2
	exits 2 "$name: exit status" timeout 10 "$agent" "$@"
	is "$(wc -l <"$T/err") $(wc -c <"$T/out")" "1 0" "$name: one line, on standard error"
	like "$(cat "$T/err")" "^blkcast-agent: $want" "$name: says what is wrong"
}

bad "unknown option" '--devise: unknown option: did you mean --device\?$' --devise sda
bad "unknown device" 'device: .*nosuchdisk' --device nosuchdisk
bad "bad window" 'window: expected a time above 0' --window soon
bad "segment interval" 'segment-interval: expected 1h at most, got .61m.' --segment-interval 61m
bad "unknown sink" "sink: unknown kind 'ftp://x': expected file:DIR" --sink ftp://x
bad "bad sink" 'sink: http://: expected http' --sink http:// --spool "$T/spool"
bad "sink that is a file" '.*/passwd/.*: Not a directory|.*/etc/passwd' --sink file:/etc/passwd/x
bad "unreadable configuration" '.*/none.yaml: No such file' --config "$T/none.yaml"
printf 'window: 1s\nlistn: 127.0.0.1:9740\n' >"$T/a.yaml"
bad "unknown key" '.*/a.yaml:2: unknown key "listn": expected one of .*; did you mean "listen"\?$' --config "$T/a.yaml"
bad "bad address" 'listen: 127.0.0.1:none: expected \[ADDR:\]PORT' --listen 127.0.0.1:none
bad "unknown cgroup" 'cgroup: /no/such: No such file' --cgroup /no/such
bad "missing file set" "fileset: $T/none: No such file" --fileset "$T/none" --sink stdout:
bad "spool that cannot be made" '/proc/nothing: cannot make the folder' \
	--sink http://127.0.0.1:1 --spool /proc/nothing
for beside in "" "--sink stdout:" "--listen :21699"; do
	# shellcheck disable=SC2086
	bad "traces to nowhere, ${beside:-alone}" "--no-trace: --sink file:$T/s takes traces" --no-trace $beside \
		--sink "file:$T/s"
done
bad "no bound" "max-overhead: expected a share of one CPU" --max-overhead 0%
bad "bound in words" "max-overhead: expected a share of one CPU" --max-overhead little
bad "proxy that cannot be used" 'proxy: the host in this URL cannot be looked up' \
	--sink https://analyzer:7118 --spool "$T/spool" --proxy 'http://user:secret-word@[bad:7118'
is "$(grep -c secret-word "$T/err")" 0 "a refused proxy is not printed with its password"
for host in 127.evil.example 127.0.0.1.evil.example localhost.evil.example 1270.0.0.1; do
	bad "$host is no loopback address" "sink: http://$host:1: not a loopback address" \
		--sink "http://$host:1" --spool "$T/spool"
done
bad "several devices" 'device: .*nosuchdisk,' --device nosuchdisk,nosuchother
bad "several devices, one without a name" 'device: expected a value, got nothing' --device sda,,sdb
bad "JSON of nothing" '--json: expected with --doctor' --json
bad "stray word" 'sda: expected an option' sda
bad "host of other letters" "host: expected 1 to 63 of A-Z.*, got 'a b'\$" --host 'a b'
nameless() { unshare --uts sh -c 'echo "(none)" >/proc/sys/kernel/hostname && exec "$0" "$@"' "$@"; }
if nameless true 2>/dev/null; then
	exits 2 "nameless system: exit status" nameless timeout 10 "$agent" --sink "file:$T/s"
	is "$(cat "$T/err")" "blkcast-agent: host: expected 1 to 63 of A-Z a-z 0-9 . _ - and no\
 leading dot, got '(none)', the system's own name: give another by --host" \
		"nameless system: one line says what is expected"
fi
is "$(ls "$T/s" "$T/spool" 2>/dev/null)" "" "nothing is left behind"

exits 0 "help" "$agent" --help
like "$(cat "$T/out")" '^  blkcast-agent --device sda --top ' "help begins with examples"
for option in config device source sink window listen spool layer cgroup fileset duration top \
	no-trace doctor spool-bytes host leave-out-own max-overhead segment-interval version help; do
	like "$(cat "$T/out")" "--$option" "help names --$option"
done
"$agent" --doctor --json >"$T/doctor.json" 2>"$T/err"
is "$(jq -r '.findings | map(.what) | map(select(startswith("source "))) | join(" ")' "$T/doctor.json")" \
	"source bpf source blktrace source tracefs source diskstats" "the doctor's findings are there as JSON"
is "$("$agent" --doctor | grep -c .)" "$(jq '.findings | length + 1' "$T/doctor.json")" "as many as in its text"
exits 0 "version" "$agent" --version
like "$(cat "$T/out")" '^blkcast-agent [0-9]+\.[0-9]+\.[0-9]+$' "version is a version"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 777 "$T/open"
	cp "$agent" "$T/open/agent"
	chmod 755 "$T" "$T/open/agent"
	exits 2 "without privileges: exit status" timeout 10 setpriv --reuid 65534 --regid 65534 \
		--clear-groups "$T/open/agent" --sink "file:$T/open/store" --source bpf
	is "$(wc -l <"$T/err")" 1 "without privileges: one line"
	like "$(cat "$T/err")" 'CAP_|ermission|ermitted|privilege' "without privileges: says so"
fi
done_testing
