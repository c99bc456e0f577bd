#!/usr/bin/env bash
# Policies for raw requests: blkcast policy states them, serve tells them to the agent, the agent sends the requests of
# chosen windows, and the ledger says what it kept back. Whatever the policy, completed = sent + kept back + lost.
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with an error.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
need jq "jq is missing" have jq
need curl "curl is missing" have curl
need python3 "python3 is missing" have python3
b=$BUILD/blkcast
server="" agent=""
stop_all() { kill -9 $server $agent 2>/dev/null; wait 2>/dev/null; }
at_exit stop_all
"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 2>"$T/serve" &
server=$!
url=http://127.0.0.1:$(serve_port "$T/serve" "$server")
# send SPOOL HOST SEGMENTS [KEY=VALUE...]: segments of 10 requests, each a second of the host's clock long
send() { timeout 120 "$BUILD/tests/system/agent_sender" "$url" "$T/spool-$1" "$2" "$3" 10 60 "${@:4}" 2>"$T/agent"; }
field() { "$BUILD/tests/system/segment_sum" "$T/store/segments/$2" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
# policy TEXT: puts it in force, and waits until the serve has it
policy() {
	local before
	before=$(grep -c 'are in force' "$T/serve")
	printf 'policies:\n%s\n' "$1" >"$T/policies.yaml"
	exits 0 "the policy is stated: $(head -n 1 <<<"$1")" "$b" policy "$T/policies.yaml" --store "$T/store"
	wait_until 20 eval '[ "$(grep -c "are in force" "$T/serve")" -gt '"$before"' ]'
}

exits 0 "a store has no policies at first" "$b" policy --store "$T/store"
like "$(cat "$T/out")" '^no policies' "and says so"
policy '  - {tenant: acme, hosts: [half*, even], sample: 50, window: 1s}
  - {tenant: quiet, hosts: ["mute"], keep: never}
  - {tenant: around, hosts: ["ring"], around: 1h, p99: 20ms, rise: 3}'
like "$(cat "$T/out")" '^acme \(half\*, even\): requests of 50 % of the windows of 1 s are sent' "in words"
like "$(cat "$T/out")" 'no requests are sent but those 3600 s around a p99 above 20 ms or above 3 times the usual' "as is a breach"
exits 0 "and as JSON" "$b" policy --store "$T/store" --json
is "$(jq -c '[.policies[] | [.tenant, .sample_ratio, .around_s]]' "$T/out")" '[["acme",0.5,0],["quiet",0,0],["around",0,3600]]' \
	"with its numbers"

is "$(send free free 20)" "captured 200 lost 0 left 0" "a host of no tenant"
is "$(field requests free) $(field kept_back free)" "200 0" "sends every request"
is "$(send mute mute 20 log=1)" "captured 200 lost 0 left 0" "a host whose requests are not wanted"
is "$(field requests mute) $(field kept_back mute) $(field sum mute)" "10 190 200" \
	"sends one segment before it hears of that, and the ledger says how many it kept back"
like "$(cat "$T/agent")" 'sample_ppm=0 window_s=60' "as does its log"
exits 0 "ls reads what it sent" "$b" ls --store "$T/store" --host mute
like "$(cat "$T/out")" 'kept back: 190 .95 % of the captured requests.$' "and says what part was kept back"
is "$(grep -c 'lost:' "$T/out")" 0 "which it does not take for a loss"
exits 0 "as it does in JSON" "$b" ls --store "$T/store" --host mute --json
is "$(jq -c '[.. | objects | select(has("captured")) | .lost, .kept_back, .lost_by_cause]' "$T/out")" "[0,190,{}]" "in a field of its own"
exits 0 "characterize reads it" "$b" characterize --store "$T/store" --host mute
like "$(cat "$T/err")" '190 requests of these hosts were kept back on purpose .*, in 95 % of the time' "and says what its rates are over"
exits 0 "report reads it" "$b" report --store "$T/store" --host mute -o "$T/mute.html"
like "$(cat "$T/err")" '190 requests of these hosts were kept back on purpose' "and says the same"
like "$(cat "$T/mute.html")" 'Kept back on purpose, by a policy or for hindsight: 190 requests' "on its page as well"
is "$(send half half1 60)" "captured 600 lost 0 left 0" "a host with half of its windows wanted"
sent=$(field requests half1) kept=$(field kept_back half1)
number "$sent >= 150 && $sent <= 450 && $sent + $kept == 600" "sends about half of the windows, whole, and counts the others"
is "$((sent % 10)) $(field sum half1)" "0 600" "and completed = sent + kept back + lost"
whole() { # HOST: the sequences that were sent whole
	"$b" dump --store "$T/store" --host "$1" --format csv | cut -d , -f 1 | tail -n +2 | sort -u | wc -l
}
is "$(send again half1 60 epoch=1767225700000000000)" "captured 600 lost 0 left 0" "the same windows again, by another run"
number "$(field requests half1) - $sent - $sent <= 10 && $sent + $sent - $(field requests half1) <= 10" \
	"are chosen again, but for the first segment, which goes before the policy is heard"
is "$(send bound half2 60 least_ppm=1000000)" "captured 600 lost 0 left 0" "an agent whose user wants all requests sent"
is "$(field requests half2) $(field kept_back half2)" "600 0" "obeys that, and not the policy"

# A policy that changes while the agent runs takes effect with its next answer.
send change changed 400 interval_ms=25 log=1 >"$T/sent" &
sending=$!
wait_until 20 test -d "$T/store/segments/changed"
policy '  - {tenant: all, hosts: ["*"], keep: never}'
wait_until 20 grep -q 'sample_ppm=0 ' "$T/agent"
is "$?" 0 "the running agent takes the policy"
policy '  []'
wait_until 20 grep -q 'sample_ppm=1000000 ' "$T/agent"
is "$?" 0 "and ends it where there is none any more"
wait $sending
is "$(cat "$T/sent")" "captured 4000 lost 0 left 0" "everything is acknowledged"
sent=$(field requests changed) kept=$(field kept_back changed)
number "$sent >= 10 && $kept >= 10 && $sent + $kept == 4000" "and the counts balance"
is "$(field sum changed)" 4000 "in the ledger as well"

# A whole agent, whose load is generated: 4000 requests a second, and as slow as the file says.
policy '  - {tenant: real, hosts: [real], around: 4s, p99: 20ms}'
printf 00001000 >"$T/latency"
SYNTHETIC_RATE=4000 SYNTHETIC_LATENCY=$T/latency "$BUILD/tests/system/synthetic_agent" --host real --sink "$url" \
	--spool "$T/spool-real" --window 500ms --segment-interval 500ms --verbose 2>"$T/agent" &
agent=$!
wait_until 60 grep -q 'sample_ppm=0 window_s=60 around_s=4 p99_us=20000' "$T/agent"
is "$?" 0 "an agent hears of the policy"
has() { local nr; nr=$(field "$1" real 2>/dev/null) && [ "${nr:-0}" -ge "$2" ]; }
holds "and keeps back what is not wanted" wait_until 60 has kept_back 8000
before=$(field requests real)
printf 00100000 1<>"$T/latency"
holds "windows whose p99 is above the limit make their requests be sent" wait_until 60 has requests $((before + 12000))
printf 00001000 1<>"$T/latency"
sleep 1
kept=$(field kept_back real)
holds "and once they are over, no more are sent" wait_until 60 has kept_back $((kept + 16000))
kill "$agent" && wait "$agent"
agent=""
captured=$(sed -n 's/.* ended: \([0-9]*\) requests captured.*/\1/p' "$T/agent")
sent=$(field requests real) kept=$(field kept_back real)
number "${captured:-0} > 30000 && $sent + $kept == ${captured:-0}" "what was captured is what was sent and what was kept back"
is "$(field sum real)" "$captured" "and nothing was lost"
"$b" dump --store "$T/store" --host real --format csv >"$T/sent.csv"
# Requests complete every 250 us, and a window lasts 500 ms. What may be missing of the 4 s is for a machine that is slow.
is "$(python3 - "$T/sent.csv" <<'P'
import csv, sys
rows = [(float(r["arrival_s"]) + float(r["total_s"]), float(r["total_s"])) for r in csv.DictReader(open(sys.argv[1]))]
slow = [at for at, total in rows if total > 0.02]
around = sorted(at for at, total in rows if min(slow) - 2.1 <= at <= max(slow) + 2.1)
gaps = [b - a for a, b in zip(around, around[1:])]
print(max(gaps) < 0.1, around[0] < min(slow) - 2, around[-1] > max(slow) + 2)
P
)" "True True True" "all requests of the 2 s around the slow ones were sent"

