#!/usr/bin/env bash
# tests/cluster/figures.sh RESULTS.md
#
# What intake into a cluster costs on this machine, beside a folder: processor time of serve per segment, the time until
# an acknowledgement, the same with 1, 2 and 4 serves, and memory per connection. The agents are simulated and send
# segments of 14 KB over TLS; the engines run on the same machine and are not counted. Some two and a half minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
results=${1:?RESULTS.md}
build=${BUILD:-build}
load=$(cut -d' ' -f1 /proc/loadavg) # before the engines and the agents
T=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-figures.XXXXXX")
chmod 755 "$T"
export CLUSTER_DIR=$T/engines LC_ALL=C
up=tests/cluster/up.sh
declare -A pid
clean() {
	local p
	for p in "${pid[@]}"; do kill -KILL "$p" 2>/dev/null || true; done
	$up stop >/dev/null 2>&1 || true
	rm -rf "$T"
}
trap clean EXIT
trap 'exit 130' INT TERM
die() {
	echo "figures.sh: $*" >&2
	exit 1
}
$up start >"$T/up" 2>&1 || die "the engines do not start: $(tail -n 3 "$T/up")"
eval "$($up env)"
"$build/blkcast" cluster init --store "$STORE" >/dev/null
scripts/certs.sh "$T/tls" 127.0.0.1 >/dev/null 2>&1
openssl rand -hex 24 >"$T/token"
hosts=3000
python3 - "$T/token" $hosts >"$T/tokens" <<'P'
import hashlib
import sys
word = open(sys.argv[1]).read().strip()
for i in range(1, 5 * int(sys.argv[2]) + 1):
    print(f"sim{i}", hashlib.sha256(f"{word}-sim{i}".encode()).hexdigest())
P
chown -R nobody "$T/tls" "$T/tokens"
# serve NUMBER STORE: sets port. The environment is that of the shipped units.
serve() {
	local end=$((SECONDS + 30))
	: >"$T/serve$1"
	GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$build/blkcast" serve --user nobody --store "$2" --listen 127.0.0.1:0 --rate 100000 --admit 100000 \
		--tls-cert "$T/tls/server.crt" --tls-key "$T/tls/server.key" --tokens "$T/tokens" \
		--connections 8000 --connections-per-address 8000 2>>"$T/serve$1" &
	pid[$1]=$!
	disown $!
	port=""
	while [ -z "$port" ]; do
		port=$(sed -n 's/^blkcast serve: port \([0-9]*\),.*/\1/p' "$T/serve$1")
		[ $SECONDS -lt $end ] || die "serve does not start: $(tail -n 1 "$T/serve$1")"
		sleep 0.05
	done
}
stop_serves() {
	local i
	for i in "${!pid[@]}"; do kill "${pid[$i]}"; done
	for i in "${!pid[@]}"; do while kill -0 "${pid[$i]}" 2>/dev/null; do sleep 0.05; done; done
	pid=()
}
# Processor seconds of all serves, in ticks
cpu() {
	local i sum=0 a
	for i in "${!pid[@]}"; do
		a=$(sed 's/.*) //' "/proc/${pid[$i]}/stat" | cut -d ' ' -f 12,13)
		sum=$((sum + ${a% *} + ${a#* }))
	done
	echo $sum
}
# Resident memory of a serve, in KiB. The kernel writes a tab before the number.
rss() { awk '/^VmRSS:/ { kib = $2 } END { if (!kib) exit 1; print kib }' "/proc/${pid[$1]}/status" || die "serve $1 has no VmRSS"; }
first=1
# send URLS NR SECONDS INTERVAL_MS: hosts that were not used before; sets sent, cpu_us, p50, p99 (ms). The segments are
# made before the time begins. Times are those of connections that are open: the first two segments of each host, which
# come with a thousand TLS handshakes within half a second, are left out.
send() {
	local before
	rm -f "$T/log"
	before=$(cpu)
	PREPARE=1 "$build/tests/system/fleet_sender" "$1" $first "$2" "$3" "$4" 1500 "$T/log" "$T/tls/ca.crt" "$T/token" >"$T/sent" ||
		die "the agents fail: $(cat "$T/sent")"
	first=$((first + $2))
	sent=$(wc -l <"$T/log")
	cpu_us=$((($(cpu) - before) * 1000000 / $(getconf CLK_TCK) / sent))
	read -r p50 p99 < <(awk '$4 >= 2 { print $7 }' "$T/log" | sort -n | awk '{ a[NR] = $1 }
		END { printf "%.0f %.0f\n", a[int(NR * 0.5) + 1] / 1000, a[int(NR * 0.99)] / 1000 }')
}
rows=""
row() { rows="$rows| $1 | $2 | $3 |
"; }

install -d -o nobody "$T/folder"
serve 1 "$T/folder"
send "https://127.0.0.1:$port" 200 10 500
stop_serves
folder_us=$cpu_us
row "processor time of serve per segment, folder, 400 a second" - "$cpu_us us"
for n in 1 2 4; do
	urls=""
	for i in $(seq $n); do
		serve "$i" "$STORE"
		urls=$urls${urls:+,}https://127.0.0.1:$port
	done
	send "$urls" 200 10 500
	stop_serves
	[ $n = 1 ] && {
		one_us=$cpu_us
		row "the same, cluster, one serve" "at most 1.5 x" \
			"$cpu_us us, $(awk "BEGIN { printf \"%.2f\", $cpu_us / $folder_us }") x"
		continue
	}
	row "the same, cluster, $n serves" "within 10 % of one" \
		"$cpu_us us, $(awk "BEGIN { printf \"%+.0f\", ($cpu_us / $one_us - 1) * 100 }") %"
done
serve 1 "$STORE"
url1=https://127.0.0.1:$port
serve 2 "$STORE"
send "$url1,https://127.0.0.1:$port" 1000 12 500
row "acknowledgement at 2000 segments/s asked for ($((sent / 12))/s came), median and p99" "400 ms, 1 s" "$p50 ms, $p99 ms"
stop_serves
serve 1 "$STORE"
base=$(rss 1)
# The difference has what decoding segments takes as well. Each host sends one segment and keeps its connection; memory
# is looked at while all of them are open.
"$build/tests/system/fleet_sender" "https://127.0.0.1:$port" $first 2000 14 14000 100 "$T/log2" "$T/tls/ca.crt" "$T/token" >"$T/sent2" &
idle=$!
sleep 13
open=$(ss -Htn state established "sport = :$port" 2>/dev/null | wc -l)
now=$(rss 1)
[ "$open" -gt 1000 ] || die "only $open of 2000 connections are open"
wait $idle || die "the idle agents fail: $(cat "$T/sent2")"
sleep 2
row "memory of serve per connection, $open connections over TLS" "at most 30 KiB" \
	"$(((now - base) / open)) KiB with all that decoding took, $(((now - $(rss 1)) / open)) KiB freed at their end"
stop_serves
{
	cat <<-R
		# What intake into a cluster costs

		Written by \`tests/cluster/figures.sh\` on a machine of $(nproc) processors (load average $load before it), which also runs
		PostgreSQL with one synchronous standby, Ceph's S3 gateway with one OSD, and the simulated agents. Segments of 1500
		requests, 14 KB, over TLS. Times of acknowledgement leave out the first two segments of each host, which come
		together with the TLS handshakes of all hosts.

		| figure | goal | value |
		|---|---|---|
	R
	printf '%s' "$rows"
	echo
	echo "Date and commit: $(date -u +%F), $(git rev-parse --short HEAD 2>/dev/null || echo unknown)."
} >"$results"
cat "$results"
