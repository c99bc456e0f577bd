#!/usr/bin/env bash
# Every command on a cluster answers with the same bytes as on a folder with the same segments, before and after
# compaction. Compaction is fenced, leaves damaged segments where they are, and survives being killed. Faults of the
# cluster's parts are told in one line each.
. tests/support/tap.sh
need cluster "not root, or PostgreSQL, Ceph's radosgw or setpriv is missing" tests/cluster/have.sh
need jq "jq is missing" have jq
faketime=$(ls /usr/lib/*/faketime/libfaketime.so.1 2>/dev/null | head -n 1)
need faketime "libfaketime is missing" test -n "$faketime"
blkcast=$BUILD/blkcast
export CLUSTER_DIR=$T/engines
end_engines() { tests/cluster/up.sh stop >/dev/null 2>&1; }
at_exit end_engines
chmod 755 "$T"
tests/cluster/up.sh start >"$T/up" 2>&1 || {
	fail "the engines start" "$(tail -n 3 "$T/up")"
	done_testing
}
eval "$(tests/cluster/up.sh env)"
sql() { tests/cluster/up.sh psql 0 "$1"; }
keys=$CLUSTER_DIR/keys
# s3 METHOD KEY [CURL'S OPTIONS]: a request that blkcast did not make
s3() {
	curl -sf -X "$1" --aws-sigv4 aws:amz:us-east-1:s3 --user "$(paste -sd: "$keys")" -H \
		"x-amz-content-sha256: UNSIGNED-PAYLOAD" "$S3_URL/$2" "${@:3}"
}
exits 0 "cluster init makes the schema" "$blkcast" cluster init --store "$STORE"

# Two hosts, and a third whose trace another program recorded.
"$BUILD/tests/system/sample_store" "$T/made"
"$blkcast" export -f segments --store "$T/made" -o "$T/all.seg" 2>/dev/null
seq 1 400 | awk 'BEGIN { print "time,offset,size,op" } { print $1 * 0.001 "," ($1 * 7919 % 9973) * 4096 ",4096," ($1 % 3 ? "R" : "W") }' >"$T/other.csv"
imported=(--map time=1:s,offset=2:bytes,size=3,op=4 --host other --device sdc --begin 2026-01-01T00:00:02 --utc)
for s in "$T/folder" "$STORE"; do
	exits 0 "import of segments into ${s%%:*}" "$blkcast" import --store "$s" "$T/all.seg"
	exits 0 "import of another program's trace" "$blkcast" import --store "$s" "${imported[@]}" "$T/other.csv"
	exits 0 "import of the same again" "$blkcast" import --store "$s" "$T/all.seg"
	like "$(cat "$T/out" "$T/err")" " 0 segments stored" "stores nothing"
done

# each COMMAND...: what it prints for the folder is what it prints for the cluster. STORE stands for the store, OUT for a file.
answers() {
	local where=$1 name=$2
	shift 2
	SOURCE_DATE_EPOCH=1790000000 "${@//STORE/"$name"}" >"$T/$where.out" 2>"$T/$where.err"
	echo "exit status $?" >>"$T/$where.out"
	[ ! -e "$T/made.file" ] || mv "$T/made.file" "$T/$where.file"
	FROM="$T/folder" TO=$STORE perl -pi -e 's/\Q$ENV{FROM}\E|\Q$ENV{TO}\E/STORE/g; s/\Q@{[$ENV{TO} =~ s,&,&amp;,gr]}\E/STORE/g; s/\x27STORE\x27/STORE/g' "$T/$where".*
}
each() {
	rm -f "$T"/{folder,cluster}.{out,err,file}
	answers folder "$T/folder" "${@//OUT/$T/made.file}"
	answers cluster "$STORE" "${@//OUT/$T/made.file}"
	like "$(tail -n 1 "$T/folder.out")" "status [01]$" "$* does what it is asked to"
	holds "$when, the cluster answers $*" cmp "$T/folder.out" "$T/cluster.out"
	[ ! -e "$T/folder.file" ] || holds "with the same file" cmp "$T/folder.file" "$T/cluster.file"
	is "$(grep -v 'were checked when' "$T/cluster.err")" "$(grep -v 'were checked when' "$T/folder.err")" "and the same remarks"
}
b=$blkcast when="as received"
each "$b" ls --store STORE --utc
each "$b" ls --store STORE --json
each "$b" characterize --store STORE --json
each "$b" characterize --store STORE --host web1 --device sda --window 1s --json
each "$b" characterize --store STORE --together --json
each "$b" characterize --store STORE --begin 2026-01-01T00:00:01 --end 2026-01-01T00:00:03 --utc
each "$b" report --store STORE --host db1 --utc -o OUT
each "$b" report --store STORE --host db1 --figure heatmap --csv --utc
each "$b" dump --store STORE --format csv
each "$b" dump --store STORE --profiles
each "$b" export -f segments --store STORE -o OUT
each "$b" export -f csv --store STORE -o OUT
each "$b" export -f blkparse --store STORE --host web1 --device sda -o OUT
each "$b" export -f fio-iolog --store STORE --host other -o OUT
each "$b" compare --host web1 STORE STORE
each "$b" compare --host db1 STORE "$T/made" --json
each "$b" study cache STORE --json
each "$b" check --store STORE --json

is "$(sql "SELECT count(*) FROM blkcast.bundle")" 8 "imported segments lie in objects of their own"
exits 0 "compact joins them" "$blkcast" cluster compact --store "$STORE" --json
is "$(jq -c '.compaction | [.segments, .joined_objects, .written_objects, .left_out_segments]' "$T/out")" "[8,8,1,0]" "all of them in one object"
is "$(sql "SELECT count(*) FROM blkcast.garbage WHERE after > now() + interval '50 minutes'")" 8 "the old objects wait an hour"
is "$(sql "SELECT string_agg(t.host || ' ' || s.sequence, ', ' ORDER BY s.at) FROM blkcast.segment s JOIN blkcast.stream t ON t.id = s.stream")" \
	"db1 0, db1 1, db1 3, other 0, web1 0, web1 1, web1 2, web1 3" "it is sorted by host and time"
exits 0 "compact again" "$blkcast" cluster compact --store "$STORE" --json
is "$(jq -c '.compaction | [.segments, .written_objects, .deleted_objects]' "$T/out")" "[0,0,0]" "has nothing to do"
sql "UPDATE blkcast.garbage SET after = now() - interval '1 second'"
exits 0 "once the hour is over" "$blkcast" cluster compact --store "$STORE" --json
is "$(jq .compaction.deleted_objects "$T/out")" 8 "the old objects are deleted"
when=compacted
each "$blkcast" ls --store STORE --json
each "$blkcast" characterize --store STORE --json
each "$blkcast" dump --store STORE --format csv
each "$blkcast" export -f segments --store STORE -o OUT
each bash -c "'$blkcast' check --store 'STORE' --json | jq 'del(.files)'" # objects are fewer than files
exits 0 "a late retry of compacted segments is acknowledged" "$blkcast" import --store "$STORE" "$T/all.seg"
like "$(cat "$T/out" "$T/err")" " 0 segments stored" "and not stored again"

# Every query of the shipped dashboard answers from the catalog, for the role that docs/guide/fleet.md makes for it.
dashboard=scripts/package/monitoring/blkcast-cluster.dashboard.json
"$b" characterize --store "$T/folder" --host web1 --device sda --json 2>/dev/null |
	jq -c 'if type == "array" then .[0] else . end' >"$T/profile.json"
"$BUILD/tests/system/fleet_store" "$T/windows" "$T/profile.json" 3 4 "$(date +%s)"
"$b" export -f segments --store "$T/windows" -o "$T/windows.seg" 2>/dev/null
exits 0 "segments with profiles of windows are stored" "$b" import --store "$STORE" "$T/windows.seg"
is "$(sql "SELECT count(*) FROM blkcast.profile WHERE end_at > now() - interval '1 hour' AND requests_per_s > 0 AND read_mean_s > 0 AND read_p99_s >= read_p50_s AND sequential_ratio >= 0 AND in_flight_mean > 0")" 12 \
	"the catalog has their rates, means, percentiles, sequential share and requests in flight"
is "$(sql "SELECT count(*) FROM ONLY blkcast.profile_other")" 0 "in a partition for each day"
"$BUILD/tests/system/fleet_store" "$T/far" "$T/profile.json" 4 1 10000000000
rm -r "$T"/far/segments/guest0000[0-2]
"$b" export -f segments --store "$T/far" -o "$T/far.seg" 2>/dev/null
exits 0 "a segment whose window lies beyond the year 2262 is stored" "$b" import --store "$STORE" "$T/far.seg"
is "$(sql "SELECT count(*) FROM blkcast.profile WHERE host = 'guest00003'")" 0 "without a row for that window"
while read -r line; do sql "${line# *}"; done < <(sed -n 's/^    \(\(CREATE ROLE\|GRANT\|INSERT\).*\(grafana\|acme\)[^;]*;\).*/\1/p' docs/guide/fleet.md)
from=$(date -u -d '-1 hour' +%Y-%m-%dT%H:%M:%SZ) to=$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)
jq -r '(.templating.list[] | select(.type == "query") | ["hosts", .query]), (.panels[] | .title as $t | .targets[] | [$t, .rawSql]) | @tsv' $dashboard >"$T/queries"
number "$(wc -l <"$T/queries") >= 20" "the dashboard asks for something"
while IFS=$'\t' read -r title query; do
	# Grafana's own words
	query=$(sed -E "s/\\\$__timeGroup\(([a-z_]+), \\\$__interval\)/to_timestamp(floor(extract(epoch FROM \1) \/ 60) * 60)/g
		s/\\\$__timeFilter\(([a-z_]+)\)/\1 BETWEEN '$from' AND '$to'/g; s/\\\$__timeFrom\(\)/timestamptz '$from'/g
		s/\\\$__timeTo\(\)/timestamptz '$to'/g; s/\\\$host/SELECT host FROM blkcast.host/g" <<<"$query")
	rows=$(sql "SET ROLE grafana; $query" 2>"$T/err" | wc -l)
	is "$(cat "$T/err")" "" "the database takes the query of '$title'"
	case $title in
	Losses | "Missing segments" | "Silent hosts") ;;
	*) number "$rows > 0" "and has an answer" ;;
	esac
