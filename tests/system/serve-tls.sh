#!/usr/bin/env bash
# `blkcast serve` over TLS: who may write what, by certificate and by token, both replaced while it
# runs; and clients that are slow, many, or fast.
. tests/support/tap.sh
need certificates "no openssl" command -v openssl
# A sanitizer cannot look for leaks in a process that has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
b=$BUILD/blkcast c=$T/certs
scripts/certs.sh "$c" 127.0.0.1 web1 db1
"$BUILD/tests/system/sample_store" "$T/source"
good=$T/source/segments/web1/b1/00000000000000000005/0000000001.seg
zeros=00000000000000000000000000000000
token_line() { printf '%s %s\n' "$1" "$(printf %s "$2" | sha256sum | cut -d' ' -f1)"; }
token_line web1 first-secret >"$T/tokens"
server=""
stop_server() { [ -z "$server" ] || kill -9 "$server" 2>/dev/null; wait 2>/dev/null; }
at_exit stop_server

start() { # OPTION...
	: >"$T/err"
	"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 "$@" >"$T/out" 2>"$T/err" &
	server=$!
	port=$(serve_port "$T/err" "$server")
	url=https://127.0.0.1:$port
}
stop() { kill "$server"; wait "$server"; server=""; }
get() { curl -sm 10 --cacert "$c/ca.crt" "$@"; }
code() { get -o "$T/body" -w '%{http_code}' "$@"; }
as() { echo "--cert $c/$1.crt --key $c/$1.key"; }
hash_of() { get $(as web1) -T "$1" -H "Blkcast-Hash: $zeros" -H Expect: "$url/v1/segments/web1/y/0/0" |
	sed -n 's/.*got \([0-9a-f]\{32\}\) of.*/\1/p'; }
# put CREDENTIAL-OPTION...: the status of sending $good
put() { code -T "$good" -H Expect: -H "Blkcast-Hash: $hash" "$@" "$url/v1/segments/web1/b1/5/1"; }
# until TEXT: waits for a line of the server's
until_said() { wait_until 30 grep -q "$1" "$T/err"; }

serve_owns "$c" "$T/tokens"
exits 2 "a certificate needs its key" "$b" serve $serve_user --store "$T/s" --listen 127.0.0.1:0 --tls-cert "$c/server.crt"
exits 2 "and its own one" "$b" serve $serve_user --store "$T/s" --listen 127.0.0.1:0 --tls-cert "$c/server.crt" --tls-key "$c/web1.key"
exits 2 "a client CA needs TLS" "$b" serve $serve_user --store "$T/s" --listen 127.0.0.1:0 --client-ca "$c/ca.crt"
exits 2 "TLS alone does not open it to everybody" "$b" serve $serve_user --store "$T/s" --listen 0.0.0.0:0 \
	--tls-cert "$c/server.crt" --tls-key "$c/server.key"
echo "web1 abc" >"$T/bad"
exits 2 "a token file must hold hashes" "$b" serve $serve_user --store "$T/s" --listen 127.0.0.1:0 --tokens "$T/bad"

start --tls-cert "$c/server.crt" --tls-key "$c/server.key" --client-ca "$c/ca.crt" --tokens "$T/tokens"
hash=$(hash_of "$good")
is "$(put)" 401 "who does not say who he is may not write"
is "$(put $(as db1))" 403 "nor one host in another's name"
is "$(put $(as server))" 401 "nor a certificate that is no client's"
is "$(put -H "Authorization: Bearer wrong")" 401 "nor an unknown token"
is "$(find "$T/store" -name '*.seg' | wc -l)" 0 "nothing is stored until then"
is "$(put $(as web1))" 201 "a host's certificate writes the host's stream"
is "$(put -H "Authorization: Bearer first-secret")" 200 "and so does its token"
read -r codes kib < <(python3 tests/system/idle_memory.py "$port" "$server" "$c/ca.crt" first-secret \
	/v1/segments/web1/b1/5/1 "$hash" "$good")
