#!/usr/bin/env bash
# The live page in a real browser (tests/browser/live-page.mjs): real data of an agent under fio, changes without a
# question, the keyboard alone, a narrow window, dark and light, names that are markup, 1 000 hosts, more pages than may wait for events, a login that ends, a
# server that starts again, and the rules of axe-core. Any request to another place fails the test. The screenshots stay in
# the build folder.
. tests/support/tap.sh
. tests/loop.sh
. tests/browser/setup.sh
need_browser
need jq "no jq" command -v jq
need fio "no fio" command -v fio
need certificates "no openssl" command -v openssl
need_loop
need_bpf
b=$BUILD/blkcast server="" agent="" load="" closed_server=""
stop_all() {
	for p in $load $agent $server $closed_server; do kill "$p" 2>/dev/null; done
	for p in $load $agent $server $closed_server; do wait "$p" 2>/dev/null; done
}
at_exit stop_all

port=$(free_port) page=$(free_port)
# One script, so that the browser's test can start the server again under the open page.
cat >"$T/serve.sh" <<-SERVE
	if [ -e "$T/serve.pid" ]; then
		kill "\$(cat "$T/serve.pid")"
		for i in \$(seq 300); do kill -0 "\$(cat "$T/serve.pid")" 2>/dev/null || break; sleep 0.1; done
		sleep 1
	fi
	: >"$T/serve.err"
	setsid "$b" serve $serve_user --store "$T/store" --models "$T/models" --objectives docs/examples/objectives.yaml --labels "$T/labels" --listen 127.0.0.1:$port --page 127.0.0.1:$page >"$T/serve.out" 2>"$T/serve.err" &
	echo \$! >"$T/serve.pid"
SERVE
printf '%s\n' '# hosts' 'guest1 role=<b>db</b> site=north zone=a-name-of-a-zone-that-is-longer-than-a-column-of-a-table' 'guest2 role=web' >"$T/labels"
mkdir "$T/models"
cp docs/examples/scenarios/disks-*.json docs/examples/scenarios/{growth,today}.yaml "$T/models/"
serve_owns "$T/models" "$T/labels"
stop_serve() { kill "$(cat "$T/serve.pid" 2>/dev/null)" 2>/dev/null; }
at_exit stop_serve
bash "$T/serve.sh"
serve_port "$T/serve.err" >/dev/null
loop_new 64M
"$BUILD/blkcast-agent" --device "$loop_name" --host guest1 --sink "http://127.0.0.1:$port" --segment-interval 1s \
	--spool "$T/spool" >"$T/agent.out" 2>"$T/agent.err" &
agent=$!
fio --name=load --filename="$loop_dev" --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw --bssplit=4k/70:16k/30 \
	--rate_iops=200,80 --time_based --runtime=600 >"$T/fio.out" 2>&1 &
load=$!
has_device() { [ "$(curl -sm 5 "http://127.0.0.1:$page/api/v1/fleet" | jq '.rows == 1 and .devices[0].requests_per_s > 0')" = true ]; }
holds "the agent's windows arrive" wait_until 60 has_device

# Another store: many hosts that went silent, the first device of which is named to deceive a page.
"$BUILD/tests/system/make_trace" "$T/one.seg" 20 400 1
"$b" characterize --json "$T/one.seg" | jq -c 'if type == "array" then .[0] else . end' >"$T/profile.json"
"$BUILD/tests/system/fleet_store" "$T/many" "$T/profile.json" 1000 1 1767222000 '<img src=x onerror="document.title=1">'
serve_owns "$T/many"
: >"$T/many.err"
"$b" serve $serve_user --store "$T/many" --listen 127.0.0.1:0 --page 127.0.0.1:0 >"$T/many.out" 2>"$T/many.err" &
server=$!
has_page() { grep -q 'the page is at port' "$T/many.err"; }
wait_until 120 has_page
many=$(sed -n 's/.*the page is at port \([0-9]*\) .*/\1/p' "$T/many.err")


# The same store with a login, whose token the browser's test takes away.
echo "0123456789abcdef-reader" >"$T/reader"
echo "fleet $(tr -d '\n' <"$T/reader" | sha256sum | cut -d' ' -f1)" >"$T/tokens"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$T/key.pem" -out "$T/cert.pem" 2>"$T/openssl.err"
"$BUILD/tests/system/fleet_store" "$T/closed" "$T/profile.json" 1 2 1767222000
serve_owns "$T/tokens" "$T/key.pem" "$T/cert.pem" "$T/closed"
: >"$T/closed.err"
"$b" serve $serve_user --store "$T/closed" --listen 127.0.0.1:0 --tls-cert "$T/cert.pem" --tls-key "$T/key.pem" \
	--page 127.0.0.1:0 --page-tokens "$T/tokens" >"$T/closed.out" 2>"$T/closed.err" &
closed_server=$!
has_closed() { grep -q 'the page is at port' "$T/closed.err"; }
wait_until 120 has_closed
closed=$(sed -n 's/.*the page is at port \([0-9]*\) .*/\1/p' "$T/closed.err")

mkdir -p "$BUILD/browser/shots"
CLOSED=https://localhost:$closed TOKENS=$T/tokens TOKEN=$(cat "$T/reader") PAGE=http://127.0.0.1:$page MANY=http://127.0.0.1:$many RESTART="$T/serve.sh" SHOTS=$BUILD/browser/shots \
	BROWSER=$browser MODULES=$(realpath "$BUILD/browser/node_modules") \
	timeout -k 5 240 node tests/browser/live-page.mjs >"$T/found" 2>"$T/found.err"
is "$?" 0 "the browser's test comes to its end"
head -c 2000 "$T/found.err" | sed 's/^/# /'
judge_found "$T/found"
done_testing
