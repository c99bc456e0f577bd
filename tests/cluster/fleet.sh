#!/usr/bin/env bash
# tests/cluster/fleet.sh [--unsafe] [RESULTS.md]
#
# A fleet under faults, on loopback: SERVES (3) serves, PostgreSQL with a synchronous standby, Ceph's S3 gateway, and
# HOSTS (600; with SHORT=1 150) simulated agents over TLS that each send a segment every INTERVAL_MS (1000). All the
# time, one serve after the other is killed (SIGKILL), one every KILL_EVERY seconds (3), and started again at once, as
# its unit would. Beside this one fault after the other is made, in rounds, and each round has those below, some twice:
#
#   put        replies of the object store are lost after it has stored the bundle
#   commit     replies of PostgreSQL are lost after the commit
#   reply      replies of a serve to the agents are lost
#   part-...   nothing passes for 3 s between agents and a serve, serves and PostgreSQL, serves and the object store,
#              or the standby and the primary; connections stay, as in a partition
#   rgw        SIGKILL of the gateway of the object store
#   osd        SIGKILL of the only OSD
#   primary    SIGKILL of the primary; the standby is promoted, and the old primary made its standby
#   power      the primary's power is cut: everything it has not synced is gone (tests/cluster/up.sh, power)
#
# The faults are over after ROUNDS rounds (50; with SHORT=1 1), KILLS kills of a serve (1000; 15) and SEGMENTS
# acknowledged segments (500000; 1000), whichever comes last. This takes some 80 minutes, and reading half a million
# segments back as many again; with SHORT=1 two minutes. KEEP=1 leaves the folder of a run.
#
# At the end every acknowledged segment is read back through the store's interface and held against its hash, and all
# requests are counted by `blkcast dump`. The last line is "N acknowledged, 0 lost, 0 doubled"; the exit status is 1
# where it is another one. RESULTS.md gets the table of the faults.
#
# Before all this the script runs itself with --unsafe, and fails where that finds nothing.
#
# --unsafe shows that the rig finds losses: PostgreSQL runs without standby and with fsync=off, its power is cut, and
# the exit status is 0 only where acknowledged segments are lost, or the database does not start any more. What the
# database was before the first segment is synced, so that it usually starts and lacks what was acknowledged.
set -euo pipefail
cd "$(dirname "$0")/../.."
unsafe=0 results=""
for a in "$@"; do
	if [ "$a" = --unsafe ]; then unsafe=1; else results=$a; fi
done
build=${BUILD:-build} nr_serves=${SERVES:-3} interval=${INTERVAL_MS:-1000} requests=20
either() { if [ -n "${SHORT:-}" ]; then echo "$1"; else echo "$2"; fi; }
hosts=${HOSTS:-$(either 150 600)} rounds=${ROUNDS:-$(either 1 50)} kills=${KILLS:-$(either 15 1000)}
segments=${SEGMENTS:-$(either 1000 500000)} kill_every=${KILL_EVERY:-3}
partitions="part-agents part-sql part-objects part-standby"
faults="put $partitions rgw osd commit primary $partitions reply rgw osd power"
if [ $unsafe = 1 ]; then
	faults="power" kills=0 rounds=1 segments=1 hosts=150
	export FSYNC=off STANDBYS=0
fi
tests/cluster/have.sh || {
	echo "fleet.sh: it needs root, PostgreSQL, Ceph's radosgw and setpriv (scripts/deps.sh test)" >&2
	exit 2
}
without_fsync=""
if [ $unsafe = 0 ]; then
	without_fsync=$(tests/cluster/fleet.sh --unsafe) || {
		echo "fleet.sh: with fsync=off the rig finds no loss: $(tail -n 1 <<<"$without_fsync")" >&2
		exit 1
	}
	without_fsync=$(tail -n 1 <<<"$without_fsync" | sed 's/^ *[0-9]* s  //')
	echo "the rig finds what it must: $without_fsync"
fi
T=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-rig.XXXXXX")
chmod 755 "$T"
export CLUSTER_DIR=$T/engines DISKS=1 OSD_GB=8 LC_ALL=C
up=tests/cluster/up.sh
started="" began=$SECONDS
declare -A made worst
clean() {
	local p
	touch "$T/over"
	for p in $started $(cat "$T"/pid* 2>/dev/null); do kill -KILL "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	$up stop >/dev/null 2>&1 || true
	if [ -n "${KEEP:-}" ]; then echo "fleet.sh: $T is kept" >&2; else rm -rf "$T"; fi
}
trap clean EXIT
trap 'exit 130' INT TERM
say() { printf '%4d s  %s\n' $((SECONDS - began)) "$*"; }
die() {
	echo "fleet.sh: $*" >&2
	exit 1
}
used=" "
free_port() { # sets port
	while :; do
		port=$((10000 + SRANDOM % 20000))
		[[ $used != *" $port "* ]] || continue
		grep -qi ":$(printf %04x $port) [0-9a-f]*:[0-9a-f]* 0A" /proc/net/tcp /proc/net/tcp6 2>/dev/null || break
	done
	used="$used$port "
}
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -le $end ] || return 1
		sleep 0.1
	done
}

