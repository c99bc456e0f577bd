#!/usr/bin/env bash
# Tenants of `blkcast serve`: whose hosts a credential writes and sees, what is bounded for each of them, and how a
# storm of connections is admitted.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
need curl "curl is missing" have curl
need jq "jq is missing" have jq
need python3 "python3 is missing" have python3
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/source"
server=""
stop_server() { [ -z "$server" ] || kill -9 "$server" 2>/dev/null; wait 2>/dev/null; }
at_exit stop_server
start() { # OPTION...
	: >"$T/err"
	"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --tokens "$T/tokens" --tenants "$T/tenants" "$@" \
		>"$T/out" 2>"$T/err" &
	server=$!
	port=$(serve_port "$T/err" "$server")
	url=http://127.0.0.1:$port
}
stop() {
	kill "$server"
	wait "$server"
	server=""
}
token_line() { printf '%s %s\n' "$1" "$(printf %s "$2" | sha256sum | cut -d' ' -f1)"; }
replace() { cat >"$T/new" && serve_owns "$T/new" && mv "$T/new" "$1"; }
segment() { ls "$T/source/segments/$1"/*/*/*.seg | head -n 1; }
# put TOKEN HOST: the first segment of the host, with the token, under a wrong hash, so that nothing is stored where
# nothing else refuses it; prints the status
put() {
	local file name
	file=$(segment "$2")
	name=${file#"$T"/source/segments/}
	IFS=/ read -r host boot epoch sequence <<<"${name%.seg}"
	curl -sm 20 -D "$T/head" -o "$T/body" -w '%{http_code}' -X PUT -H "Authorization: Bearer $1" -H Expect: \
		-H "Blkcast-Hash: 00000000000000000000000000000000" --data-binary "@$file" \
		"$url/v1/segments/$host/$boot/$((10#$epoch))/$((10#$sequence))"
}
ask() { curl -sm 20 -o "$T/body" -w '%{http_code}' -H "Authorization: Bearer $1" "$url/v1/streams/$2"; }

{
	token_line @acme of-acme
	token_line 'db*' of-db
	token_line '*' of-all
} | replace "$T/tokens"
printf '# whose hosts\nacme web*,mail1\nother db1\n' | replace "$T/tenants"
{
	token_line @acme reads-acme
	token_line fleet reads-all
} | replace "$T/readers"
start --page 127.0.0.1:0 --page-tokens "$T/readers"
is "$(ask of-acme web1) $(ask of-acme web77) $(ask of-acme mail1)" "200 200 200" "a tenant's token is one of all its hosts"
is "$(ask of-acme db1) $(ask of-acme mail12)" "403 403" "and of no other"
is "$(ask of-db db1) $(ask of-db web1)" "200 403" "a beginning of names stands for the hosts that begin so"
is "$(ask of-all db1) $(ask of-all db2)" "200 403" "a host of no tenant is refused, whatever the credential"
like "$(cat "$T/body")" 'host db2: it belongs to no tenant' "and the line says why"
is "$(ask unknown web1)" 401 "an unknown token is nobody's"
is "$(put of-acme web1)" 400 "a tenant's token may write for its hosts: only the hash is wrong"
is "$(put of-acme db1)" 403 "nobody writes for a host of another tenant"
page=http://127.0.0.1:$(sed -n 's/.*the page is at port \([0-9]*\) .*/\1/p' "$T/err")
who() { curl -sm 20 -o "$T/body" -w '%{http_code}' -H "Authorization: Bearer $1" "$page/api/v1/who?host=$2&device=8:0&begin_s=1&end_s=2"; }
is "$(who reads-acme db1)" 403 "a reader of a tenant may not ask about another one's host"
holds "and may ask about its own" test "$(who reads-acme web1)" != 403
holds "as a reader of the fleet may about any" test "$(who reads-all db1)" != 403
is "$(ask reads-acme web1)" 401 "a reader's credential writes nothing and asks nothing of the intake"

: >"$T/err"
printf 'acme web*\nother web1\n' | replace "$T/tenants"
holds "tenants that share a host are refused" wait_until 20 grep -q 'tenants:2: a host could belong to acme and to other' "$T/err"
is "$(ask of-acme mail1)" 200 "and the former list stays in force"
printf 'acme mail1\nother db1,web*\n' | replace "$T/tenants"
is_moved() { [ "$(ask of-acme web1)" = 403 ] && [ "$(ask of-acme mail1)" = 200 ]; }
holds "a host goes to another tenant while serve runs" wait_until 20 is_moved
stop

# Bounds. The body of a segment is larger than what a tenant may have under way here.
start --tenant-memory 4K
is "$(put of-all web1)" 429 "bytes under way of a tenant are bounded"
like "$(cat "$T/body")" 'tenant of host web1' "and the line names the bound"
waits=""
for _ in 1 2 3 4 5 6 7 8; do
	put of-all web1 >/dev/null
	waits="$waits$(tr -d '\r' <"$T/head" | sed -n 's/^[Rr]etry-[Aa]fter: //p')
"
done
is "$(grep -vcE '^[12]?$' <<<"$waits")" 0 "with a time to wait of a second or two"
is "$(grep . <<<"$waits" | sort -u | wc -l)" 2 "which is not the same for everybody"
stop
start --body-memory 4K --tenant-memory 1M
is "$(put of-all web1)" 503 "bytes under way of the node are bounded"
stop

start --admit 50
python3 - "$port" <<'P'
import http.client
import sys
import threading
codes = []
def one():
    c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
    c.request("GET", "/healthz")
    codes.append(c.getresponse().status)
    c.close()
threads = [threading.Thread(target=one) for _ in range(60)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert codes == [200] * 60, codes
P
is $? 0 "every connection of a storm is served"
delayed=$(curl -sm 20 "$url/metrics" | sed -n 's/^blkcast_serve_connections_delayed_total //p')
number "$delayed > 0" "and those above the rate waited"
stop
exits 2 "a wrong line of tenants is refused" timeout 20 "$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 \
	--tokens "$T/tokens" --tenants <(echo 'acme')
done_testing
