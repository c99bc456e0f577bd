#!/usr/bin/env bash
# How long a killed agent needs until it captures again, beside START_LOADS=30 busy loops and with START_FILES=20000
# segments in its spool. START_ROUNDS=7 times: SIGKILL, a start, and the time until the log says that it traces.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
rounds=${START_ROUNDS:-7} loads=${START_LOADS:-30} files=${START_FILES:-20000}
figure() { printf 'figure\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5"; }
agent="" busy=""
stop_all() {
	for p in $agent $busy; do kill -9 "$p" 2>/dev/null; done
	wait 2>/dev/null
}
at_exit stop_all

loop_new 64M
# start: prints the seconds until it captures; nobody listens at port 1, so that the spool stays
start() {
	local begin=$EPOCHREALTIME
	: >"$T/log"
	"$BUILD/blkcast-agent" --device "$loop_name" --sink http://127.0.0.1:1 --spool "$T/spool" --host here \
		--verbose 2>"$T/log" &
	agent=$!
	until grep -q 'tracing source=bpf' "$T/log"; do
		kill -0 $agent 2>/dev/null || return 1
		read -rt 0.02 <> <(:)
	done
	seconds=$(awk "BEGIN { printf \"%.2f\", $EPOCHREALTIME - $begin }")
}
start || { cat "$T/log" >&2 && exit 1; }
alone=$seconds
kill -9 $agent
wait $agent 2>/dev/null
"$BUILD/tests/system/make_hostile" plain here "$T/one.seg" >"$T/hash" || exit 1
python3 - "$T/one.seg" "$T/spool" "$files" <<'END' || exit 1
import sys
data = open(sys.argv[1], "rb").read()
for i in range(int(sys.argv[3])):
    with open(f"{sys.argv[2]}/{1:020d}-{i:010d}.seg", "xb") as f:
        f.write(data)
END
chmod 600 "$T/spool"/*.seg 2>/dev/null || find "$T/spool" -name '*.seg' -exec chmod 600 {} +
for _ in $(seq "$loads"); do
	(end=$((SECONDS + 120)); while [ $SECONDS -lt $end ]; do :; done) & # ends by itself where this script is killed
	busy="$busy $!"
done
all=""
for _ in $(seq "$rounds"); do
	start || { cat "$T/log" >&2 && exit 1; }
	all="$all $seconds"
	sleep 0.5
	kill -9 $agent
	wait $agent 2>/dev/null
done
longest=$(printf '%s\n' $all | sort -g | tail -n 1)
median=$(printf '%s\n' $all | sort -g | sed -n "$(((rounds + 1) / 2))p")
figure "start of an agent, nothing in its spool" "$alone" s "" "other load: $(cut -d' ' -f1 /proc/loadavg)"
figure "start of a killed agent beside $loads busy loops" "$longest" s "<= 5" \
	"longest of$all, median $median; $(find "$T/spool" -name '*.seg' | wc -l) segments in the spool"
