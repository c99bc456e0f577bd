#!/usr/bin/env bash
# What `blkcast serve` has made durable before it acknowledges, seen from its system calls; and that
# it acknowledges nothing whose fsync failed.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
need strace "strace cannot trace a process here" strace -o /dev/null true
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/source"
seg=$T/source/segments/web1/b1/00000000000000000005
tracer=""
stop_all() { [ -z "$tracer" ] || { kill -9 "$server" "$tracer" 2>/dev/null; wait 2>/dev/null; }; }
at_exit stop_all

# start STORE STRACE-OPTION...
start() {
	local store=$1
	shift
	: >"$T/err"
	strace -f -y -o "$T/calls" "$@" "$b" serve $serve_user --store "$store" --listen 127.0.0.1:0 2>"$T/err" &
	tracer=$!
	port=$(serve_port "$T/err" $tracer)
	server=$(pgrep -P $tracer)
	url=http://127.0.0.1:$port/v1/segments
}
# end: serve ends itself, and says so by its status; a signal that killed it would leave work undone.
end() {
	kill "$server"
	wait "$tracer"
	local status=$?
	tracer=""
	is $status 0 "serve ends by itself when it is told to"
	[ $status = 0 ] || sed 's/^/# serve said: /' "$T/err"
}
put() { # FILE SEQUENCE: the status
	local hash
	hash=$(curl -sm 10 -T "$1" -H "Blkcast-Hash: 00000000000000000000000000000000" -H Expect: \
		"$url/x/y/0/0" | sed -n 's/.*got \([0-9a-f]\{32\}\) of.*/\1/p')
	curl -sm 10 -o "$T/body" -w '%{http_code}' -T "$1" -H Expect: -H "Blkcast-Hash: $hash" \
		"$url/web1/b1/5/$2"
}

start "$T/one" -e trace=fsync,fdatasync,renameat,renameat2,mkdirat,sendto,sendmsg,writev,write,syncfs
is "$(put "$seg/0000000001.seg" 1)" 201 "a segment is acknowledged"
end
order=$(sed -n -e '/fsync([0-9]*<.*\/one>)/s/.*/sync-names/p' -e '/writev([0-9]*<.*journal-/s/.*/append/p' \
	-e '/fsync([0-9]*<.*journal-/s/.*/sync-journal/p' -e '/renameat2*(.*\.seg"/s/.*/rename/p' \
	-e '/HTTP\/1.1 201/s/.*/acknowledge/p' -e '/syncfs(/s/.*/sync-all/p' "$T/calls" | tr '\n' ' ')
like "$order" '^sync-names append sync-journal rename acknowledge sync-all' \
	"journal, its sync, the file's place, the acknowledgement; all is synced before the journal goes"
is "$(find "$T/one" -name 'journal-*' | wc -l)" 0 "and none is left"

start "$T/two" -e trace=fsync,renameat2 -e inject=fsync:error=EIO:when=1+1
is "$(put "$seg/0000000001.seg" 1)" 503 "where no fsync succeeds nothing is acknowledged"
like "$(cat "$T/body")" 'Input/output error' "and the sender hears why"
end
is "$(find "$T/two/segments" -type f | wc -l)" 0 "and no file is left"

# The journal's own fsync is the third of its thread: those of two folders come before it.
start "$T/three" -e trace=fsync,renameat2 -e inject=fsync:error=ENOSPC:when=3
is "$(put "$seg/0000000001.seg" 1)" 503 "a full disk: come again"
end
start "$T/three" -e trace=fsync
is "$(put "$seg/0000000001.seg" 1)" 201 "and then it is taken"
end
is "$("$b" ls --store "$T/three" --json | jq '.hosts[0].segments')" 1 "once"

start "$T/four" -e trace=fsync,syncfs -e inject=syncfs:error=EIO:when=1+1
is "$(put "$seg/0000000001.seg" 1)" 201 "a segment is acknowledged"
end
is "$(find "$T/four" -name 'journal-*.redo' | wc -l)" 1 "where its place cannot be synced the journal stays"
: >"$T/four/segments/web1/b1/00000000000000000005/0000000001.seg"
is "$("$b" check --store "$T/four" --json | jq -r '[.findings[].problem] | unique | join(" ")')" "catalog damaged leftover" \
	"as check says"
"$b" check --store "$T/four" --repair --json >"$T/found"
is $? 0 "and repair puts back what the disk lost"
holds "as it was" cmp -s "$seg/0000000001.seg" "$T/four/segments/web1/b1/00000000000000000005/0000000001.seg"
is "$("$b" check --store "$T/four" --json | jq '.findings | length')" 0 "then all is sound"
done_testing
