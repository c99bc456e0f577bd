#!/usr/bin/env bash
# Whatever is sent to `blkcast serve`, it answers, counts and stays up.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/source"
good=$T/source/segments/web1/b1/00000000000000000005/0000000001.seg
zeros=00000000000000000000000000000000
: >"$T/serve.err"
"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 >"$T/serve.out" 2>"$T/serve.err" &
server=$!
stop_server() { kill -9 $server 2>/dev/null; wait 2>/dev/null; }
at_exit stop_server
port=$(serve_port "$T/serve.err" $server)
url=http://127.0.0.1:$port

# hash_of FILE: what the server itself says that it got
hash_of() {
	curl -sm 10 -T "$1" -H "Blkcast-Hash: $zeros" -H Expect: "$url/v1/segments/x/y/0/0" |
		sed -n 's/.*got \([0-9a-f]\{32\}\) of.*/\1/p'
}
# put FILE PATH [HASH]: the status; the body goes to $T/body
put() {
	curl -sm 10 --path-as-is -o "$T/body" -w '%{http_code}' -T "$1" -H Expect: \
		-H "Blkcast-Hash: ${3:-$(hash_of "$1")}" "$url$2"
}
counted() { curl -sm 10 "$url/metrics" | sed -n "s/^blkcast_serve_$1 //p"; }
in_place=/v1/segments/web1/b1/5/1

is "$(put "$good" $in_place)" 201 "a good segment is stored"
is "$(jq -c '[.host, .boot_id, .epoch, .sequence, .stored]' "$T/body")" '["web1","b1",5,1,true]' \
	"and acknowledged by its name"
is "$(jq -r .hash "$T/body")" "$(hash_of "$good")" "and its hash"
is "$(put "$good" $in_place)" 200 "again: acknowledged the same"
is "$(jq -c .stored "$T/body")" false "and not stored twice"
holds "the file is what was sent" cmp -s "$good" \
	"$T/store/segments/web1/b1/00000000000000000005/0000000001.seg"

before=$(counted 'refused_total{reason="damaged"}')
is "$(put "$good" /v1/segments/web1/b1/5/2)" 422 "another name than its header's"
head -c 9000 "$good" >"$T/cut"
is "$(put "$T/cut" $in_place)" 422 "a truncated segment"
head -c 9 "$good" >"$T/cut9"
is "$(put "$T/cut9" $in_place)" 422 "nine bytes of one"
wrong=""
for at in 0 8 12 16 24 40 200 1000 5000 9000; do
	cp "$good" "$T/flip"
	printf "\\$(printf '%03o' $(($(od -An -tu1 -j $at -N 1 "$good") ^ 4)))" |
		dd of="$T/flip" bs=1 seek=$at conv=notrunc 2>/dev/null
	[ "$(put "$T/flip" $in_place)" = 422 ] || wrong="$wrong $at"
done
is "$wrong" "" "a bit flipped anywhere"
head -c 20000 /dev/urandom >"$T/noise"
is "$(put "$T/noise" $in_place)" 422 "noise"
is "$(put /etc/passwd $in_place)" 422 "a foreign file"
: >"$T/empty"
is "$(put "$T/empty" $in_place)" 422 "nothing at all"
is "$(($(counted 'refused_total{reason="damaged"}') - before))" 16 "each of them is counted"
is "$(jq -r 'keys | join(" ")' "$T/body")" error "and answered in one line of JSON"

# A frame that says 4 GiB; length and checksum are right.
holds "a segment made of a zstd bomb" "$BUILD/tests/system/segment_bomb" "$good" "$T/bomb"
rss() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$server/status; }
peak=$(rss)
is "$(put "$T/bomb" $in_place)" 422 "a zstd bomb"
number "$(rss) - $peak < 32768" "and takes no memory: $(jq -r .error "$T/body")"

head -c 16777217 /dev/zero >"$T/big"
is "$(put "$T/big" $in_place $zeros)" 413 "one byte too long"
is "$(curl -sm 10 -o /dev/null -w '%{http_code} %{size_upload}' -T "$T/big" \
	-H 'Expect: 100-continue' -H "Blkcast-Hash: $zeros" "$url$in_place")" "413 0" \
	"is refused before its body is sent"
is "$(curl -sm 10 -o /dev/null -w '%{http_code}' -T - -H "Blkcast-Hash: $zeros" -H Expect: \
	"$url$in_place" <"$T/big")" 413 "too long without saying so"

