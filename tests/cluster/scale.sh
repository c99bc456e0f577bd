#!/usr/bin/env bash
# tests/cluster/scale.sh [AGENTS [SENDERS]]
#
# Many hosts at once on a cluster on loopback, over TLS: AGENTS (200) whole agents whose source generates requests, which
# send a segment each second to two serves for SECONDS_OF_AGENTS (30), and then SENDERS (10000) simulated senders that
# keep their connections to one serve open, each with a segment that was acknowledged. Prints the memory of that serve
# per connection above its base, which is at most 30 KiB, and what each part took.
#
# At the end every segment is read back: those of the senders are held against their hashes, and all requests are
# counted by `blkcast dump`. The last line is "N acknowledged, 0 lost, 0 doubled"; the exit status is 1 where it is
# another one, or the memory is above the goal. Three to five minutes on two processors.
set -euo pipefail
cd "$(dirname "$0")/../.."
agents=${1:-200} senders=${2:-10000}
build=${BUILD:-build} requests=20 seconds=${SECONDS_OF_AGENTS:-30} group=500 goal_kib=30
tests/cluster/have.sh || {
	echo "scale.sh: it needs root, PostgreSQL, Ceph's radosgw and setpriv (scripts/deps.sh test)" >&2
	exit 2
}
T=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-scale.XXXXXX")
chmod 755 "$T"
export CLUSTER_DIR=$T/engines LC_ALL=C
up=tests/cluster/up.sh
running=() serves=()
clean() {
	local p
	for p in "${running[@]}" "${serves[@]}"; do kill -KILL "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	$up stop >/dev/null 2>&1 || true
	rm -rf "$T"
}
trap clean EXIT
trap 'exit 130' INT TERM
die() {
	echo "scale.sh: $*" >&2
	exit 1
}
say() { printf '%4d s  %s (load average %s)\n' $SECONDS "$*" "$(cut -d' ' -f1 /proc/loadavg)"; }
ulimit -n $((senders + 1000)) 2>/dev/null || die "the limit of open files is $(ulimit -Hn), expected $((senders + 1000))"

$up start >"$T/up" 2>&1 || die "the engines do not start: $(tail -n 3 "$T/up")"
eval "$($up env)"
"$build/blkcast" cluster init --store "$STORE" >/dev/null
scripts/certs.sh "$T/tls" 127.0.0.1 >/dev/null 2>&1
openssl rand -hex 24 >"$T/token"
python3 - "$T" "$agents" "$senders" <<'P'
import hashlib
import sys
folder, agents, senders = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
word = open(f"{folder}/token").read().strip()
names = [f"agent{i}" for i in range(agents)] + [f"sim{i}" for i in range(senders)]
with open(f"{folder}/tokens", "w") as tokens:
    for name in names:
        print(name, hashlib.sha256(f"{word}-{name}".encode()).hexdigest(), file=tokens)
for name in names[:agents]:
    with open(f"{folder}/{name}.token", "w") as token:
        print(f"{word}-{name}", file=token)
