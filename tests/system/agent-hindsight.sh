#!/usr/bin/env bash
# Hindsight: the agent keeps the requests of the last moments on its machine, and sends profiles and the ledger alone
# where nobody asked for the requests. Whatever was asked, completed = sent + kept back + lost.
. tests/support/tap.sh
need curl "curl is missing" have curl
b=$BUILD/blkcast
server=""
stop_server() { [ -z "$server" ] || kill -9 "$server" 2>/dev/null; wait 2>/dev/null; }
at_exit stop_server
"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 2>"$T/err" &
server=$!
url=http://127.0.0.1:$(serve_port "$T/err" "$server")
send() { timeout 120 "$BUILD/tests/system/agent_sender" "$url" "$T/spool-$1" "$@"; } # the host is the first word
# field NAME HOST: of what the store has of the host
field() { "$BUILD/tests/system/segment_sum" "$T/store/segments/$2" | tr ' ' '\n' | sed -n "s/^$1=//p"; }

is "$(send plain 4 100 60)" "captured 400 lost 0 left 0" "without hindsight"
is "$(field requests plain) $(field kept_back plain)" "400 0" "every request is sent"

is "$(send quiet 6 100 60 hindsight=300)" "captured 600 lost 0 left 0" "where nobody asks, every segment is acknowledged"
is "$(field segments quiet) $(field requests quiet) $(field kept_back quiet)" "6 0 600" \
	"and no request was sent: the ledger says how many were kept back"
is "$(field sum quiet)" 600 "completed = sent + kept back + lost"

is "$(send asked 9 100 60 hindsight=900 interval_ms=500 ask=5)" "captured 900 lost 0 left 0" "where somebody asks"
sent=$(field requests asked) kept=$(field kept_back asked)
number "$sent >= 100 && $kept >= 100" "the requests around are sent, and those of long before are not"
is "$((sent + kept))" 900 "and the counts balance"
is "$(field sum asked)" 900 "in the ledger as well"

# A question that is put into the store reaches the agent in an answer to an upload, also after a restart of serve.
exits 1 "a question for a host that the store does not know" "$b" ask fleet --store "$T/store" --minutes 5
like "$(cat "$T/err")" '^blkcast ask: fleet: the store has nothing of this host yet' "is stored, and says that it waits"
printf '1 99999999999999999999\n' >"$T/store/asks/quiet"
printf '%4000d\n' 1 >"$T/store/asks/plain"
ln -s /dev/zero "$T/store/asks/zero"
mkfifo "$T/store/asks/fifo"
kill "$server" && wait "$server"
: >"$T/serve"
"$b" serve $serve_user --store "$T/store" --listen "${url#http://}" 2>"$T/serve" &
server=$!
serve_port "$T/serve" "$server" >/dev/null
is "$(send fleet 12 100 60 hindsight=2000 interval_ms=250)" "captured 1200 lost 0 left 0" "the host's agent sends everything"
sent=$(field requests fleet) kept=$(field kept_back fleet)
number "$sent >= 100 && $kept >= 100" "whole, from its first answer on"
is "$((sent + kept)) $(field sum fleet)" "1200 1200" "and the counts balance"
send other 3 100 60 hindsight=300 >/dev/null
is "$(field requests other) $(field kept_back other)" "0 300" "the agent of another host is asked for nothing"
exits 0 "a later question" "$b" ask fleet --store "$T/store" --minutes 7 --json
like "$(tr -d ' \n' <"$T/out")" '"begin_s":-420,"end_s":420,"known":true' "makes the period longer"
exits 1 "a question for a period that is over" "$b" ask past --store "$T/store" --begin "@$(($(date +%s) - 300))" --end "@$(($(date +%s) - 100))" --json
is "$(jq '.begin_s <= -300 and .begin_s > -310 and .end_s <= -100 and .end_s > -110' "$T/out")" true "is about that period"
exits 1 "another one that does not touch it" "$b" ask past --store "$T/store" --begin "@$(($(date +%s) - 50))" --json
is "$(jq '.begin_s > -60' "$T/out")" true "takes its place"
exits 1 "a question that is not over" "$b" ask past --store "$T/store" --minutes 1
exits 1 "and one about an earlier time" "$b" ask past --store "$T/store" --begin "@$(($(date +%s) - 300))" --end "@$(($(date +%s) - 200))" --json
is "$(jq '.begin_s <= -300 and .end_s > 50' "$T/out")" true "are one: it does not end the question before"
for wrong in "--end @5" "--begin @5" "--begin @99999999999" "--minutes 0" "--begin @$(date +%s) --minutes 5" \
	"--begin @$(($(date +%s) - 60)) --end @$(($(date +%s) - 70))"; do
	# shellcheck disable=SC2086
	exits 2 "a period is refused: ${wrong//[0-9]/9}" "$b" ask fleet --store "$T/store" $wrong
done
for wrong in ../x .new 'a b' "$(printf '%070d' 1)"; do
	exits 2 "a name that is no host's is refused: ${wrong:0:9}" "$b" ask "$wrong" --store "$T/store"
done
exits 2 "a question needs a store" "$b" ask fleet --store "$T/nowhere"
exits 2 "the minutes are bounded" "$b" ask fleet --store "$T/store" --minutes 1441
is "$(ls -A "$T/store/asks" | grep -c '^[.]')" 0 "and nothing is left beside the questions"
is "$(curl -s -o /dev/null -w '%{http_code}' -X PUT "$url/v1/asks/fleet")" 404 "a serve takes no question from the network"

# An agent that ends does not wait.
is "$(send ending 3 100 1 hindsight=600000)" "captured 300 lost 0 left 3" "segments wait while they may be asked for"
number "$(find "$T/spool-ending" -type f | wc -l) >= 1" "in the spool, over the end of the agent"

kill "$server" && wait "$server"
server=""
exits 0 "check finds the store whole" "$b" check --store "$T/store"
exits 0 "ls reads it" "$b" ls --store "$T/store"
like "$(cat "$T/out")" 'kept.back' "and tells of what was kept back"
exits 2 "a threshold without hindsight is refused" timeout 20 "$BUILD/blkcast-agent" --hindsight-p99 20ms --sink stdout:
like "$(cat "$T/err")" '^blkcast-agent: --hindsight-p99: expected with --hindsight' "in one line"
done_testing
