#!/usr/bin/env bash
# tests/cluster/figures.sh RESULTS.md
#
# What intake into a cluster costs on this machine, beside a folder: processor time of serve per segment, with 1, 2 and 4
# serves, and the time until an acknowledgement. The agents are simulated and send segments of 14 KB over TLS; the
# engines run on the same machine and are not counted. Eight minutes. Memory: tests/cluster/scale.sh.
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
senders=()
clean() {
	local p
	for p in "${pid[@]}" "${senders[@]}"; do kill -KILL "$p" 2>/dev/null || true; done
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
# cpu SERVE...: their processor time, in ticks, without that of the thread that joins bundles (nice 10): that of one serve
# joins those of all, every minute.
ticks() { # STAT-FILE...: user and kernel time, and nice
	sed 's/.*) //' "$@" 2>/dev/null | awk '{ print $12 + $13, $17 }'
}
cpu() {
	local i
	for i in "$@"; do
		ticks "/proc/${pid[$i]}/stat" | cut -d ' ' -f 1
		ticks /proc/"${pid[$i]}"/task/*/stat | awk '$2 > 0 { print -$1 }'
	done | awk '{ s += $1 } END { print s }'
}
joining() { for i in "${!pid[@]}"; do ticks /proc/"${pid[$i]}"/task/*/stat | awk '$2 > 0 { print $1 }'; done | awk '{ s += $1 } END { print s }'; }
first=1
# begin URL NR INTERVAL_MS SECONDS: agents that were not used before. Their segments are made before the time begins.
begin() {
	PREPARE=1 "$build/tests/system/fleet_sender" "$1" $first "$2" "$4" "$3" 1500 "$T/log$first" "$T/tls/ca.crt" "$T/token" >"$T/sent$first" &
	senders+=($!)
	first=$((first + $2))
}
end_all() {
	local p
	for p in "${senders[@]}"; do wait "$p" || die "the agents fail: $(cat "$T"/sent*)"; done
	senders=()
}
count() { cat "$T"/log* 2>/dev/null | wc -l; }
rows=""
row() { rows="$rows| $1 | $2 | $3 |
"; }

# measure CASE SERVE...: the serves of these numbers get 100 segments a second each, so that each bundle has as many
# segments in every case. Adds the processor time of 10 s and the segments of these to cpu_of and sent_of of the case.
# The connections are open by then. In the case beside, the folder takes 300 segments a second meanwhile, uncounted.
declare -A cpu_of sent_of url
measure() {
	local case=$1 i before sent logs=()
	shift
	rm -f "$T"/log* "$T"/sent*
	for i in "$@"; do
		logs+=("$T/log$first")
		begin "${url[$i]}" 50 500 13
	done
	[ "$case" != beside ] || begin "${url[0]}" 150 500 13
	until [ "$(count)" -ge $([ "$case" = beside ] && echo 400 || echo $((100 * $#))) ]; do sleep 0.1; done
	before=$(cpu "$@") sent=$(cat "${logs[@]}" | wc -l)
	sleep 10
	cpu_of[$case]=$((${cpu_of[$case]:-0} + $(cpu "$@") - before))
	sent_of[$case]=$((${sent_of[$case]:-0} + $(cat "${logs[@]}" | wc -l) - sent))
	end_all
}
install -d -o nobody "$T/folder"
serve 0 "$T/folder"
url[0]=https://127.0.0.1:$port
for i in 1 2 3 4; do
	serve $i "$STORE"
	url[$i]=https://127.0.0.1:$port
done
# What is measured first and what last differs from one round to the next. The first case of all warms up.
measure warm 0 1 2 3 4
for case in $(for r in 1 2 3; do echo folder 1 2 4 beside beside 4 2 1 folder; done); do
	case $case in
	folder) measure folder 0 ;;
	beside) measure beside 1 ;;
	*) measure $case $(seq $case) ;;
	esac
done
us() { awk "BEGIN { printf \"%.0f\", ${cpu_of[$1]} * 1e6 / $(getconf CLK_TCK) / ${sent_of[$1]} }"; }
beside_one() { awk "BEGIN { printf \"%+.0f\", ($(us $1) / $(us 1) - 1) * 100 }"; }
row "processor time of serve per segment, folder" - "$(us folder) us"
row "the same, cluster, one serve" "at most 1.5 x" "$(us 1) us, $(awk "BEGIN { printf \"%.2f\", $(us 1) / $(us folder) }") x"
for n in 2 4; do
	row "the same, cluster, $n serves" "within 10 % of one" "$(us $n) us, $(beside_one $n) %"
done
stored=$($up psql 0 "SELECT count(*) FROM blkcast.segment")
row "one serve, while the folder takes 300 segments a second" - "$(us beside) us, $(beside_one beside) %"
row "joining bundles into large ones, per segment in the cluster" - "$(($(joining) * 1000000 / $(getconf CLK_TCK) / stored)) us"
stop_serves

serve 1 "$STORE"
url1=https://127.0.0.1:$port
serve 2 "$STORE"
rm -f "$T"/log* "$T"/sent*
begin "$url1,https://127.0.0.1:$port" 1000 500 12
end_all
read -r p50 p99 < <(awk '$4 >= 2 { print $7 }' "$T"/log* | sort -n | awk '{ a[NR] = $1 }
	END { printf "%.0f %.0f\n", a[int(NR * 0.5) + 1] / 1000, a[int(NR * 0.99)] / 1000 }')
row "acknowledgement at 2000 segments/s asked for ($(($(count) / 12))/s came), median and p99" "400 ms, 1 s" "$p50 ms, $p99 ms"
stop_serves
before=$(sed -n '/^## Before/,$p' "$results" 2>/dev/null) || true # what is written by hand stays
{
	cat <<-R
		# What intake into a cluster costs

		Written by \`tests/cluster/figures.sh\` on a machine of $(nproc) processors (load average $load before it), which also runs
		PostgreSQL with one synchronous standby, Ceph's S3 gateway with one OSD, and the simulated agents. Segments of 1500
		requests, 14 KB, over TLS. Processor time is that of six times 10 s in which each serve takes 100 segments a second over
		connections that are open, in the order folder, 1, 2, 4 serves, one beside the folder, and back, three times. That of the
		thread which joins bundles of all serves has a row of its own. Times of acknowledgement leave out the first two segments
		of each host, which come together with the TLS handshakes of all hosts.

		| figure | goal | value |
		|---|---|---|
	R
	printf '%s' "$rows"
	echo
	echo "Date: $(date -u +%F). Memory: [results](results.md)."
	[ -z "$before" ] || printf '\n%s\n' "$before"
} >"$results"
cat "$results"
