#!/usr/bin/env bash
# Reading from a cluster on loopback beside reading from a folder with the same segments: whether `characterize` gives
# the same bits, its processor time as received and compacted, and how long `ls` takes with 4 000 hosts in the catalog.
# HOSTS, SEGMENTS and REQUESTS size it. The processor time is that of the client alone; PostgreSQL and the object store
# run beside it on the same machine.
. tests/support/tap.sh
need cluster "not root, or PostgreSQL, Ceph's radosgw or setpriv is missing" tests/cluster/have.sh
hosts=${HOSTS:-100} segments=${SEGMENTS:-10} requests=${REQUESTS:-2000} rounds=${ROUNDS:-5}
blkcast=$BUILD/blkcast
figure() { printf 'figure\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5"; }
export CLUSTER_DIR=$T/engines
server=""
end_all() {
	[ -z "$server" ] || kill -KILL "$server" 2>/dev/null
	tests/cluster/up.sh stop >/dev/null 2>&1
}
at_exit end_all
chmod 755 "$T"
tests/cluster/up.sh start >"$T/up" 2>&1 || { tail -n 3 "$T/up" >&2 && exit 1; }
eval "$(tests/cluster/up.sh env)"
sql() { tests/cluster/up.sh psql 0 "$1"; }
"$blkcast" cluster init --store "$STORE" >/dev/null || exit 1

# fill STORE: every host sends its segments to a serve of the store
fill() {
	local sending="" i port
	: >"$T/serve"
	"$blkcast" serve $serve_user --store "$1" --listen 127.0.0.1:0 --rate 100000 --connections 1000 \
		--connections-per-address 1000 2>"$T/serve" &
	server=$!
	port=$(serve_port "$T/serve" $server) || exit 1
	for i in $(seq "$hosts"); do
		"$BUILD/tests/system/segment_sender" "http://127.0.0.1:$port" "host$i" "$segments" "$requests" "$T/log" 2>>"$T/senders" &
		sending="$sending $!"
	done
	# shellcheck disable=SC2086
	wait $sending
	kill $server && wait $server
	server=""
}
mkdir "$T/folder" && chmod 777 "$T/folder"
fill "$T/folder"
fill "$STORE"

# processor_s STORE: the least processor time of some rounds, in seconds; the answer goes to $T/answer
processor_s() {
	local TIMEFORMAT='%U %S' i
	for i in $(seq "$rounds"); do
		{ time "$blkcast" characterize --store "$1" --json >"$T/answer" 2>/dev/null; } 2>&1
	done | awk '{ s = $1 + $2 } NR == 1 || s < least { least = s } END { print least }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
folder=$(processor_s "$T/folder")
mv "$T/answer" "$T/of-folder"
bundles=$(sql "SELECT count(*) FROM blkcast.bundle")
received=$(processor_s "$STORE")
cmp "$T/answer" "$T/of-folder" || exit 1
"$blkcast" cluster compact --store "$STORE" >/dev/null || exit 1
compacted=$(processor_s "$STORE")
cmp "$T/answer" "$T/of-folder" || exit 1
of="$hosts hosts, $segments segments of $requests requests each, same bits"
figure "characterize from a cluster, $bundles objects" "$(ratio "$received" "$folder")" "of a folder's processor time" "" "$of"
figure "characterize from a compacted cluster, $(sql "SELECT count(*) FROM blkcast.bundle") objects" \
	"$(ratio "$compacted" "$folder")" "of a folder's processor time" "<= 1.3" "$of"

# A catalog of 4 000 hosts with ten segments each.
sql "DROP SCHEMA blkcast CASCADE" 2>/dev/null
"$blkcast" cluster init --store "$STORE" >/dev/null || exit 1
sql "SELECT blkcast.make_day((now() AT TIME ZONE 'UTC')::date);
INSERT INTO blkcast.host(host) SELECT 'host' || h FROM generate_series(1, 4000) h;
INSERT INTO blkcast.stream(host, boot_id, epoch, taken) SELECT host, 'boot', 1, '{[0,10)}' FROM blkcast.host;
INSERT INTO blkcast.bundle(key, bytes, sha256, segments, used_bytes) SELECT 'bundles/x/' || i, 14000000, '\\x00', 1000, 14000000
	FROM generate_series(1, 40) i;
INSERT INTO blkcast.segment SELECT (now() AT TIME ZONE 'UTC')::date, t.id, s, decode(md5(t.id || '-' || s), 'hex'),
	1 + (t.id * 10 + s) % 40, 0, 14000, 2000, 2000, 0, 1, 0,
	ARRAY[b, b, r + b, b + 20000000000, b + 20000000000, r + b + 20000000000], r + b, r + b + 20000000000, r,
	'[[8388608, \"sda\", 1099511627776, [1000, 1000, 0, 0, 0], [4096000, 4096000, 0, 0, 0]]]', '[]'
	FROM blkcast.stream t, generate_series(0, 9) s, LATERAL (SELECT s * 20000000000 AS b, 1790000000000000000 AS r) x;
ANALYZE" >/dev/null
TIMEFORMAT=%R
least=$(for _ in $(seq "$rounds"); do
	{ time "$blkcast" ls --store "$STORE" >"$T/ls" 2>/dev/null; } 2>&1
done | sort -g | head -n 1)
is "$(grep -c '^host' "$T/ls")" 4000 "ls lists every host" >&2
figure "ls of a cluster with 4 000 hosts" "$least" s "<= 1" "40 000 segments in the catalog; it grows with their number"
