#!/usr/bin/env bash
# A small cluster on loopback: PostgreSQL with a synchronous standby, Ceph's S3 gateway, two `blkcast serve` and ten
# senders. One serve is killed again and again, and a proxy before the other one loses replies after the commit.
# Everything that was acknowledged is read back through the store's interface, once each. The last note is
# "N acknowledged, 0 lost, 0 doubled". SEGMENTS and KILLS lengthen it.
. tests/support/tap.sh
need cluster "not root, or PostgreSQL, Ceph's radosgw or setpriv is missing" tests/cluster/have.sh
need jq "jq is missing" have jq
need python3 "python3 is missing" have python3
segments=${SEGMENTS:-12} kills=${KILLS:-4} requests=200 senders=10
blkcast=$BUILD/blkcast sender=$BUILD/tests/system/segment_sender
export CLUSTER_DIR=$T/engines
started=""
end_all() {
	# shellcheck disable=SC2086
	[ -z "$started" ] || kill -KILL $started 2>/dev/null
	tests/cluster/up.sh stop >/dev/null 2>&1
}
at_exit end_all

chmod 755 "$T"
tests/cluster/up.sh start >"$T/up" 2>&1 || {
	fail "the engines start" "$(tail -n 3 "$T/up")"
	done_testing
}
eval "$(tests/cluster/up.sh env)"
exits 0 "cluster init makes the schema" "$blkcast" cluster init --store "$STORE"
exits 0 "and has nothing to do when it is there" "$blkcast" cluster init --store "$STORE" --json
like "$(cat "$T/out")" "\"from_version\": $(grep -c '^-- migration ' docs/cluster.sql)" "and says so"

# serve N PORT: starts serve number N again and again on the same port
declare -A pid
serve() {
	: >"$T/serve$1"
	"$blkcast" serve $serve_user --store "$STORE" --listen "127.0.0.1:$2" --rate 100000 2>"$T/serve$1" &
	pid[$1]=$!
	started="$started $!"
	serve_port "$T/serve$1" "${pid[$1]}" >/dev/null
}
port1=$(free_port) port2=$(free_port) lossy=$(free_port)
holds "a serve fills the cluster" serve 1 "$port1"
holds "and so does a second one beside it" serve 2 "$port2"
mkdir "$T/links"
echo "lose 5" >"$T/links/lossy"
python3 tests/cluster/links.py "$T/links" "lossy:$lossy:$port2" >"$T/proxy" 2>&1 &
started="$started $!"
holds "the proxy that loses replies is ready" wait_until 10 grep -q ready "$T/proxy"

sending=""
for i in $(seq $senders); do
	to=$port1
	[ $((i % 2)) = 0 ] || to=$lossy
	"$sender" "http://127.0.0.1:$to" "host$i" "$segments" $requests "$T/log$i" 2>>"$T/senders" &
	sending="$sending $!"
	started="$started $!"
done
for _ in $(seq "$kills"); do
	sleep 0.7
	kill -KILL "${pid[1]}" 2>/dev/null
	wait "${pid[1]}" 2>/dev/null
	serve 1 "$port1" || fail "serve starts again after a kill" "$(tail -n 2 "$T/serve1")"
done
# shellcheck disable=SC2086
wait $sending
is "$?" 0 "every sender had all of its segments acknowledged"
is "$(grep -c . "$T/senders")" 0 "the senders were told of nothing but unavailability"

# The same again, to both, from the first segment on: nothing is stored twice.
for i in 1 2; do
	"$sender" "http://127.0.0.1:$port1" "host$i" "$segments" $requests "$T/again$i" 2>>"$T/senders" &
	again[i]=$!
done
wait "${again[@]}"
is "$(awk '$6 == 1' "$T"/again* | wc -l)" 0 "a replay of what was acknowledged stores nothing"
# The same names with other contents, at the serve that did not take them first.
"$sender" "http://127.0.0.1:$port2" host2 1 $((requests + 1)) "$T/conflict" 2>"$T/conflicts" &
other=$!
wait_until 20 grep -q "^segment_sender: 409 " "$T/conflicts"
is "$?" 0 "another content under a stored name is refused with 409 by the other serve"
kill $other
wait $other 2>/dev/null