done <"$T/queries"
# A role sees the rows of its own hosts only, whichever way it asks.
hosts=$(sql "SELECT count(*) FROM blkcast.host")
sql "DELETE FROM blkcast.reader WHERE role = 'acme'; INSERT INTO blkcast.reader VALUES ('acme', 'web*')"
as() { sql "SET ROLE $1; $2" 2>&1; }
is "$(as grafana "SELECT count(*) FROM blkcast.host")" "$hosts" "the dashboard's role sees every host"
is "$(as acme "SELECT string_agg(host, ' ') FROM blkcast.host")" web1 "the role of a tenant sees its host alone"
mine="FROM blkcast.stream t WHERE t.host LIKE 'web%'"
for q in "SELECT count(*) FROM blkcast.stream|SELECT count(*) $mine" \
	"SELECT count(*) FROM blkcast.segment|SELECT count(*) FROM blkcast.segment WHERE stream IN (SELECT id $mine)" \
	"SELECT count(*) FROM blkcast.watermark|SELECT count(*) $mine" \
	"SELECT count(*) FROM blkcast.loss|SELECT count(*) FROM blkcast.loss WHERE host LIKE 'web%'" \
	"SELECT count(*) FROM blkcast.profile|SELECT count(*) FROM blkcast.profile WHERE host LIKE 'web%'"; do
	is "$(as acme "${q%|*}")" "$(sql "${q#*|}")" "so does ${q%|*}"
done
number "$(sql "SELECT count(*) FROM blkcast.profile") > 0" "while there are profiles of other hosts"
for t in $(sql "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent IN ('blkcast.segment'::regclass, 'blkcast.profile'::regclass)") \
	blkcast.bundle blkcast.garbage blkcast.lease; do
	sql "GRANT SELECT ON $t TO acme"
	is "$(as acme "SELECT count(*) FROM $t")" 0 "and nothing of $t"
done
is "$(as acme "SELECT count(*) FROM blkcast.reader WHERE role <> 'acme'")" 0 "nor what others may see"
like "$(as acme "INSERT INTO blkcast.reader VALUES ('acme', '*')")" "permission denied" "and cannot give itself more"
sql "CREATE SCHEMA trick AUTHORIZATION acme"
as acme "CREATE FUNCTION trick.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
is "$(as acme "SET search_path = trick, pg_catalog; SELECT count(*) FROM blkcast.host")" 1 "nor by functions of its own"
sql "DELETE FROM blkcast.reader WHERE role = 'acme'"
is "$(as acme "SELECT count(*) FROM blkcast.host")" 0 "without a row a role sees nothing"
is "$(jq -r '[.panels[].id] | length == (unique | length)' $dashboard)" true "panels have ids of their own"
sql "SELECT blkcast.forget(host, boot_id, epoch, sequence) FROM blkcast.segment s JOIN blkcast.stream t ON t.id = s.stream WHERE s.source = 4" >/dev/null

# The catalog may change only for the newest holder of the lease.
old=$(sql "SELECT blkcast.take_lease('keep', 'first', 600)")
exits 1 "while another process compacts, compact gives up" "$blkcast" cluster compact --store "$STORE"
like "$(cat "$T/err")" "another pass of retention or compaction is under way: first" "and names it"
sql "UPDATE blkcast.lease SET until = now() - interval '1 second' WHERE name = 'keep'"
number "$(sql "SELECT blkcast.take_lease('keep', 'second', 600)") > $old" "the next holder gets a newer token"
for who in "first $old" "second $old"; do
	said=$(sql "SELECT blkcast.compact(jsonb_build_object('holder', '${who% *}', 'token', ${who#* }, 'key', 'bundles/x', 'bytes', 1, 'sha256', '00', 'generation', 1, 'day', '2026-01-01', 'segments', (SELECT jsonb_agg(jsonb_build_array(stream, sequence, bundle, 0, day)) FROM blkcast.segment)))" 2>&1)
	like "$said" "the lease keep went to another process" "with the old token, holder ${who% *} changes nothing"
done
is "$(sql "SELECT count(*) FROM blkcast.bundle WHERE key = 'bundles/x'")" 0 "and leaves nothing behind"
sql "DELETE FROM blkcast.lease"

# add N: N more segments of another epoch each, in objects of their own
added=0
add() {
	local i
	for i in $(seq "$1"); do
		added=$((added + 1))
		"$blkcast" import --store "$STORE" "${imported[@]}" --host "extra$added" "$T/other.csv" >/dev/null 2>&1
		"$blkcast" import --store "$T/folder" "${imported[@]}" --host "extra$added" "$T/other.csv" >/dev/null 2>&1
	done
}
same_requests() {
	"$blkcast" dump --store "$T/folder" --format csv >"$T/want" 2>/dev/null
	"$blkcast" dump --store "$STORE" --format csv >"$T/got" 2>"$T/err" && cmp "$T/want" "$T/got"
}
# Compaction that is killed at any moment changes nothing or all of a step.
for after in 0.05 0.15 0.3; do
	add 2
	"$blkcast" cluster compact --store "$STORE" >/dev/null 2>&1 &
	sleep $after
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
	sql "DELETE FROM blkcast.lease"
	holds "killed after $after s, compaction lost and doubled nothing" same_requests
done
exits 0 "compact goes on after that" "$blkcast" cluster compact --store "$STORE"
holds "and keeps every request" same_requests
number "$(sql "SELECT count(*) FROM blkcast.bundle") <= 2" "in few objects"
exits 0 "catalog and objects agree" "$blkcast" check --store "$STORE"

# A reader that began before compaction goes on after the objects that it knows were deleted. The pipe holds less than
# one host's output, and a host is read when its time comes.
awk 'BEGIN { print "time,offset,size,op"; for (i = 0; i < 3000; i++) print i / 1e3 "," i * 7919 % 9973 * 4096 ",4096," (i % 3 ? "R" : "W") }' >"$T/long.csv"
for s in "$T/folder" "$STORE"; do
	for i in 1 2 3; do
		"$b" import --quiet --store "$s" "${imported[@]}" --host "late$i" --begin "2026-01-02T0$i:00" "$T/long.csv" >/dev/null
	done
done
"$b" dump --store "$T/folder" --host late1,late2,late3 --format csv >"$T/want" 2>/dev/null
"$b" dump --store "$STORE" --host late1,late2,late3 --format csv 2>"$T/err" | {
	head -c 1000 >"$T/got"
	for _ in 1 2; do
		"$b" cluster compact --store "$STORE" --json
		sql "UPDATE blkcast.garbage SET after = now() - interval '1 second'"
	done >"$T/out"
	cat >>"$T/got"
}
number "$(jq -s '.[1].compaction.deleted_objects' "$T/out") >= 3" "while somebody reads, compaction moves segments and deletes the old objects"
holds "and the reader finds them where they are now" cmp "$T/want" "$T/got"

is "$(sql "SELECT count(*) FROM blkcast.lease WHERE name = 'fence'")" 1 "the sweep committed before it read the names"

# An object without a row is an orphan once it is a day old by the object store's clock, whatever this machine's says.
echo orphan >"$T/orphan"
s3 PUT bundles/20260101/0000000000000000-1.seg --data-binary @"$T/orphan"
exits 0 "a sweep with a young orphan" "$blkcast" cluster compact --store "$STORE" --json
is "$(jq .compaction.deleted_orphans "$T/out")" 0 "leaves it, since its commit may be under way"
holds "so that it is still there" s3 GET bundles/20260101/0000000000000000-1.seg -o "$T/back"

# A catalog never takes what another one wrote in the same bucket for an orphan.
tests/cluster/up.sh psql 0 "CREATE DATABASE second OWNER blkcast"
second=${STORE/\/blkcast\?//second?}
first_id=$(sql "SELECT id FROM blkcast.version WHERE version = 1")
exits 1 "cluster init of a second catalog on the same bucket fails" "$blkcast" cluster init --store "$second"
like "$(cat "$T/err")" "$S3_URL/owner: the bucket belongs to catalog $first_id" "and names the first one"
exits 1 "the second catalog sweeps nothing" "$blkcast" cluster compact --store "$second"
like "$(cat "$T/err")" "$S3_URL/owner: the bucket belongs to catalog $first_id" "and names the first one"
exits 1 "check of the second catalog ends with exit status 1" "$blkcast" check --store "$second" --json
is "$(jq -r '[.findings[].path] | join(" ")' "$T/out")" owner "with the owner as its only finding"
s3 DELETE owner
exits 1 "without an owner nothing is swept" "$blkcast" cluster compact --store "$STORE"
like "$(cat "$T/err")" "$S3_URL/owner: the object is missing.*cluster init" "and the line says what to do"
exits 0 "cluster init claims the bucket again" "$blkcast" cluster init --store "$STORE"
is "$(s3 GET owner)" "$first_id" "for the catalog that it is called for"
exits 0 "so that compact sweeps again" "$blkcast" cluster compact --store "$STORE"
exits 0 "and check does not take the owner for an orphan" "$blkcast" check --store "$STORE" --json
is "$(jq -c .findings "$T/out")" "[]" "nor for anything else"

# A cluster that an earlier version made is brought up to date, and its data are read. Migrations never change.
golden=tests/golden/cluster-2
migration() { sed -n "/^-- migration $1\$/,/^INSERT INTO blkcast.version VALUES ($1);\$/p" docs/cluster.sql; }
last=$(grep -c '^-- migration ' docs/cluster.sql)
is "$(for v in $(seq "$last"); do migration "$v" | sha256sum | cut -c1-64; done)" "$(cat tests/golden/cluster-migrations)" \
	"every migration is what it was, and a new one is noted in tests/golden/cluster-migrations"
older=$(sed 's,/blkcast?,/older?,; s,/traces&,/traces/older\&,' <<<"$STORE")
ask() { tests/cluster/up.sh psql 0 "SET ROLE $2; $3" "$1" 2>&1; }
sql "CREATE ROLE sees; CREATE ROLE tenant; CREATE ROLE viewer"
grants="GRANT USAGE ON SCHEMA blkcast TO sees, tenant, viewer; GRANT SELECT ON blkcast.profile TO sees;
	GRANT SELECT ON blkcast.watermark TO viewer;
	INSERT INTO blkcast.profile(day, host, device, device_name, begin_at, end_at, grade, lost)
	VALUES ('0001-01-01', 'old', '8:0', 'sda', '2026-01-01', '2026-01-01', 'A', 0)"
for from in 2 4; do
	sql "CREATE DATABASE older$from OWNER blkcast"
	is "$(ask older$from blkcast "$(migration 1) $(migration 2) $(cat $golden/cluster-2-data.sql) $grants" | grep -i error)" "" \
		"a catalog of version 2 is made with its data"
done
is "$(ask older4 blkcast "$(migration 3) $(migration 4) GRANT SELECT ON blkcast.profile, blkcast.watermark TO tenant;
	INSERT INTO blkcast.reader VALUES ('tenant', 'old2')" | grep -i error)" "" "and one of version 4"
exits 0 "cluster init brings version 4 up to date" "$blkcast" cluster init --store "${older//older/older4}" --json
like "$(cat "$T/out")" '"from_version": 4' "from its version"
for f in $golden/*.seg; do s3 PUT "older4/bundles/20261123/${f##*/}" --data-binary @"$f"; done
exits 0 "its segments are read" "$blkcast" dump --store "${older//older/older4}" --format csv
is "$(wc -l <"$T/out")" 101 "every request of them"
is "$(ask older4 sees "SELECT host FROM blkcast.profile")" old "a role that was given one table reads it"
is "$(ask older4 tenant "SELECT count(*) FROM blkcast.profile")" 0 "the role of another host reads none of it"
is "$(ask older4 tenant "SELECT host FROM blkcast.watermark")" old2 "and a view shows it its own"
sql "ALTER DATABASE older2 RENAME TO older"
for f in $golden/*.seg; do s3 PUT "older/bundles/20261123/${f##*/}" --data-binary @"$f"; done
exits 2 "a cluster of an earlier version is not read as it is" "$blkcast" ls --store "$older"
like "$(cat "$T/err")" "version 2 .*cluster init" "and the line says what to do"
# A writer that has locked rows of bundle and then wants those of a host, as the functions of the catalog do.
tests/cluster/up.sh psql 0 "BEGIN; UPDATE blkcast.bundle SET made = made; SELECT pg_sleep(4);
	UPDATE blkcast.host SET last_seen = last_seen; COMMIT" older >"$T/writer" 2>&1 &
