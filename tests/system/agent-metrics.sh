#!/usr/bin/env bash
# The agent's counters against those of Prometheus' node exporter over the same load, and its page
# against promtool.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
need exporter "the node exporter is not installed" command -v prometheus-node-exporter
need promtool "promtool is not installed" command -v promtool

loop_new 256M
dev=$loop_name
"$BUILD/blkcast-agent" --device "$dev" --listen 127.0.0.1:0 --window 100ms --duration 300s \
	--verbose 2>"$T/agent.log" &
agent=$!
exporter_url=http://127.0.0.1:$(free_port)/metrics
prometheus-node-exporter --web.listen-address="$(cut -d/ -f3 <<<"$exporter_url")" --collector.disable-defaults \
	--collector.diskstats --collector.diskstats.device-exclude='^$' >"$T/exporter.log" 2>&1 &
exporter=$!
stop() { kill $agent $exporter 2>/dev/null; wait; }
at_exit stop

port() { sed -n 's/.* listening .*port=\([0-9]*\).*/\1/p' "$T/agent.log" | head -n 1; }
both_answer() { [ -n "$(port)" ] && curl -sf "$exporter_url" >"$T/node.0"; }
wait_until 60 both_answer
url=http://127.0.0.1:$(port)/metrics
sleep 0.5
curl -s "$exporter_url" >"$T/node.0"
curl -s "$url" >"$T/ours.0"
fio_run --rw=randrw --bssplit=4k/60:64k/40 --iodepth=16 --number_ios=60000

value() { # FILE NAME LABELS
	awk -v n="$2{$3}" '$1 == n { printf "%.6f", $2; found = 1 } END { if (!found) print 0 }' "$1"
}
grown() { # KIND NAME LABELS
	awk -v a="$(value "$T/$1.0" "$2" "$3")" -v b="$(value "$T/$1.1" "$2" "$3")" \
		'BEGIN { printf "%.6f", b - a }'
}
ours() { grown ours "$1" "device=\"$dev\",$2"; }
node() { grown node "node_disk_$1" "device=\"$dev\""; }
# The page tells of a window when it has ended.
done_by_fio=$(fio_get '.jobs[0] | .read.total_ios + .write.total_ios')
all_seen() {
	curl -s "$url" >"$T/ours.1"
	awk "BEGIN { exit !($(ours blkcast_requests_total 'operation="read"') + \
		$(ours blkcast_requests_total 'operation="write"') >= $done_by_fio) }"
}
wait_until 60 all_seen
curl -s "$exporter_url" >"$T/node.1"

is "$(ours blkcast_requests_total 'operation="read"')" "$(node reads_completed_total)" \
	"reads completed are the exporter's"
is "$(ours blkcast_requests_total 'operation="write"')" "$(node writes_completed_total)" \
	"writes completed are the exporter's"
is "$(ours blkcast_bytes_total 'operation="read"')" "$(node read_bytes_total)" \
	"bytes read are the exporter's"
is "$(ours blkcast_bytes_total 'operation="write"')" "$(node written_bytes_total)" \
	"bytes written are the exporter's"
is "$(ours blkcast_requests_total 'operation="read"')" \
	"$(fio_get '.jobs[0].read.total_ios').000000" "reads completed are fio's"
r=$(ours blkcast_request_duration_seconds_sum 'operation="read",stage="total"')
w=$(ours blkcast_request_duration_seconds_sum 'operation="write",stage="total"')
f=$(grown ours blkcast_in_flight_seconds_total "device=\"$dev\"")
note "read $r s, exporter $(node read_time_seconds_total) s; in flight $f s"
# The kernel counts time in whole ns per request and shows ms; trace points lie some 100 ns apart.
number "$r > 0.95 * $(node read_time_seconds_total) && $r < 1.05 * $(node read_time_seconds_total)" \
	"time spent on reads is the exporter's within 5 %"
number "$f > 0.99 * ($r + $w) && $f < 1.01 * ($r + $w)" \
	"the in-flight integral is the sum of the response times"

holds "promtool finds nothing wrong" promtool check metrics <"$T/ours.1"
curl -s -D "$T/head" -H 'Accept: application/openmetrics-text; version=1.0.0' "$url" >"$T/open"
like "$(tr -d '\r' <"$T/head")" '^Content-Type: application/openmetrics-text; version=1.0.0' \
	"OpenMetrics is spoken where it is asked for"
is "$(tail -n 1 "$T/open")" "# EOF" "an OpenMetrics page ends with # EOF"
like "$(grep '^# TYPE' "$T/open")" '^# TYPE blkcast_requests counter$' \
	"an OpenMetrics counter's family has no _total"
is "$(curl -s -o /dev/null -w '%{http_code}' "${url%metrics}nothing")" 404 "other pages are not there"
is "$(curl -s -o /dev/null -w '%{http_code}' -X POST -d x "$url")" 405 "it is read only"
done_testing