# A killed serve may have held the lease, and this test does not wait until it ends.
tests/cluster/up.sh psql 0 "DELETE FROM blkcast.lease"
kill "${pid[1]}" && wait "${pid[1]}"
serve 1 "$port1"
compacted() { [ "$(tests/cluster/up.sh psql 0 "SELECT count(*) FROM blkcast.bundle WHERE generation > 0")" != 0 ]; }
holds "serve joins small objects by itself" wait_until 20 compacted
for i in 1 2; do kill "${pid[$i]}" && wait "${pid[$i]}"; done
exits 0 "what was acknowledged is read back with its hash" "$sender" --verify "$STORE" "$T"/log* "$T"/again*
acknowledged=$(sed -n 's/ acknowledged.*//p' "$T/out") lost=$(sed -n 's/.* \([0-9]*\) not kept.*/\1/p' "$T/out")
stored=$(sed -n 's/.* \([0-9]*\) in the store.*/\1/p' "$T/out")
names=$(cut -d ' ' -f 1-4 "$T"/log* "$T"/again* | sort -u | wc -l)
is "$stored" "$names" "the store holds each of them once"
exits 0 "dump reads all of it" "$blkcast" dump --store "$STORE" --format csv
is "$(($(wc -l <"$T/out") - 1))" $((names * requests)) "each request comes once"
exits 0 "check finds catalog and objects in agreement" "$blkcast" check --store "$STORE" --json
like "$(cat "$T/out")" "\"findings\": \[\]" "without a finding"
exits 0 "ls lists the hosts" "$blkcast" ls --store "$STORE"
is "$(grep -c '^host' "$T/out")" $senders "every one of them"
exits 0 "characterize works on the cluster" "$blkcast" characterize --store "$STORE" --host host3
# The guide's commands that need neither certificates nor a file of the reader's; its host and times are ours.
while read -r line; do
	command=${line//web1/host3}
	command=$(sed 's/ --begin [^ ]*//; s/ --end [^ ]*//' <<<"$command")
	exits 0 "docs/guide/fleet.md: $line" env PATH="$(cd "$BUILD" && pwd):$PATH" STORE="$STORE" bash -c "$command"
done < <(sed -nE 's/^    (blkcast (cluster|ls|characterize|check) .*"\$STORE".*)/\1/p' docs/guide/fleet.md)

acknowledged_all=$stored
exits 0 "retain summarizes the requests of the cluster" \
	"$blkcast" retain --store "$STORE" --retain-requests 1d --retain-window 1h --json
is "$(jq .segments "$T/out")" "$acknowledged_all" "of every segment"
exits 0 "check finds the summaries whole" "$blkcast" check --store "$STORE" --json
is "$(jq .retention.summarized_requests "$T/out")" $((names * requests)) "with the count of all requests"
is "$(tests/cluster/up.sh psql 0 "SELECT count(*) FROM blkcast.bundle")" 0 "and no bundle is left"
exits 1 "a question for a host that is not there yet waits for it" "$blkcast" ask late1 --store "$STORE"
exits 0 "a question for a host makes its period longer" "$blkcast" ask host1 --store "$STORE" --minutes 5
exits 0 "and never shorter" "$blkcast" ask host1 --store "$STORE" --minutes 3 --json
is "$(jq -c '[.begin_s <= -300, .end_s >= 298, .known]' "$T/out")" "[true,true,true]" "as it says"
serve 1 "$port1"
"$BUILD/tests/system/agent_sender" "http://127.0.0.1:$port1" "$T/asked" late1 10 100 60 hindsight=2000 interval_ms=250 \
	>"$T/out"
is "$(cat "$T/out")" "captured 1000 lost 0 left 0" "any serve tells the agent, and everything is acknowledged"
"$blkcast" export -f segments --store "$STORE" --host late1 -o "$T/late.seg" 2>/dev/null
late=$("$blkcast" ls --store "$STORE" --host late1 --json | jq '[.. | .requests? | numbers] | max')
number "$late >= 100 && $late <= 1000" "and the requests that were asked for are there"
printf 'policies:\n  - {tenant: acme, hosts: [acme*], keep: never}\n' >"$T/policies"
exits 0 "a policy is stated for all serves" "$blkcast" policy "$T/policies" --store "$STORE"
exits 0 "status shows it" "$blkcast" cluster status --store "$STORE"
like "$(cat "$T/out")" 'policy of acme .acme\*.: no requests are sent' "in words"
wait_until 20 grep -q 'policies of 1 tenants are in force' "$T/serve1"
"$BUILD/tests/system/agent_sender" "http://127.0.0.1:$port1" "$T/policy" acme1 5 10 60 >"$T/out"
is "$(cat "$T/out")" "captured 50 lost 0 left 0" "an agent hears of it by any serve"
is "$("$blkcast" ls --store "$STORE" --host acme1 --json | jq -c '[.. | objects | select(has("captured")) | .captured, .kept_back]')" \
	"[10,40]" "and keeps back the requests that nobody wants"
"$sender" "http://127.0.0.1:$port1" host1 2 $requests "$T/late" 2>>"$T/senders"
is "$(cut -d ' ' -f 6 "$T/late" | tr '\n' ' ')" "0 0 " "a late retry of what is only summarized is acknowledged and not stored"
# Values that a database could refuse. Nobody has stored anything of the days of the last two, but profiles of these
# days are there.
mkdir "$T/odd_segments"
"$BUILD/tests/system/odd_segments" "$T/odd_segments" $(($(date +%s) / 86400)) >"$T/odd_list"
while read -r host boot epoch sequence hash file what; do
	is "$(curl -sm 30 -o "$T/body" -w '%{http_code}' -T "$file" -H Expect: -H "Blkcast-Hash: $hash" \
		"http://127.0.0.1:$port1/v1/segments/$host/$boot/$epoch/$sequence")" 201 "the catalog takes $what"
done <"$T/odd_list"
# Segments whose values the database does not take come all the time, and so in the bundles of other senders.
tests/cluster/up.sh psql 0 "CREATE FUNCTION blkcast.refuse() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN RAISE EXCEPTION ''out of range'' USING ERRCODE = ''22003''; END';
	CREATE TRIGGER refuse BEFORE INSERT ON blkcast.host FOR EACH ROW WHEN (NEW.host LIKE 'odd%') EXECUTE FUNCTION blkcast.refuse()"
odd=""
for i in 1 2 3 4; do
	"$sender" "http://127.0.0.1:$port1" "odd$i" 1 $requests "$T/odd" 2>>"$T/senders" &
	odd="$odd $!"
	started="$started $!"
done
exits 0 "segments that the database refuses keep out no others" timeout 60 "$sender" "http://127.0.0.1:$port1" beside 3 $requests "$T/beside"
is "$(wc -l <"$T/beside") $(wc -l <"$T/odd")" "3 0" "which are acknowledged, and they are not"
is "$(sed -n 's/^segment_sender: 422 .*"\(odd[1-4]\)\/.*: the catalog cannot hold its values: .*out of range.*/\1/p' "$T/senders" | sort -u | wc -l)" 4 \
	"but refused for good, each with the reason"
# shellcheck disable=SC2086
kill $odd
# A serve that loses its connections while the catalog becomes a newer one stores nothing, and its senders keep all.
whole=tests/golden/cluster-2/a497fda04454fa9f-1.seg
at=http://127.0.0.1:$port1/v1/segments/old/import-7248678e3d023c460d05c5811b669f8e/1767225602000000000/0
put() { curl -sm 30 -o "$T/body" -w '%{http_code}' -T $whole -H Expect: -H "Blkcast-Hash: $1" "$at"; }
put 00000000000000000000000000000000 >"$T/out"
hash=$(sed -n 's/.*got \([0-9a-f]\{32\}\) of.*/\1/p' "$T/body")
tests/cluster/up.sh psql 0 "INSERT INTO blkcast.version VALUES (99);
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'blkcast'" >"$T/out"
# A connection may end a moment after PostgreSQL was asked to end it.
codes=""
for _ in 1 2 3; do
	codes=$codes$(put "$hash")
	grep -q "version 99" "$T/body" && break
done
is "${codes//503/}" "" "a serve of an earlier version asks its senders to wait"
like "$(cat "$T/body")" 'version 99.*newer blkcast' "and says why"
tests/cluster/up.sh psql 0 "DELETE FROM blkcast.version WHERE version = 99"
is "$(put "$hash")" 201 "with the catalog's version its own it stores"
kill "${pid[1]}" && wait "${pid[1]}"

exits 2 "a host's database that does not exist is bad input" \
	"$blkcast" ls --store "$(echo "$STORE" | sed 's,/blkcast?,/nosuch?,')"
like "$(cat "$T/err")" 'nosuch' "and the line names it"
is "$(wc -l <"$T/err")" 1 "in one line"
printf 'ACCESS\nWRONG\n' >"$T/wrong"
exits 1 "wrong keys of the object store fail" \
	"$blkcast" cluster init --store "$(echo "$STORE" | sed "s,keys=.*,keys=$T/wrong,")"
like "$(cat "$T/err")" 'refuses the keys' "and the line says so"
exits 1 "so does a bucket that is not there" \
	"$blkcast" cluster init --store "$(echo "$STORE" | sed 's,/traces&,/nobucket\&,')"
like "$(cat "$T/err")" 'no such bucket' "and the line says so"
tests/cluster/up.sh psql 0 "INSERT INTO blkcast.version VALUES (99)"
exits 2 "a newer schema is refused" "$blkcast" ls --store "$STORE"
like "$(cat "$T/err")" 'version 99.*newer blkcast' "and the line says what to do"
tests/cluster/up.sh psql 0 "DELETE FROM blkcast.version WHERE version = 99"
note "$acknowledged acknowledged, $lost lost, $((stored - names)) doubled"
done_testing
