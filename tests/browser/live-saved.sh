#!/usr/bin/env bash
# Saved answers, and requests that an agent keeps back, in a real browser with a login (tests/browser/live-saved.mjs): a
# whole agent with --hindsight and a source that generates its requests, answers saved, opened, compared and deleted by
# the keyboard, and the requests of a period that come once a reader with the right asks for them.
. tests/support/tap.sh
. tests/browser/setup.sh
need_browser
need jq "no jq" command -v jq
need certificates "no openssl" command -v openssl
b=$BUILD/blkcast server="" agent=""
stop_all() { kill $agent $server 2>/dev/null; wait 2>/dev/null; }
at_exit stop_all

mkdir "$T/models"
cp docs/examples/scenarios/*-*.json "$T/models/"
"$BUILD/tests/system/sample_store" "$T/store"
hash_of() { printf %s "$1" | sha256sum | cut -d' ' -f1; }
printf 'fleet %s keep\nfleet %s\n' "$(hash_of a-reader-who-may)" "$(hash_of a-reader-who-may-not)" >"$T/tokens"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$T/key.pem" -out "$T/cert.pem" 2>"$T/openssl.err"
serve_owns "$T/store" "$T/models" "$T/tokens" "$T/key.pem" "$T/cert.pem"
: >"$T/err"
"$b" serve $serve_user --store "$T/store" --models "$T/models" --listen 127.0.0.1:0 --tls-cert "$T/cert.pem" \
	--tls-key "$T/key.pem" --page 127.0.0.1:0 --page-tokens "$T/tokens" >"$T/out" 2>"$T/err" &
server=$!
port=$(serve_port "$T/err" "$server")
has_page() { grep -q 'the page is at port' "$T/err"; }
wait_until 60 has_page
page=$(sed -n 's/.*the page is at port \([0-9]*\) .*/\1/p' "$T/err")

"$BUILD/tests/system/synthetic_agent" --host guest2 --window 500ms --segment-interval 500ms --hindsight 2s \
	--spool "$T/spool" --tls-ca "$T/cert.pem" --sink "https://localhost:$port" >"$T/agent.out" 2>"$T/agent.err" &
agent=$!
requests() { "$BUILD/tests/system/segment_sum" "$T/store/segments/guest2" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$1=//p"; }
keeps_back() { nr=$(requests kept_back) && [ "${nr:-0}" -gt 0 ]; }
holds "the agent keeps its requests back" wait_until 120 keeps_back
is "$(requests requests)" 0 "and sends none of them"

mkdir -p "$BUILD/browser/shots"
PAGE=https://localhost:$page MAY=a-reader-who-may MAY_NOT=a-reader-who-may-not SHOTS=$BUILD/browser/shots BROWSER=$browser \
	MODULES=$(realpath "$BUILD/browser/node_modules") timeout -k 5 240 node tests/browser/live-saved.mjs >"$T/found" 2>"$T/found.err"
is "$?" 0 "the browser's test comes to its end"
head -c 2000 "$T/found.err" | sed 's/^/# /'
judge_found "$T/found"
has_sent() { nr=$(requests requests) && [ "${nr:-0}" -gt 0 ]; }
holds "what the reader asked for has come" wait_until 120 has_sent
done_testing
