#!/usr/bin/env bash
# Hindsight: the agent keeps the requests of the last moments on its machine, and sends profiles and the ledger alone
# where nobody asked for the requests. Whatever was asked, completed = sent + kept back + lost.
. tests/support/tap.sh
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
