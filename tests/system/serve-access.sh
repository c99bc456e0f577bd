#!/usr/bin/env bash
# Who may no longer write to `blkcast serve`: revoked certificates, lists of them that are too old, files
# of tokens that are deleted, uploads that began before. And who may start it: whoever can read the keys,
# and one only for a store.
. tests/support/tap.sh
need certificates "no openssl" command -v openssl
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
b=$BUILD/blkcast c=$T/certs
scripts/certs.sh "$c" 127.0.0.1 web1 db1
"$BUILD/tests/system/sample_store" "$T/source"
good=$T/source/segments/web1/b1/00000000000000000005/0000000001.seg
zeros=00000000000000000000000000000000
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
as() { echo "--cert $c/$1.crt --key $c/$1.key"; }
ask() { get -o "$T/body" -w '%{http_code}' "$@" "$url/v1/streams/${host:-web1}"; }
until_said() { for _ in $(seq 500); do grep -q "$1" "$T/err" && return 0; sleep 0.02; done; return 1; }
# replace FILE: with what comes on standard input, at once
replace() { cat >"$T/new" && serve_owns "$T/new" && : >"$T/err" && mv "$T/new" "$1"; }
token_line() { printf '%s %s\n' "$1" "$(printf %s "$2" | sha256sum | cut -d' ' -f1)"; }

# list NEXT-UPDATE: the revocation list of the CA, with the certificate of db1 in it
touch "$T/index"
cat >"$T/ca.cnf" <<END
[ca]
default_ca = one
[one]
database = $T/index
certificate = $c/ca.crt
private_key = $c/ca.key
default_md = sha256
END
openssl ca -config "$T/ca.cnf" -revoke "$c/db1.crt" 2>/dev/null
list() { openssl ca -config "$T/ca.cnf" -gencrl -crl_lastupdate 20200101000000Z -crl_nextupdate "$1" 2>/dev/null; }

token_line web1 a-secret >"$T/tokens"
list 20490101000000Z >"$T/crl"
holds "openssl makes a revocation list" grep -q 'BEGIN X509 CRL' "$T/crl"
if [ "$(id -u)" = 0 ]; then
	exits 2 "keys that its user may not read" "$b" serve $serve_user --store "$T/s" --listen 127.0.0.1:0 \
		--tls-cert "$c/server.crt" --tls-key "$c/server.key" --client-ca "$c/ca.crt"
	like "$(cat "$T/err")" "server.crt: user nobody, whom serve runs as, may not read it; as root: chown nobody .*/server.crt .*/server.key .*/ca.crt" \
		"the line says what to do about all of them"
	eval "$(sed -n 's/.*as root: \(chown .*\)/\1/p' "$T/err")"
	"$b" serve $serve_user --store "$T/s" --listen 127.0.0.1:0 --tls-cert "$c/server.crt" --tls-key "$c/server.key" \
		--client-ca "$c/ca.crt" 2>"$T/err" &
	server=$!
	holds "and serve starts once it is done" until_said '^blkcast serve: port'
	stop
fi
serve_owns "$c" "$T/tokens" "$T/crl"
start --tls-cert "$c/server.crt" --tls-key "$c/server.key" --client-ca "$c/ca.crt" --client-crl "$T/crl" --tokens "$T/tokens"

exits 1 "a second serve on the store does not start" timeout 60 "$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0
like "$(cat "$T/err")" "$T/store: another serve runs on this store; end it, or choose another folder with --store" \
	"and says why"
is "$(get "$url/healthz")" ok "the first goes on"

# Ciphers: what TLS 1.2 may use
cipher() { openssl s_client -connect "127.0.0.1:$port" -tls1_2 -cipher "$1:@SECLEVEL=0" </dev/null 2>/dev/null |
	sed -n 's/^ *Cipher *: *//p'; }
is "$(cipher ECDHE-ECDSA-AES128-GCM-SHA256)" ECDHE-ECDSA-AES128-GCM-SHA256 "TLS 1.2 encrypts with authentication"
is "$(for old in ECDHE-ECDSA-AES128-SHA ECDHE-ECDSA-AES256-SHA ECDHE-ECDSA-AES128-SHA256 ECDHE-ECDSA-AES256-SHA384; do
	cipher $old; done | grep -v '^0000$')" "" "and in no mode of CBC"

