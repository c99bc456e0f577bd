#!/usr/bin/env bash
# Measures the live page in a real browser and writes docs/studies/page/results.md. Run it on an idle machine, as root:
#	make tests && bash tests/browser/figures.sh make DIR	makes stores of 1 000 and 10 000 hosts and of one device
#								with the 86 400 windows of a day, in about three minutes
#	bash tests/browser/figures.sh DIR			measures them, and an agent on a loop device under fio,
#								in about two minutes
cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-build}
b=$BUILD/blkcast stores=${*: -1}
if [ "$1" = make ]; then
	mkdir -p "$stores" && "$BUILD/tests/system/make_trace" "$stores/one.seg" 1 400 1 || exit 1
	"$b" characterize --json "$stores/one.seg" | jq -c 'if type == "array" then .[0] else . end' >"$stores/profile.json"
	date +%s >"$stores/now"
	now=$(cat "$stores/now")
	"$BUILD/tests/system/fleet_store" "$stores/thousand" "$stores/profile.json" 1000 2 "$now"
	"$BUILD/tests/system/fleet_store" "$stores/many" "$stores/profile.json" 10000 1 "$now"
	"$BUILD/tests/system/fleet_store" "$stores/day" "$stores/profile.json" 1 86400 "$now" sda 5
	for store in thousand many day; do "$b" ls "$stores/$store" >/dev/null; done
	exit
fi
load=$(cut -d' ' -f1 /proc/loadavg) # before the servers and the browser, whose work is part of the figures
. tests/support/tap.sh
. tests/loop.sh
. tests/browser/setup.sh
need_browser
need fio "no fio" command -v fio
need_loop
need_bpf
out=docs/studies/page/results.md
pids=""
stop_all() { for p in $pids; do kill "$p" 2>/dev/null; done; wait 2>/dev/null; }
at_exit stop_all

# serve_page NAME STORE [OPTION...]: starts a server; sets $url and $server.
serve_page() {
	local name=$1 store=$2
	shift 2
	serve_owns "$store"
	: >"$T/$name.err"
	"$b" serve $serve_user --store "$store" --page 127.0.0.1:0 "$@" >"$T/$name.out" 2>"$T/$name.err" &
	server=$!
	pids="$pids $server"
	has_page() { grep -q 'the page is at port' "$T/$name.err"; }
	wait_until 120 has_page
	url=http://127.0.0.1:$(sed -n 's/.*the page is at port \([0-9]*\) .*/\1/p' "$T/$name.err")
	loaded() { [ "$(curl -sm 20 "$url/api/v1/fleet?limit=1" | jq '.segments_loaded > 0 and .segments_loaded == .segments_to_load')" = true ]; }
}
[ -e "$stores/now" ] || { echo "usage: figures.sh [make] DIR: expected a folder that make has filled"; exit 2; }
now=$(cat "$stores/now")
serve_page thousand "$stores/thousand" --listen 127.0.0.1:0; wait_until 60 loaded; thousand=$url
serve_page many "$stores/many" --listen 127.0.0.1:0; wait_until 120 loaded; many=$url
rm -f "$stores"/*/page.sqlite* # what an earlier run has kept
serve_page day "$stores/day" --listen 127.0.0.1:0; wait_until 120 loaded; day=$url day_pid=$server day_s=$SECONDS
# The day was not taken window by window, so that serve adds all of it up now, with rests. It is done when it rests long.
ticks() { sed 's/.*) //' "/proc/$day_pid/stat" | awk '{ print $12 + $13 }'; }
rests() { local before; before=$(ticks); sleep 3; [ "$(ticks)" = "$before" ]; }
sleep 6 # Its thread begins some seconds after the store was read.
wait_until 150 rests
day_cpu=$(awk "BEGIN { printf \"%.1f\", $(ticks) / $(getconf CLK_TCK) }") day_s=$((SECONDS - day_s - 3))

# An agent under fio, whose window of each second every page draws anew.
mkdir "$T/live"
serve_page live "$T/live" --listen 127.0.0.1:0
live=$url live_pid=$server
loop_new 64M
"$BUILD/blkcast-agent" --device "$loop_name" --host guest1 --sink "http://127.0.0.1:$(serve_port "$T/live.err")" \
	--segment-interval 1s --spool "$T/spool" >"$T/agent.out" 2>"$T/agent.err" &
pids="$pids $!"
fio --name=load --filename="$loop_dev" --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw --bs=4k --rate_iops=200,80 \
	--time_based --runtime=600 >"$T/fio.out" 2>&1 &
pids="$pids $!"
arrived() { [ "$(curl -sm 20 "$url/api/v1/fleet" | jq .rows)" = 1 ]; }
wait_until 30 arrived

THOUSAND=$thousand MANY=$many DAY=$day NOW=$now LIVE=$live LIVE_PID=$live_pid BROWSER=$browser \
	MODULES=$(realpath "$BUILD/browser/node_modules") DAY_CPU=$day_cpu DAY_S=$day_s DAY_KIB=$(du -kc "$stores"/day/page.sqlite* | tail -n 1 | cut -f1) timeout -k 5 170 node tests/browser/figures.mjs >"$T/rows" || {
	cat "$T/rows"
	exit 1
}
mkdir -p "$(dirname $out)"
{
	printf '# The live page in a browser\n\n'
	printf '`make tests && bash tests/browser/figures.sh make DIR`, then `bash tests/browser/figures.sh DIR` repeat it. Medians\n'
	printf 'of five, of three for the device; over loopback, in a browser without a graphics processor (%s),\n' \
		"$("$browser" --version 2>/dev/null | tr -d '\n' | sed 's/ *$//' | cut -d' ' -f1,2)"
	printf '%s processors, load average %s when the script began, %s. The browser and serve are new for the first\n' \
		"$(nproc)" "$load" "$(date -u +%F)"
	printf 'look at the day, whose windows serve has added up before.\n\n'
	printf '| what | measured | goal |\n|---|---|---|\n'
	cat "$T/rows"
} >$out
cat $out
