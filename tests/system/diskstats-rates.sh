#!/usr/bin/env bash
# The diskstats source beside fio's own counts; what counters cannot tell is null, never 0.
. tests/support/tap.sh
. tests/loop.sh
need_loop
agent=$BUILD/blkcast-agent
b=$BUILD/blkcast

loop_new 64M
exits 0 "nobody uses the disk" "$agent" --source diskstats --device "$loop_dev" --sink "file:$T/idle" --window 200ms \
	--duration 600ms --spool "$T/idle-spool" --host guest
like "$(tail -n 1 "$T/err")" "no request reached $loop_dev while it was watched. " "which the agent says at its end"
"$agent" --source diskstats --device "$loop_dev" --sink "file:$T/store" --sink stdout: --window 500ms \
	--segment-interval 1s --spool "$T/spool" --host guest >"$T/lines" 2>"$T/err" &
pid=$!
sleep 0.8
# 24 MiB in about a second and a half, paced; half of them reads.
fio_run --rw=randrw --rwmixread=50 --bs=8k --iodepth=8 --rate_iops=1000,1000 --number_ios=3000
sleep 0.8
kill -INT $pid
wait $pid
is "$?" 0 "the agent ends as it should"
is "$(grep -c "no request" "$T/err")" 0 "and has something to tell"

sum() { jq -s "[.[] | $1] | add" "$T/lines"; }
is "$(sum .requests.read) $(sum .requests.write)" \
	"$(fio_get '.jobs[0].read.total_ios') $(fio_get '.jobs[0].write.total_ios')" \
	"all windows together have fio's requests"
is "$(sum .bytes.read) $(sum .bytes.write)" \
	"$(fio_get '.jobs[0].read.io_bytes') $(fio_get '.jobs[0].write.io_bytes')" "and its bytes"
is "$(jq -sc '[.[] | .source, .layer] | unique' "$T/lines")" '["device","diskstats"]' "each says its source"
jq -s '[.[] | select(.requests.read > 100 and .requests.write > 100)][0]' "$T/lines" >"$T/busy.json"
of() { jq -c "$1" "$T/busy.json"; }
is "$(of '[.requests.other, .errors, .requeues, .own_requests, .intensity.closed.clients_mean,
	.intensity.open.interarrival_scv, .intensity.open.idc, .request_size.read.histogram,
	.access_pattern.all.sequential_ratio, .locality.footprint_bytes, .locality.miss_ratio_curve,
	.response_time.read.total.count, .response_time.read.total.p99_s,
	.response_time.write.queue.mean_s] | unique')" "[null]" "what counters cannot tell is null"
is "$(of '[.request_size.read.mean_bytes, .request_size.write.mean_bytes]')" "[8192,8192]" "mean sizes are fio's"
# Times of day in a double are exact to 0.2 us.
near_1() { awk "BEGIN { print ($1 > 0.99999 && $1 < 1.00001) }"; }
is "$(near_1 "$(of '(.response_time.read.total.mean_s * .requests.read + .response_time.write.total.mean_s *
	.requests.write) / .duration_s / .intensity.closed.in_flight_mean')")" 1 \
	"the mean in flight is the rate times the response time"
is "$(near_1 "$(of '(.requests.read + .requests.write) / .duration_s / .intensity.open.rate_per_s')")" 1 \
	"the rate is requests by time"
is "$(of '[.source_detail.diskstats.processes[].comm] | index("fio") != null')" true \
	"fio is among the busiest processes"
is "$(of .quality.grade)" '"D"' "the grade says how little that is"

exits 0 "the store is characterized" "$b" characterize --store "$T/store" --json
is "$(jq -c '[length, .[0].source, .[0].requests.read, .[0].requests.write, .[0].errors]' "$T/out")" \
	"[1,\"diskstats\",$(fio_get '.jobs[0].read.total_ios'),$(fio_get '.jobs[0].write.total_ios'),null]" \
	"windows of a store are summed, and nulls stay"
exits 0 "by period" "$b" characterize --store "$T/store" --window 1s --json
is "$(jq '[.[].requests.read] | add' "$T/out")" "$(fio_get '.jobs[0].read.total_ios')" \
	"periods make up the whole"
exits 0 "as text" "$b" characterize --store "$T/store"
like "$(cat "$T/out")" "errors -, requeues -" "unknown counts are -"
exits 2 "a filter by operation leaves nothing" "$b" characterize --store "$T/store" --operation read --json
like "$(cat "$T/err")" "devices are: $loop_name of guest, whose requests were only counted" "and the line says why"
exits 0 "compared with itself" "$b" compare "$T/store" "$T/store" --json
is "$(jq -c '[.worse, .better, .different]' "$T/out")" "[0,0,0]" "it is the same"
exits 0 "listed" "$b" ls --store "$T/store" --json
is "$(jq -c '.hosts[0].devices[0].requests | [.[]] | unique' "$T/out")" "[null]" \
	"ls says unknown, not 0"
exits 1 "a report needs requests" "$b" report --store "$T/store" -o "$T/r.html"
like "$(cat "$T/err")" "only counts" "and says why there are none"

exits 2 "bios are refused" "$agent" --source diskstats --device "$loop_dev" --layer queue --sink stdout:
like "$(cat "$T/err")" "^blkcast-agent: diskstats: .*layer device" "by name"
echo 0 >/sys/block/"$loop_name"/queue/iostats
exits 2 "a disk without statistics is refused" "$agent" --source diskstats --device "$loop_dev" --sink stdout:
like "$(cat "$T/err")" "^blkcast-agent: diskstats: 7:[0-9]+ keeps no statistics" "by name"
echo 1 >/sys/block/"$loop_name"/queue/iostats
exits 0 "doctor" "$agent" --doctor
is "$(sed -n 's/^source \([a-z]*\) .*/\1/p' "$T/out" | tr '\n' ' ')" "bpf blktrace tracefs diskstats " \
	"shows all sources in their order"
done_testing