# Profiles count what was kept back: no rate and no total is over the requests that were sent alone.
exits 0 "characterize reads the host" "$b" characterize --store "$T/store" --host real --json
is "$(jq -c '[([.[0].requests | .read, .write] | add), .[0].source_detail.kept_back.requests]' "$T/out")" "[$captured,$kept]" \
	"and its totals have what was kept back"
is "$(jq '.[0].intensity.open.rate_per_s > 3800 and .[0].intensity.open.rate_per_s < 4200' "$T/out")" true "as its rate has"
like "$(jq -r '.[0].quality.why' "$T/out")" 'Of [0-9.]* % of the requests there are profiles alone' "and its grade says it"
like "$(cat "$T/err")" "profiles give $kept of them to counts, rates and response times" "as does a note"
exits 0 "as it does in periods" "$b" characterize --store "$T/store" --host real --window 2s --json
is "$(jq -c '[([.[].requests | .read, .write] | add), ([.[].source_detail.kept_back.requests // 0] | add)]' "$T/out")" "[$captured,$kept]" \
	"whose sums are all that was captured, and all that was kept back"
read -r from to requests < <(jq -r '[.[] | select(.source_detail.kept_back.requests == (.requests | add) and .end_s - .begin_s > 1.9)] |
	.[-1] | [.begin_s, .end_s, (.requests | add)] | join(" ")' "$T/out")
number "${requests:-0} > 0" "a period of which nothing was sent is there"
exits 0 "also alone" "$b" characterize --store "$T/store" --host real --json --begin "@$from" --end "@$to"
is "$(jq -c '[.[] | .requests | add]' "$T/out")" "[$requests]" "with its requests"
exits 2 "a report cannot be of it" "$b" report --store "$T/store" --host real --begin "@$from" --end "@$to" -o "$T/none.html"
like "$(cat "$T/err")" 'hosts kept back [0-9]* requests on purpose: .blkcast characterize. has the profiles of their time' "and says why"

metrics=$(curl -s "$url/metrics")
like "$metrics" '^blkcast_serve_policies 1$' "/metrics has the number of policies"
like "$metrics" "^blkcast_serve_kept_back_requests_total{host=\"real\"} $kept$" "and what each host kept back"
like "$metrics" '^blkcast_serve_kept_back_segments_total{host="mute"} 19$' "also in segments"

# The store gives up requests at the age that a policy says, and those of no other host.
policy '  - {tenant: acme, hosts: [half1], keep: 7d}
  - {tenant: other, hosts: [half2], keep: 30000d}'
requests=$(field requests half1) kept=$(field kept_back half1)
exits 0 "retain needs no limit where a policy has one" "$b" retain --store "$T/store" --json
is "$(jq -c '[.segments, .requests]' "$T/out")" "[$((requests / 10)),$requests]" "and summarizes this tenant's segments with requests"
is "$(field requests half1) $(field kept_back half1)" "0 $kept" "those without stay, since they hold the profiles of their time"
exits 0 "ls reads the store" "$b" ls --store "$T/store" --json
is "$("$b" dump --store "$T/store" --host half1 --format csv | wc -l)" 1 "no request of the tenant is left"
is "$(field requests half2) $(field requests free)" "600 200" "and every one of the others"
exits 0 "check finds the store whole" "$b" check --store "$T/store"

# Ages are said in their own units, and a tenant's name is a word.
policy '  - {tenant: a, hosts: [x], keep: 5400.5s}'
like "$(cat "$T/out")" '^a \(x\): all requests are sent; they are kept for 1 h 30 min' "an age is told in hours"
is "$("$b" policy --store "$T/store" --json | jq .policies[0].keep_s)" 5400.5 "and the age is whole in JSON"

# A file that is wrong changes nothing.
policy '  []'
while IFS='|' read -r text why; do
	printf 'policies:\n  - %s\n' "$text" >"$T/wrong.yaml"
	exits 2 "refused: $text" "$b" policy "$T/wrong.yaml" --store "$T/store"
	like "$(cat "$T/err")" "wrong.yaml:2: $why" "in one line"
	is "$(wc -l <"$T/err")" 1 "of its own"
done <<'END'
{tenant: a, hosts: [web*], sample: 101}|sample: expected
{tenant: a, hosts: [web*], sample: nan}|sample: expected
{tenant: "a\\e[31m", hosts: [x]}|.*tenant: expected
{tenant: a, hosts: [../x]}|.*expected the name of a host
{tenant: a, hosts: [web*], keep: soon}|keep: expected always, never
{tenant: a, hosts: [web*], keep: never, sample: 5}|.*keep: expected
{tenant: a, hosts: [web*], around: 10m}|.*around: expected p99 or rise
{tenant: a, hosts: [web*], p99: 10ms}|.*expected.*around
{tenant: a, hosts: [web*], sample: 5, window: 2h}|window: expected whole seconds
{tenant: a, hosts: [web*], profiles: never}|.*profiles
{hosts: [web*]}|.*tenant
END
is "$("$b" policy --store "$T/store")" "no policies: agents send requests as they are configured" "what was in force stays"
printf 'policies: [' >"$T/store/policies.yaml"
wait_until 20 grep -q 'policies cannot be read: policies' "$T/serve"
is "$?" 0 "a serve says that it cannot read a damaged file"
is "$(send last free 2 epoch=1767225800000000000)" "captured 20 lost 0 left 0" "and goes on"
kill $server; wait $server 2>/dev/null
exits 2 "one does not start with it, since agents would send what policies forbid" \
	timeout 20 "$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0
like "$(cat "$T/err")" 'policies cannot be read: policies.*blkcast policy FILE' "and says what to do"
exits 2 "retain says so too" "$b" retain --store "$T/store" --retain-requests 1s
like "$(cat "$T/err")" '^blkcast retain: policies:' "in one line"
is "$(field requests free) $(field requests half2)" "0 0" "when it has done what its limits say"
done_testing