writer=$!
wait_until 20 sh -c "[ \"\$(tests/cluster/up.sh psql 0 \"SELECT count(*) FROM pg_stat_activity WHERE datname = 'older' AND wait_event = 'PgSleep'\")\" = 1 ]"
exits 0 "cluster init brings it up to date while somebody writes" "$blkcast" cluster init --store "$older" --json
like "$(cat "$T/out")" '"from_version": 2' "from its version"
wait $writer
is "$? $(cat "$T/writer")" "0 " "and the writer is not disturbed"
exits 0 "its segments are read" "$blkcast" dump --store "$older" --format csv
is "$(wc -l <"$T/out")" 101 "every request of them"
exits 0 "and check finds it whole" "$blkcast" check --store "$older"
exits 0 "new segments are stored in it" "$blkcast" import --store "$older" "${imported[@]}" "$T/other.csv"
cat $golden/*.seg >"$T/older.seg"
exits 0 "and those that it has" "$blkcast" import --store "$older" "$T/older.seg"
like "$(cat "$T/out" "$T/err")" " 0 segments stored" "are not stored again"
is "$(tests/cluster/up.sh psql 0 "SELECT string_agg(role || ' ' || host, ', ' ORDER BY role) FROM blkcast.reader" older)" \
	"sees *, viewer *" "who could read is noted, also who could read a view alone"
is "$(ask older sees "SELECT host FROM blkcast.profile")" old "and goes on reading"
is "$(ask older viewer "SELECT DISTINCT host FROM blkcast.watermark ORDER BY 1" | head -n 1)" old "so does the other"
# Somebody else runs the last migration at the same moment: init reads the old version, and comes second.
# What the last migration makes is undone before.
tests/cluster/up.sh psql 0 "DELETE FROM blkcast.version WHERE version = $last; DROP TABLE blkcast.policy" older
tests/cluster/up.sh psql 0 "BEGIN; $(migration "$last") SELECT pg_sleep(1.5); COMMIT" older >"$T/writer" 2>&1 &
writer=$!
wait_until 20 sh -c "[ \"\$(tests/cluster/up.sh psql 0 \"SELECT count(*) FROM pg_stat_activity WHERE datname = 'older' AND wait_event = 'PgSleep'\")\" = 1 ]"
exits 0 "cluster init that comes second succeeds" "$blkcast" cluster init --store "$older"
wait $writer
is "$? $(cat "$T/writer")" "0 " "and so does the first"
is "$(tests/cluster/up.sh psql 0 "SELECT count(*) FROM blkcast.version" older)" "$last" "each migration ran once"

# take KEY LIMITS "SEQUENCE HASH"...: the verdicts on a bundle of segments of 10 bytes of one stream, in their order
take() {
	local segments="" i=0 s
	for s in "${@:3}"; do
		segments="$segments${segments:+,}{\"i\":$i,\"host\":\"judged\",\"boot_id\":\"b\",\"epoch\":1,\"sequence\":${s% *},
			\"hash\":\"${s#* }\",\"at\":0,\"bytes\":10,\"requests\":1,\"captured\":1,\"untimed\":0,\"source\":1,\"layer\":0,
			\"anchors\":[1,2,3,4,5,6],\"first_real\":1,\"last_real\":2,\"devices\":[],\"losses\":[],\"profiles\":[]}"
		i=$((i + 1))
	done
	tests/cluster/up.sh psql 0 "SELECT string_agg(verdict::text, ' ' ORDER BY i) FROM blkcast.take('{\"key\": \"bundles/$1\",
		\"bytes\": 1, \"sha256\": \"00\", $2, \"segments\": [$segments]}')" older
}
free='"host_bytes": 0, "host_segments": 0'
is "$(take 1 "$free" "0 aa" "1 bb" "3 cc")" "0 0 0" "new segments are stored"
is "$(take 2 "$free" "0 aa" "1 b1" "2 dd" "2 dd" "2 d1")" "1 2 0 1 2" "known ones are repeats or conflicts, also within a bundle"
is "$(take 3 '"host_bytes": 65, "host_segments": 0' "4 aa" "5 aa" "6 aa" "6 aa" "0 aa")" "0 0 3 3 1" "a quota of bytes holds"
is "$(take 4 '"host_bytes": 0, "host_segments": 7' "6 aa" "7 aa" "7 ab" "5 aa")" "0 4 4 1" "and so does one of the day"
is "$(tests/cluster/up.sh psql 0 "SELECT t.taken, t.commits, h.bytes, h.segments_of_day FROM blkcast.stream t
	JOIN blkcast.host h USING (host) WHERE host = 'judged'" older)" "{[0,7)}|4|70|7" "host and stream count what was stored"

# A bundle whose row counts too many segments is tried once a day, not without end.
add 2
sql "UPDATE blkcast.bundle SET segments = segments + 1 WHERE id IN (SELECT id FROM blkcast.bundle ORDER BY id DESC LIMIT 2)"
exits 0 "compact with counts that are too high ends" timeout 60 "$blkcast" cluster compact --store "$STORE"
is "$(sql "SELECT count(*), bool_and(used_bytes = 0) FROM blkcast.bundle WHERE compact_after > now() + interval '23 hours'")" \
	"2|t" "and puts these bundles off for a day"
"$blkcast" check --store "$STORE" --repair >/dev/null 2>&1
holds "all requests are there" same_requests

# A segment that was known when the bundle was written, and was forgotten before the commit, has no bytes in it.
said=$(sql "SELECT blkcast.take('{\"key\": \"bundles/y\", \"bytes\": 5, \"sha256\": \"00\", \"segments\": [{\"i\": 0, \"host\": \"gone\", \"boot_id\": \"b\", \"epoch\": 0, \"sequence\": 0, \"hash\": \"00\", \"at\": null, \"bytes\": 5}]}')" 2>&1)
like "$said" "gone/b/0/0 was not found where it was looked up before" "a segment without bytes in the bundle is not taken"

# The connections themselves: a lost snapshot of a reader, and a commit that gave a warning.
exits 0 "a connection tells what happened to its transaction" "$BUILD/tests/system/lost_transaction" "$STORE"
like "$(sed -n 1p "$T/out")" "^-5 .*the connection was lost while the index was read$" "a reader that was cut off learns it"
like "$(sed -n 2p "$T/out")" "^-5 no result .*the commit did not wait for its standbys" "a warned writer gets no result"

# Damage is named, stays where it is, and keeps nothing else from being read or joined.
add 2
key=$(sql "SELECT b.key FROM blkcast.bundle b JOIN blkcast.segment s ON s.bundle = b.id JOIN blkcast.stream t ON t.id = s.stream WHERE t.host = 'extra$added'")
s3 GET "$key" -o "$T/good"
{ head -c 100 "$T/good" && printf X && tail -c +102 "$T/good"; } >"$T/bad"
s3 PUT "$key" --data-binary @"$T/bad"
exits 1 "compact with a corrupt object ends with exit status 1" "$blkcast" cluster compact --store "$STORE" --json
is "$(jq -c '.compaction | [.written_objects, .left_out_segments]' "$T/out")" "[1,1]" "joins the others and leaves it out"
exits 1 "dump reads the rest" "$blkcast" dump --store "$STORE" --format csv
is "$(wc -l <"$T/out")" "$(($("$blkcast" dump --store "$T/folder" --format csv 2>/dev/null | wc -l) - 400))" "all of it"
like "$(cat "$T/err")" "$key: the segment at offset 0 has not the hash" "and names the object that is corrupt"
s3 DELETE "$key"
exits 1 "dump reads the rest also where the object is missing" "$blkcast" dump --store "$STORE" --format csv
like "$(cat "$T/err")" "$key: the object is missing in the object store" "and names it"
exits 1 "check finds the missing object" "$blkcast" check --store "$STORE" --json
is "$(jq -r '.findings[0].path' "$T/out")" "$key" "and says which"
s3 PUT "$key" --data-binary @"$T/good"
holds "once it is restored, all can be read" same_requests

# fault TEXT COMMAND...: it fails with one line that says TEXT
fault() {
	local want=$1
	shift
	"$@" >/dev/null 2>"$T/err"
	number "$? > 0" "$want: the command fails"
	is "$(wc -l <"$T/err")" 1 "with one line"
	like "$(cat "$T/err")" "$want" "that says what and where"
}
# A sanitizer wants to come before all other libraries; it works behind one that is preloaded as well.
fault "$S3_URL.*: the clock of this machine and that of the object store differ" \
	env ASAN_OPTIONS="verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" LD_PRELOAD="$faketime" FAKETIME=-2h "$blkcast" cluster init --store "$STORE"
tests/cluster/up.sh psql 0 "ALTER ROLE blkcast SET default_transaction_read_only = on"
fault "PostgreSQL 127.0.0.1.*/blkcast: .*session is read-only" "$blkcast" import --store "$STORE" "${imported[@]}" --host late "$T/other.csv"
tests/cluster/up.sh psql 0 "ALTER ROLE blkcast RESET default_transaction_read_only"

