#!/usr/bin/env bash
# scripts/fleet.sh [AGENTS [SECONDS [INTERVAL_MS [REQUESTS]]]]
# Runs a fleet on one machine: AGENTS (200) senders, each with its own spool and its own certificate
# or token, send over real TLS to one `blkcast serve`. Each makes a segment of REQUESTS (1500)
# requests every INTERVAL_MS (1000) for SECONDS (10). Half of them come with certificates, half
# with tokens, which are replaced while it runs, as is the server's certificate. Prints segments/s,
# the 99th percentile of the acknowledgement as the server saw it, and the memory of both sides;
# exits 1 where a segment is missing, twice, or another's.
set -euo pipefail
cd "$(dirname "$0")/.."
agents=${1:-200} seconds=${2:-10} interval=${3:-1000} requests=${4:-1500}
build=${BUILD:-build}
T=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-fleet.XXXXXX")
server="" senders=()
clean() {
	for p in "${senders[@]}" $server; do kill -9 "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$T"
}
trap clean EXIT

nr=$((seconds * 1000 / interval))
hosts=() with_certificate=()
for i in $(seq "$agents"); do
	host=$(printf 'guest%04d' "$i")
	hosts+=("$host")
	if [ $((i % 2)) = 1 ]; then
		with_certificate+=("$host")
	else
		openssl rand -hex 32 >"$T/$host.token"
		printf '%s %s\n' "$host" "$(tr -d '\n' <"$T/$host.token" | sha256sum | cut -d' ' -f1)" >>"$T/tokens"
	fi
done
touch "$T/tokens"
scripts/certs.sh "$T/tls" 127.0.0.1 "${with_certificate[@]}"
c=$T/tls
user=()
own() { :; }
if [ "$(id -u)" = 0 ]; then # serve never runs as root
	user=(--user nobody)
	own() { chown -R nobody "$c" "$T/tokens"; }
	chmod 711 "$T"
fi
own
"$build/blkcast" serve "${user[@]}" --store "$T/store" --listen 127.0.0.1:0 --tls-cert "$c/server.crt" \
	--tls-key "$c/server.key" --client-ca "$c/ca.crt" --tokens "$T/tokens" \
	--connections $((agents + 50)) --connections-per-address $((agents + 50)) 2>"$T/err" &
server=$!
port=""
for _ in $(seq 250); do
	port=$(sed -n 's/^blkcast serve: port \([0-9]*\),.*/\1/p' "$T/err")
	[ -n "$port" ] && break
	sleep 0.02
done
[ -n "$port" ] || { cat "$T/err" >&2; exit 1; }

begin=$(date +%s%N)
for host in "${hosts[@]}"; do
	if [ -e "$T/$host.token" ]; then
		who=("token=$T/$host.token")
	else
		who=("cert=$c/$host.crt" "key=$c/$host.key")
	fi
	"$build/tests/system/agent_sender" "https://127.0.0.1:$port" "$T/spool-$host" "$host" "$nr" "$requests" \
		120 "interval_ms=$interval" "ca=$c/ca.crt" "${who[@]}" >"$T/$host.out" 2>"$T/$host.err" &
	senders+=($!)
done
# Rotation: a second token for every second host, then the first is gone; a new server certificate.
sleep $((seconds / 2))
for host in "${hosts[@]}"; do
	[ -e "$T/$host.token" ] || continue
	openssl rand -hex 32 >"$T/$host.token.new"
	printf '%s %s\n' "$host" "$(tr -d '\n' <"$T/$host.token.new" | sha256sum | cut -d' ' -f1)" >>"$T/tokens.new"
done
if [ -e "$T/tokens.new" ]; then
	cat "$T/tokens" "$T/tokens.new" >"$T/tokens.both" && mv "$T/tokens.both" "$T/tokens"
	rm -f "$c/server.crt" "$c/server.key"
	scripts/certs.sh "$c" 127.0.0.1
	own
	kill -HUP "$server"
	sleep 0.2
	for host in "${hosts[@]}"; do
		[ ! -e "$T/$host.token.new" ] || mv "$T/$host.token.new" "$T/$host.token"
	done
	mv "$T/tokens.new" "$T/tokens"
fi
# One that is still there; on a slow machine all may be done by now.
agent_kb=$(for p in "${senders[@]}"; do
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$p/status" 2>/dev/null || true
done | sort -n | tail -n 1)
failed=0
for p in "${senders[@]}"; do wait "$p" || failed=$((failed + 1)); done
end=$(date +%s%N)
senders=()
peak_kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/"$server"/status)
curl -sm 10 --cacert "$c/ca.crt" "https://127.0.0.1:$port/metrics" >"$T/metrics"
kill "$server"
wait "$server"
server=""

want=$((agents * nr))
told=$(cat "$T"/guest*.out | sort -u)
"$build/blkcast" ls --store "$T/store" --json >"$T/ls"
stored=$(jq '[.hosts[].segments] | add' "$T/ls")
in_store=$(jq '[.hosts[].requests | if type == "object" then add else . end] | add' "$T/ls")
files=$(find "$T/store/segments" -name '*.seg' | wc -l)
counter() { sed -n "s/^blkcast_serve_$1 //p" "$T/metrics"; }
p99=$(awk -F'[" ]' '/^blkcast_serve_acknowledge_seconds_bucket/ { le[++n] = $2; nr[n] = $4 }
	END { for (i = 1; i <= n; i++) if (nr[i] >= 0.99 * nr[n]) { print le[i]; exit } }' "$T/metrics")
refused=$(sed -n 's/^blkcast_serve_refused_total{reason="\(.*\)"} \([1-9][0-9]*\)$/\1=\2/p' "$T/metrics" | tr '\n' ' ')

awk -v a="$agents" -v n="$stored" -v ns=$((end - begin)) -v p99="$p99" -v kb="$peak_kb" -v akb="${agent_kb:-0}" \
	'BEGIN { printf "%d agents: %d segments in %.1f s, %.0f segments/s; acknowledged within %.3g ms (99 %%); serve %.1f MiB at most, one sender %.1f MiB\n",
	a, n, ns / 1e9, n / (ns / 1e9), p99 * 1000, kb / 1024, akb / 1024 }'
echo "stored $stored of $want, files $files, repeated $(counter 'segments_total{result="repeated"}'), refused ${refused:-none}"
[ "$failed" = 0 ] && [ "$stored" = "$want" ] && [ "$files" = "$want" ] &&
	[ "$told" = "captured $((nr * requests)) lost 0 left 0" ] && [ "$in_store" = $((want * requests)) ] || {
	echo "fleet.sh: expected $want segments of $requests requests once each: $told, $in_store requests in the store, $failed senders failed" >&2
	cat "$T"/guest*.err | sort | uniq -c | head -n 5 >&2
	exit 1
}