# Every connection between two parts passes a link that can be broken.
mkdir -p "$CLUSTER_DIR" "$T/links"
specs=() urls=""
for name in pg0 pg1 rgw; do
	free_port
	echo $port >"$CLUSTER_DIR/port.$name"
	to=$port
	free_port
	eval "link_$name=\$port"
	specs+=("$name:$port:$to")
	[ $name = rgw ] && continue
	free_port
	echo $port >"$CLUSTER_DIR/port.link${name#pg}"
	specs+=("wal${name#pg}:$port:$to")
done
declare -A serve_port
for i in $(seq "$nr_serves"); do
	free_port
	serve_port[$i]=$port
	free_port
	specs+=("serve$i:$port:${serve_port[$i]}")
	urls=$urls${urls:+,}https://127.0.0.1:$port
done
python3 tests/cluster/links.py "$T/links" "${specs[@]}" >"$T/links.out" 2>&1 &
started="$started $!"
until_true 20 grep -q ready "$T/links.out" || die "the links do not start: $(tail -n 1 "$T/links.out")"

$up start >"$T/up" 2>&1 || die "the engines do not start: $(tail -n 3 "$T/up")"
eval "$($up env)"
direct=$STORE
linked="pg://blkcast@127.0.0.1:$link_pg0,127.0.0.1:$link_pg1/blkcast?objects=http://127.0.0.1:$link_rgw/traces&keys=$CLUSTER_DIR/keys"
[ $unsafe = 0 ] || linked="pg://blkcast@127.0.0.1:$link_pg0/blkcast?objects=http://127.0.0.1:$link_rgw/traces&keys=$CLUSTER_DIR/keys"
"$build/blkcast" cluster init --store "$direct"
# What initdb and the schema wrote is on the disk, so that the database starts again without what came later.
[ $unsafe = 0 ] || sync -f "$CLUSTER_DIR/pg/disk0"
scripts/certs.sh "$T/tls" 127.0.0.1 >/dev/null 2>&1
openssl rand -hex 24 >"$T/token"
python3 - "$T/token" "$hosts" >"$T/tokens" <<'P'
import hashlib
import sys
word = open(sys.argv[1]).read().strip()
for i in range(1, int(sys.argv[2]) + 1):
    print(f"sim{i}", hashlib.sha256(f"{word}-sim{i}".encode()).hexdigest())
P
chown -R nobody "$T/tls" "$T/tokens"

# keep_serve N: runs serve N, and again whenever it has ended, until the file over is there
keep_serve() {
	local status
	while [ ! -e "$T/over" ]; do
		: >"$T/serve$1"
		"$build/blkcast" serve --user nobody --store "$linked" --listen "127.0.0.1:${serve_port[$1]}" --rate 100000 \
			--tls-cert "$T/tls/server.crt" --tls-key "$T/tls/server.key" --tokens "$T/tokens" \
			--connections $((hosts + 50)) --connections-per-address $((hosts + 50)) 2>>"$T/serve$1" &
		echo $! >"$T/pid$1"
		status=0
		wait $! || status=$?
		# What ended without a signal from here says why.
		[ $status = 137 ] || [ -e "$T/over" ] || { echo "serve $1, status $status: $(tail -n 1 "$T/serve$1")" >>"$T/ended"; }
		sleep 0.2
	done
}
serves() { grep -q '^blkcast serve: port' "$T/serve$1"; }
for i in $(seq "$nr_serves"); do
	keep_serve "$i" 2>/dev/null &
	started="$started $!"
	until_true 60 serves "$i" || die "serve does not start: $(tail -n 1 "$T/serve$i")"
done
"$build/tests/system/fleet_sender" "$urls" 1 "$hosts" 1000000 "$interval" $requests "$T/log" "$T/tls/ca.crt" "$T/token" \
	>"$T/sent" 2>"$T/sender.err" &