# Retention leaves the same in both.
when="after retention"
each bash -c "'$b' retain --store 'STORE' --retain-requests 1d --retain-window 1h --json | jq 'del(.store, .compaction)'"
number "$(jq .requests <(sed '/^exit/d' "$T/cluster.out")) > 10000" "retention summarizes the requests"
each "$b" ls --store STORE --json
each "$b" characterize --store STORE --json
each "$b" check --store STORE --json
is "$(sql "SELECT count(*) FROM blkcast.bundle")" 0 "no bundle is left"
exits 0 "a late retry of summarized segments is acknowledged" "$b" import --store "$STORE" "$T/all.seg"
like "$(cat "$T/out" "$T/err")" " 0 segments stored" "and not stored again"
token=$(sql "SELECT blkcast.take_lease('keep', 'behind', 600)") before=$(sql "SELECT count(*) FROM blkcast.summary")
said=$(sql "SELECT blkcast.summarize(jsonb_build_object('holder', 'behind', 'token', $token, 'host', t.host, 'boot_id', t.boot_id, 'epoch', t.epoch, 'removed', '[]'::jsonb, 'replaced', jsonb_build_array(jsonb_build_array(s.first, s.generation - 1)))) FROM blkcast.summary s JOIN blkcast.stream t ON t.id = s.stream LIMIT 1" 2>&1)
like "$said" "were replaced meanwhile" "a pass that saw an older generation of a summary replaces nothing"
is "$(sql "SELECT count(*) FROM blkcast.summary")" "$before" "and the newer one stays"
done_testing