is "$(put "$good" $in_place $zeros)" 400 "another hash than the body's"
is "$(put "$good" $in_place xyz)" 400 "no hash"
for path in /v1/segments/../b1/5/1 /v1/segments/web1/..%2f/5/1 /v1/segments/web1/b1/5 \
	/v1/segments/web1/b1/5/1/2 /v1/segments/.web/b1/5/1 /v1/segments/web1/b1/x/1 \
	/v1/segments/web1/b1/5/99999999999 /v1/segments/%00/b1/5/1 /v1/segments/we%20b/b1/5/1; do
	code=$(put "$good" $path $zeros)
	[ "$code" = 400 ] || wrong="$wrong $path=$code"
done
is "$wrong" "" "names that could leave the store"
is "$(find "$T" -name '*.seg' -path '*store*' | wc -l)" 1 "nothing else was written"
is "$(curl -sm 10 -o /dev/null -w '%{http_code}' -X POST -d x "$url$in_place")" 405 "another method"
is "$(curl -sm 10 -o /dev/null -w '%{http_code}' "$url/other")" 404 "another path"
printf 'GARBAGE\r\n\r\n' | timeout 5 curl -sm 2 telnet://127.0.0.1:$port >/dev/null 2>&1
is "$(curl -sm 10 "$url/v1/streams/web1")" \
	'{"host":"web1","streams":[{"boot_id":"b1","epoch":5,"highest_sequence":1}],"next":null}' \
	"the high mark of the stream"

# The disk: a folder in the way of the host's
: >"$T/store/segments/db1"
db=$T/source/segments/db1/b1/00000000000000000005/0000000000.seg
is "$(put "$db" /v1/segments/db1/b1/5/0)" 503 "a disk that does not take it"
like "$(curl -sm 10 -o /dev/null -D - -T "$db" -H Expect: -H "Blkcast-Hash: $(hash_of "$db")" \
	"$url/v1/segments/db1/b1/5/0" | tr -d '\r' | sed -n 's/^Retry-After: //p')" '^([5-9]|10)$' "says when to try again"
rm "$T/store/segments/db1"
is "$(put "$db" /v1/segments/db1/b1/5/0)" 201 "and takes it then"

curl -sm 10 "$url/metrics" >"$T/metrics"
is "$(tail -n 1 "$T/metrics")" "# EOF" "the metrics end as they should"
if command -v promtool >/dev/null; then
	is "$(sed '/^# UNIT/d;/^# EOF/d;/^# TYPE.*info$/d' "$T/metrics" | promtool check metrics 2>&1 | grep "error while")" "" \
		"promtool reads them"
fi
is "$(curl -sm 10 "$url/healthz")" ok "it is still up"
is "$(for f in /proc/$server/task/*/status; do sed -n 's/^\(Uid\|CapPrm\|CapEff\|NoNewPrivs\):[[:space:]]*//p' "$f" |
	tr '\t\n' '  '; done | tr ' ' '\n' | sort -u | grep -vx "$(id -u ${serve_user#--user })" | xargs)" \
	"0000000000000000 1" "each of its threads runs as one user, without capabilities and for good"
kill $server
status=0
wait $server || status=$?
is "$status" 0 "SIGTERM ends it"
if [ "$(id -u)" = 0 ]; then
	exits 2 "root must say whom it is to run as" "$b" serve --store "$T/s3" --listen 127.0.0.1:0
	like "$(cat "$T/err")" 'started by root: it never runs as root; expected the name of another account .--user NAME' "and is told so"
	exits 2 "not root itself" "$b" serve --user root --store "$T/s3" --listen 127.0.0.1:0
	exits 2 "an account that is none" "$b" serve --user no-such-account --store "$T/s3" --listen 127.0.0.1:0
	like "$(cat "$T/err")" 'there is no such account; `useradd --system no-such-account` makes it' \
		"is told how to make it"
	holds "nothing was made" [ ! -e "$T/s3" ]
	mkdir "$T/s4" && chmod 755 "$T/s4"
	exits 2 "nor is a folder of root's written" "$b" serve --user nobody --store "$T/s4" --listen 127.0.0.1:0
	is "$(stat -c %U:%a "$T/store")" nobody:700 "the folder it made is its user's alone"
else
	exits 2 "only root can become another" "$b" serve --user root --store "$T/s3" --listen 127.0.0.1:0
fi
exits 2 "another address than loopback needs --insecure" "$b" serve $serve_user --store "$T/s2" --listen 0.0.0.0:0
exits 2 "a listen address without port" "$b" serve $serve_user --store "$T/s2" --listen localhost
for option in listen page; do
	exits 2 "a port of --$option above 65535" timeout 20 "$b" serve $serve_user --store "$T/s2" --$option 127.0.0.1:65536
	like "$(cat "$T/err")" "^blkcast serve: $option: .* port up to 65535, got '127.0.0.1:65536'$" "is not taken modulo 65536"
done
done_testing