sender=$!
started="$started $sender"
until_true 60 test -s "$T/log" || die "nothing is acknowledged: $(tail -n 1 "$T/sender.err")"
say "$nr_serves serves, $hosts agents over TLS; the first segment is acknowledged"

# Kills one serve after the other. A line of the file kills is the time in ms until the one that was killed serves again.
kill_serves() {
	local i=0 begin
	while [ ! -e "$T/over" ]; do
		i=$((i % nr_serves + 1))
		sleep "$kill_every"
		begin=$(date +%s%N)
		serves $i && kill -KILL "$(cat "$T/pid$i")" 2>/dev/null || continue
		: >"$T/serve$i"
		until_true 90 serves $i && echo $((($(date +%s%N) - begin) / 1000000)) >>"$T/kills" &
	done
	wait
}
mode() { echo "$2" >"$T/links/$1"; }
primary=0
serve=0
next_serve() { serve=$((serve % nr_serves + 1)); }
cut_for() { # SECONDS LINK...
	local l
	for l in "${@:2}"; do mode "$l" stall; done
	sleep "$1"
	for l in "${@:2}"; do mode "$l" open; done
}
lose_for() { # SECONDS LINK...
	local l
	for l in "${@:2}"; do mode "$l" "lose 2"; done
	sleep "$1"
	for l in "${@:2}"; do mode "$l" open; done
}
# Each step must succeed, since set -e does not hold in a function whose status is asked for.
make_fault() {
	case $1 in
	put) lose_for 2 rgw ;;
	commit) lose_for 2 pg0 pg1 ;;
	reply)
		next_serve
		lose_for 2 "serve$serve"
		;;
	part-agents)
		next_serve
		cut_for 3 "serve$serve"
		;;
	part-sql) cut_for 3 pg0 pg1 ;;
	part-objects) cut_for 3 rgw ;;
	part-standby) cut_for 3 "wal$primary" ;;
	rgw | osd)
		$up kill "${1/osd/osd0}" && $up run "${1/osd/osd0}"
		;;
	primary)
		$up kill pg$primary && $up promote $((1 - primary)) && $up rejoin $primary $((1 - primary)) || return
		primary=$((1 - primary))
		;;
	power)
		$up power $primary && $up run pg$primary
		;;
	esac >>"$T/faults.out" 2>&1
}
# Waits until something that was sent after the fault is acknowledged.
recovered() {
	local size
	size=$(stat -c %s "$T/log")
	until_true 90 sh -c "[ \$(stat -c %s '$T/log') -gt $size ]" || die "nothing is acknowledged any more after fault $1"
}
killed() { cat "$T/kills" 2>/dev/null | wc -l; }
acknowledged() { echo $(($(wc -l <"$T/log") * 8 / 9)); } # every eighth segment is sent, and acknowledged, twice
is_over() {    # ROUND
	[ "$1" -ge "$rounds" ] && [ "$(killed)" -ge "$kills" ] && [ "$(acknowledged)" -ge "$segments" ]
}
if [ "$kills" -gt 0 ]; then
	kill_serves 2>/dev/null &
	started="$started $!"
fi
round=0
until is_over $round; do
	round=$((round + 1))
	for fault in $faults; do
		[ $unsafe = 0 ] || sleep 8
		begin=$(date +%s%N)
		make_fault "$fault" || {
			# Without fsync the database may be beyond repair after a power cut.
			[ $unsafe = 0 ] || {
				say "with fsync=off PostgreSQL does not start after a power cut, as expected"
				exit 0
			}
			die "fault $fault cannot be made: $(tail -n 1 "$T/faults.out")"
		}
		[ $unsafe = 1 ] || recovered "$fault"
		took=$((($(date +%s%N) - begin) / 1000000))
		made[$fault]=$((${made[$fault]:-0} + 1))
		[ "$took" -le "${worst[$fault]:-0}" ] || worst[$fault]=$took
		sleep 0.5
	done
	[ $((round % 5)) != 0 ] || say "round $round: serves killed $(killed) times, $(acknowledged) segments acknowledged"
done
touch "$T/over"
kill -TERM $sender 2>/dev/null || true # wait tells below how it ended
fault_list="$(tr ' ' '\n' <<<"$faults" | sort -u)"
say "faults are over: serve $(killed), $(for f in $fault_list; do printf '%s %d, ' "$f" "${made[$f]:-0}"; done)"
[ ! -s "$T/ended" ] || say "serves that ended by themselves and were started again: $(wc -l <"$T/ended"), the last: $(tail -n 1 "$T/ended")"
kill_sender=0
wait $sender || kill_sender=$?
[ $unsafe = 1 ] || [ $kill_sender = 0 ] || die "not everything was acknowledged in the end: $(cat "$T/sent" "$T/sender.err")"
say "agents: $(cat "$T/sent")"
for i in $(seq "$nr_serves"); do kill "$(cat "$T/pid$i")" 2>/dev/null || true; done
for i in $(seq "$nr_serves"); do until_true 60 sh -c "! kill -0 $(cat "$T/pid$i")" || die "serve $i does not end"; done
rm -f "$T"/pid*

