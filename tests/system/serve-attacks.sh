#!/usr/bin/env bash
# What has once harmed `blkcast serve` from outside: heads that say two things, paths that are too short,
# answers without a bound, memory of uploads that are checked.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
b=$BUILD/blkcast
zeros=00000000000000000000000000000000
server=""
stop_server() { [ -z "$server" ] || kill -9 "$server" 2>/dev/null; wait 2>/dev/null; }
at_exit stop_server

start() { # OPTION...
	: >"$T/err"
	"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 "$@" >"$T/out" 2>"$T/err" &
	server=$!
	port=$(serve_port "$T/err" "$server")
	url=http://127.0.0.1:$port
}
stop() { kill "$server"; wait "$server"; local status=$?; server=""; return $status; }

# A path with fewer parts than the one before it on the same connection was read as far as that one went.
start
codes() { tr '\n' ' ' | sed 's/ $//'; }
put_two() { # FIRST-PATH SECOND-PATH
	curl -sm 10 -o /dev/null -o /dev/null -w '%{http_code}\n' -X PUT -H "Blkcast-Hash: $zeros" -d x \
		"$url/v1/segments/$1" "$url/v1/segments/$2" | codes
}
wrong=""
for path in "" a a/b a/b/1 a/b/1/ a//1/2 a/b/1/2/3 /; do
	[ "$(put_two web1/b1/5/1 "$path")" = "400 400" ] || wrong="$wrong '$path'"
done
is "$wrong" "" "short paths behind a long one on the same connection are refused"
is "$(python3 tests/system/raw_heads.py "$port" 2>&1)" "" \
	"a head that says two things about its end is refused, the connection closed, what follows unanswered"
is "$(curl -sm 10 "$url/healthz")" ok "serve is still up"
holds "SIGTERM ends it with exit status 0" stop

# A host has its share of the store and no more; nobody else is kept out, and what is stored is acknowledged.
put() { # HOST SEQUENCE
	local hash
	hash=$("$BUILD/tests/system/make_hostile" devices "$1" "$T/put.seg" "$2") || return
	curl -sm 10 -o "$T/body" -D "$T/head" -w '%{http_code}' -T "$T/put.seg" -H "Blkcast-Hash: $hash" \
		-H 'Expect:' "$url/v1/segments/$1/b/1/$2"
}
puts() { # HOST SEQUENCE...
	local host=$1
	shift
	for sequence in "$@"; do put "$host" "$sequence" && echo; done | codes
}
# A quota of a day begins anew at midnight, which may not come within the test.
[ $((86400 - $(date +%s) % 86400)) -gt 60 ] || sleep 61
has_retry_after() { grep -qi '^retry-after: [1-9]' "$T/head"; }
start --host-files 6
is "$(puts full 0 1 2 3)" "201 201 507 507" "six files and folders of a host: its fourth and fifth file are refused"
holds "with Retry-After" has_retry_after
like "$(cat "$T/body")" 'host full: its quota of the store is used up' "and a sentence that says why"
is "$(puts full 0 1) $(puts other 0)" "200 200 201" "what is there is acknowledged, and another host is taken"
holds "serve ends" stop
start --host-size 200k
is "$(puts heavy 0 1 2)" "201 201 507" "likewise of bytes"
holds "serve ends" stop
start --host-segments-per-day 3
is "$(puts full 2)" "201" "after a start with a larger quota what was refused is taken"
is "$(puts heavy 2) $(puts daily 0 1 2 3)" "201 201 201 201 429" "three segments of a host a day, of all starts"
holds "with Retry-After" has_retry_after
is "$(puts heavy 0 3)" "200 429" "what came before the start counts"
is "$(curl -sm 10 "$url/metrics" | sed -n 's/^blkcast_serve_refused_total{reason="\(rate\|quota\)"} //p' | codes)" "2 0" \
	"refusals are counted by their reason"
holds "serve ends" stop

# An answer about streams is bounded: a host that has more than fit on a page gets the rest from page two on.
segments=()
for epoch in $(seq 130); do
	"$BUILD/tests/system/make_hostile" year many "$T/many.$epoch" 0 "$epoch" >"$T/hash" || exit 1
	segments+=("$T/many.$epoch")
done
"$b" import --store "$T/store" "${segments[@]}" >"$T/out" 2>&1
serve_owns "$T/store"
start
page() { curl -sm 10 "$url/v1/streams/many$1"; }
page "" >"$T/page1"
is "$(jq '.streams | length' "$T/page1")" 100 "of 130 streams the first page has 100"
page "$(jq -r .next "$T/page1")" >"$T/page2"
is "$(jq -c '[(.streams | length), .next]' "$T/page2")" '[30,null]' "the second page has the rest, and says that it is the last"
is "$(jq -s '[.[].streams[].epoch] | unique | length' "$T/page1" "$T/page2")" 130 "each stream is on one of them, once"
holds "serve ends" stop
done_testing