P
cp "$T/tls/ca.crt" "$T/ca.crt" # agents give up the right to read files of other users
chown -R nobody "$T/tls" "$T/tokens"
# Starts a serve with the environment of the shipped units; sets port.
run_serve() {
	local end=$((SECONDS + 60)) err=$T/serve${#serves[@]}
	: >"$err"
	GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$build/blkcast" serve --user nobody --store "$STORE" \
		--listen 127.0.0.1:0 --request-time 900s --tls-cert "$T/tls/server.crt" --tls-key "$T/tls/server.key" \
		--tokens "$T/tokens" --connections $((senders + 500)) --connections-per-address $((senders + 500)) 2>>"$err" &
	serves+=($!)
	disown $!
	port=""
	while [ -z "$port" ]; do
		port=$(sed -n 's/^blkcast serve: port \([0-9]*\),.*/\1/p' "$err")
		[ $SECONDS -lt $end ] || die "serve does not start: $(tail -n 1 "$err")"
		sleep 0.05
	done
}
stop_serves() {
	local p
	for p in "${serves[@]}"; do kill "$p"; done
	for p in "${serves[@]}"; do while kill -0 "$p" 2>/dev/null; do sleep 0.1; done; done
	serves=()
}
wait_for_all() {
	local p failed=0
	for p in "${running[@]}"; do wait "$p" || failed=$((failed + 1)); done
	running=()
	[ $failed = 0 ] || die "$failed of the $1 fail: $(cat "$T"/*.err "$T"/*.end 2>/dev/null | sort | uniq -c | sort -rn | head -n 3)"
}

run_serve
first=$port
run_serve
second=$port
for i in $(seq 0 $((agents - 1))); do
	to=$((i % 2 ? first : second))
	SYNTHETIC_RATE=100 "$build/tests/system/synthetic_agent" --host "agent$i" --sink "https://127.0.0.1:$to" \
		--tls-ca "$T/ca.crt" --token-file "$T/agent$i.token" --spool "$T/spool$i" --segment-interval 1s \
		2>"$T/agent$i.end" &
	running+=($!)
done
sleep "$seconds"
kill "${running[@]}"
wait_for_all agents
stop_serves
read -r captured lost_by_agents delivered waiting < <(sed -n 's/.*ended: \([0-9]*\) requests captured, \([0-9]*\) lost.*; \([0-9]*\) segments* delivered, \([0-9]*\) waiting.*/\1 \2 \3 \4/p' \
	"$T"/agent*.end | awk '{ c += $1; l += $2; d += $3; w += $4 } END { print c + 0, l + 0, d + 0, w + 0 }')
[ "$(grep -l ended: "$T"/agent*.end | wc -l)" = "$agents" ] || die "some agents do not say what they captured"
say "$agents agents captured $captured requests and lost $lost_by_agents; $delivered segments acknowledged, $waiting wait"

run_serve
serve=${serves[0]}
# Resident memory in KiB. The kernel writes a tab before the number.
rss() { awk '/^VmRSS:/ { print $2 }' "/proc/$serve/status"; }
base=$(rss)
for ((i = 0; i < senders; i += group)); do
	nr=$((senders - i < group ? senders - i : group))
	TIMEOUT_S=120 "$build/tests/system/fleet_sender" "https://127.0.0.1:$port" "$i" $nr 3600 60000 $requests "$T/log$i" \
		"$T/tls/ca.crt" "$T/token" >"$T/sent$i" 2>"$T/sender$i.err" &
	running+=($!)
done
until_all=$((SECONDS + 600))
until [ "$(cat "$T"/log* 2>/dev/null | cut -d ' ' -f 1 | sort -u | wc -l)" = "$senders" ]; do
	[ $SECONDS -lt $until_all ] || die "only $(cat "$T"/log* | cut -d ' ' -f 1 | sort -u | wc -l) of $senders senders have a segment acknowledged"
	sleep 2
done
# What connections take that wait: what is under way ends, and nothing else begins.
kill -STOP "${running[@]}"
sleep 6
open=$(ss -Htn state established "sport = :$port" | wc -l)
now=$(rss)
kill -CONT "${running[@]}"
[ "$open" = "$senders" ] || die "$open of $senders connections are open"
per=$(awk "BEGIN { printf \"%.1f\", ($now - $base) / $open }")
say "$open senders have a segment acknowledged, on connections that are open; serve takes $now KiB, $per KiB a connection above its base of $base KiB"
kill "${running[@]}"
wait_for_all senders
say "senders: $(awk -F ', ' '{ for (i = 1; i <= NF; i++) { split($i, word, " "); nr[i] += word[1]; sub(/^[0-9]+/, "", $i); what[i] = $i } }
	END { for (i = 1; i <= 5; i++) printf "%s%d%s", (i > 1 ? ", " : ""), nr[i], what[i] }' "$T"/sent*)"
stop_serves

sort -s -k1,1 -k4,4n "$T"/log* >"$T/sorted"
"$build/blkcast" dump --store "$STORE" --format csv 2>"$T/dump.err" | tail -n +2 | wc -l >"$T/dumped" &
dumping=$!
"$build/tests/system/segment_sender" --verify "$STORE" "$T/sorted" >"$T/verified" 2>"$T/verify.err" || true
wait $dumping || die "dump fails: $(head -n 1 "$T/dump.err")"
lost=$(sed -n 's/.* \([0-9]*\) not kept.*/\1/p' "$T/verified")
stored=$(sed -n 's/.* \([0-9]*\) in the store.*/\1/p' "$T/verified")
[ -n "$stored" ] || die "the store cannot be read: $(tail -n 1 "$T/verify.err")"
sent=$(cut -d ' ' -f 1-4 "$T/sorted" | sort -u | wc -l)
acknowledged=$((sent + delivered)) want=$((captured + sent * requests)) got=$(cat "$T/dumped")
say "read back: $stored segments, $got requests"
doubled=$((stored > acknowledged ? stored - acknowledged : 0))
[ "$stored" -ge $acknowledged ] || lost=$((acknowledged - stored > lost ? acknowledged - stored : lost))
[ "$waiting" = 0 ] && [ "$got" = $want ] || echo "scale.sh: dump gives $got requests, expected $want; $waiting segments wait in spools" >&2
echo "$acknowledged acknowledged, $lost lost, $doubled doubled"
[ "$lost" = 0 ] && [ $doubled = 0 ] && [ "$waiting" = 0 ] && [ "$got" = $want ] && [ $((now - base)) -le $((open * goal_kib)) ]