# The log of the agents against what the catalog has, and what is read: three readers at once.
if [ $unsafe = 0 ]; then
	"$build/blkcast" dump --store "$direct" --format csv 2>"$T/dump.err" | tail -n +2 | wc -l >"$T/dumped" &
	dumping=$!
	"$build/blkcast" check --store "$direct" --json >"$T/checked" &
	checking=$!
fi
sort -s -k1,1 -k4,4n "$T/log" >"$T/sorted"
"$build/tests/system/segment_sender" --verify "$direct" "$T/sorted" >"$T/verified" 2>"$T/verify.err" || true
acknowledged=$(cut -d ' ' -f 1-4 "$T/log" | sort -u | wc -l)
lost=$(sed -n 's/.* \([0-9]*\) not kept.*/\1/p' "$T/verified")
stored=$(sed -n 's/.* \([0-9]*\) in the store.*/\1/p' "$T/verified")
[ -n "$stored" ] || die "the store cannot be read: $(tail -n 1 "$T/verify.err")"
say "$(cat "$T/verified")"
if [ $unsafe = 1 ]; then
	say "without fsync, after a power cut: $acknowledged acknowledged, $lost not kept"
	[ "$lost" -gt 0 ] || die "nothing was lost without fsync: the rig would not find a loss"
	exit 0
fi
wait $dumping $checking || true
read_back=$(cat "$T/dumped")
say "dump gives $read_back requests"
doubled=$((read_back / requests - acknowledged > 0 ? read_back / requests - acknowledged : 0))
[ $((read_back % requests)) = 0 ] || die "dump gives $read_back requests, which is no multiple of $requests"
[ $((stored - acknowledged)) -le $doubled ] || doubled=$((stored - acknowledged))
[ "$read_back" -ge $((acknowledged * requests)) ] || lost=$((acknowledged - read_back / requests > lost ? acknowledged - read_back / requests : lost))
check=$(jq '.findings | length' "$T/checked")
say "read back: $stored segments, $read_back requests; check has $check findings"
latency() { cut -d ' ' -f 7 "$T/log" | sort -n | awk -v q="$1" '{ a[NR] = $1 } END { printf "%.0f", a[int((NR - 1) * q) + 1] / 1000 }'; }
if [ -n "$results" ]; then
	many=$(sed -n '/^## Many hosts at once/,$p' "$results" 2>/dev/null) || true # scale.sh measures it, on an idle machine
	{
		cat <<-R
			# A fleet under faults

			Written by \`tests/cluster/fleet.sh\`, which \`make fleet\` starts and which describes the faults: $nr_serves serves,
			PostgreSQL with one synchronous standby, Ceph's S3 gateway with one OSD, and $hosts simulated agents over TLS
			that each send a segment of $requests requests every $interval ms, for $((SECONDS - began)) s in all. A serve is killed every
			$kill_every s beside the other faults. Everything ran on one machine of $(nproc) processors, so the times are those of a
			crowded machine.

			| fault | times | longest time until segments were acknowledged again, fault included, ms |
			|---|---|---|
		R
		echo "| serve, until the one that was killed serves again | $(killed) | $(sort -n "$T/kills" | tail -n 1) |"
		for f in $fault_list; do echo "| $f | ${made[$f]:-0} | ${worst[$f]:--} |"; done
		cat <<-R

			| what | value |
			|---|---|
			| segments acknowledged | $acknowledged |
			| of these lost, when each was read back | $lost |
			| stored more than once | $doubled |
			| findings of \`blkcast check\` | $check |
			| the rig itself, without fsync | ${without_fsync#*, *: } |
			| what the agents saw | $(cat "$T/sent") |
			| acknowledgement under faults, median and 99th percentile, ms | $(latency 0.5), $(latency 0.99) |
			| date | $(date -u +%F) |
		R
		[ -z "$many" ] || printf '\n%s\n' "$many"
	} >"$results"
fi
echo "$acknowledged acknowledged, $lost lost, $doubled doubled"
[ "$lost" = 0 ] && [ $doubled = 0 ] && [ "$check" = 0 ]