# The revocation list
is "$(ask $(as web1))" 200 "a certificate that is not in the list is known"
is "$(host=db1 ask $(as db1))" 401 "a revoked one is not"
list 20210101000000Z | replace "$T/crl"
holds "a list past its nextUpdate is told" until_said "$T/crl: .* replaced by 2021-01-01T00:00:00Z"
is "$(ask $(as web1))" 401 "and every certificate refused"
like "$(cat "$T/body")" 'revocation list here is past its nextUpdate' "with the reason"
is "$(ask -H "Authorization: Bearer a-secret")" 200 "tokens go on"
is "$(grep -c 'replaced by' "$T/err")" 1 "it is told once"
list 20490101000000Z | replace "$T/crl"
holds "a newer list is read" until_said "read again"
is "$(ask $(as web1)) $(host=db1 ask $(as db1))" "200 401" "and in force"

# Tokens that are deleted
: >"$T/err"
mv "$T/tokens" "$T/aside"
holds "a file of tokens that is gone is told" until_said "$T/tokens is gone: no token is valid"
is "$(ask -H "Authorization: Bearer a-secret")" 401 "its tokens are not valid"
is "$(ask $(as web1))" 200 "certificates go on"
: >"$T/err"
mv "$T/aside" "$T/tokens"
holds "it is read when it is back" until_said "read again"
is "$(ask -H "Authorization: Bearer a-secret")" 200 "and its tokens are valid"
stop

# An upload that began with a token that was revoked before its end
start --tokens "$T/tokens"
url=http://127.0.0.1:$port
hash=$(curl -sm 10 -T "$good" -H "Authorization: Bearer a-secret" -H "Blkcast-Hash: $zeros" -H Expect: \
	"$url/v1/segments/web1/b1/5/1" | sed -n 's/.*got \([0-9a-f]\{32\}\) of.*/\1/p')
mkfifo "$T/go"
python3 tests/system/slow_upload.py "$port" /v1/segments/web1/b1/5/1 "$hash" a-secret "$good" <"$T/go" >"$T/upload" &
upload=$!
exec 5>"$T/go"
for _ in $(seq 500); do grep -q half "$T/upload" && break; sleep 0.02; done
token_line web1 another-secret | replace "$T/tokens"
holds "the token is revoked" until_said "read again"
echo >&5
exec 5>&-
wait $upload
is "$(tail -n 1 "$T/upload")" 401 "an upload that began before its token was revoked is refused at its end"
is "$(find "$T/store" -name '*.seg' | wc -l)" 0 "and not stored"
stop
start --tokens "$T/tokens" --rate 1
for _ in $(seq 100); do
	curl -sm 10 -o "$T/body" -D "$T/head" -w '%{http_code}\n' -H 'Authorization: Bearer another-secret' \
		"http://127.0.0.1:$port/v1/streams/web1"
	grep -q ' 429 ' "$T/head" && break
done >"$T/asked"
is "$(sort -u "$T/asked" | tr '\n' ' ')" "200 429 " "questions for streams are limited as uploads are"
like "$(tr -d '\r' <"$T/head")" '^[Rr]etry-[Aa]fter: [1-9]' "with Retry-After"
stop
# Four addresses hold as many half-open handshakes as they may, and open new ones for those that are ended.
start --tls-cert "$c/server.crt" --tls-key "$c/server.key" --tokens "$T/tokens"
mkfifo "$T/hold"
python3 tests/system/half_open.py "$port" 64 127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5 <"$T/hold" >"$T/opened" &
attacker=$!
exec 6>"$T/hold"
wait_until 60 grep -q open "$T/opened"
like "$(cat "$T/opened")" '^open 2[0-9][0-9]$' "four addresses open more than two hundred connections"
# A connection that has not shown its credential yet may be ended for a newer one: an agent then tries again.
known=""
for _ in 1 2 3 4 5; do
	for try in 1 2 3 4 5 6 7 8; do
		[ "$(ask -H "Authorization: Bearer another-secret")" != 200 ] || break
	done
	known="$known $((try < 8))"
done
is "$known" " 1 1 1 1 1" "a known sender is served meanwhile, each time within eight tries"
exec 6>&-
wait $attacker
stop
start
is "$(curl -sm 10 "http://127.0.0.1:$port/healthz")" ok "the store is free for the next serve at once"
stop
done_testing