is "$codes" 200 "40 connections send a segment and stay open"
at_most="and each thread keeps at most 48 KiB of its stack, of which a handshake used more"
# The frames of a program with a sanitizer are larger.
if sanitized; then skip_one unsanitized "a sanitizer needs stack of its own" "$at_most"; else number "$kib <= 48" "$at_most"; fi
is "$(code $(as db1) "$url/v1/streams/web1")" 403 "nor does one read what another has sent"
is "$(get $(as web1) "$url/v1/streams/web1" | jq -c '.streams[0].highest_sequence')" 1 "its own it does"
is "$(get $(as web1) -T "$good" -H 'Expect: 100-continue' -H "Blkcast-Hash: $hash" -w ' %{size_upload}' \
	"$url/v1/segments/web1/b1/5/1" | tail -n 1)" " 0" "what is there is acknowledged before it is sent"
is "$(get --tls-max 1.1 -w '%{http_code}' -o "$T/body" "$url/healthz")" 000 "TLS 1.1 is refused"
is "$(get "$url/healthz")" ok "TLS 1.2 and later are not"
is "$(curl -sm 5 -w '%{http_code}' -o "$T/body" "http://127.0.0.1:$port/healthz")" 000 "nor is plain http spoken"

# Replaced while it runs
token_line web1 second-secret >"$T/tokens.new"
serve_owns "$T/tokens.new"
mv "$T/tokens.new" "$T/tokens"
holds "a new token file is seen" until_said "read again"
is "$(put -H "Authorization: Bearer second-secret")" 200 "a new token is taken"
is "$(put -H "Authorization: Bearer first-secret")" 401 "an old one no more"
: >"$T/err"
scripts/certs.sh "$T/other" 127.0.0.1 web1
cp "$T/other/server.crt" "$c/server.crt"
holds "half of a pair is told and not used" until_said "stay as they were"
: >"$T/err"
cp "$T/other/server.key" "$c/server.key"
kill -HUP "$server"
holds "the whole is" until_said "read again"
is "$(code --cacert "$T/other/ca.crt" $(as web1) "$url/v1/streams/web1")" 200 "the new certificate is shown"
: >"$T/err"
cp "$T/other/ca.crt" "$T/ca.new" && cat "$T/other/ca.crt" >"$T/ca.new" && serve_owns "$T/ca.new" && mv "$T/ca.new" "$c/ca.crt"
holds "a new client CA is seen" until_said "read again"
is "$(code $(as web1) "$url/v1/streams/web1")" 401 "who the old one signed is unknown"
is "$(code --cert "$T/other/web1.crt" --key "$T/other/web1.key" "$url/v1/streams/web1")" 200 "who the new one did is not"
stop

# Tokens over loopback; rate
start --tokens "$T/tokens" --rate 1
url=http://127.0.0.1:$port
put_token() { put -H "Authorization: Bearer second-secret" -D "$T/head"; }
is "$(put_token) $(put_token) $(put_token)" "200 200 429" "a client over its rate is told"
like "$(tr -d '\r' <"$T/head")" 'Retry-After: [12]' "and when to come again"
sleep 1.1
is "$(put_token)" 200 "and is served then"
stop

# Clients that take their time: one byte a moment, of a head and of a body
start --request-time 2s
python3 tests/system/slow_client.py "$port" >"$T/slow"
is "$(cat "$T/slow")" "head cut, body cut, idle cut, reply of others ok" "slow clients are cut off, others served"
url=http://127.0.0.1:$port
number "$(get "$url/metrics" | sed -n 's/^blkcast_serve_connections_shut_total //p') >= 2" "and counted"
is "$(curl -sm 10 -o /dev/null -w '%{http_code}' -H "X: $(head -c 40000 /dev/zero | tr '\0' x)" "$url/healthz")" 431 \
	"a head that is too long is refused"
stop
start --connections-per-address 3
python3 tests/system/slow_client.py "$port" many >"$T/many"
is "$(cat "$T/many")" "3 of 8 open" "an address has no more connections than it may"
stop
done_testing
