#!/usr/bin/env bash
# A report in a real browser: everything drawn, readable in light and dark, whole on a phone, with no
# script errors and nothing fetched.
. tests/support/tap.sh
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
need browser "no chromium to look at the page with" test -n "$browser"

blkcast=$BUILD/blkcast
make_trace=$BUILD/tests/system/make_trace

# look NAME PAGE WIDTH [dark]: the findings of report-browser.js about PAGE, shown WIDTH wide
look() {
	local name=$1 page=$2 width=$3 scheme=1
	[ "${4:-}" != dark ] || scheme=0
	sed 's#<head>#<head><script>window.pageErrors = []; window.addEventListener("error", function (e) { window.pageErrors.push(e.message); });</script>#' \
		"$page" >"$T/framed.html"
	{
		echo "<script>"
		cat tests/system/report-browser.js
		echo "</script>"
	} >>"$T/framed.html"
	cat >"$T/outer.html" <<-EOF
		<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
		<pre id="found"></pre>
		<script>
		window.addEventListener("message", function (m) {
		  document.getElementById("found").textContent = m.data;
		});
		</script>
		<iframe src="framed.html" style="width:${width}px;height:2000px;border:0"></iframe>
	EOF
	timeout -k 5 100 "$browser" --headless --no-sandbox --disable-gpu --disable-quic \
		--no-first-run --disable-background-networking --disable-component-update \
		--disable-sync --hide-scrollbars --user-data-dir="$T/profile-$name" \
		--blink-settings=preferredColorScheme=$scheme --window-size=1100,2100 \
		--virtual-time-budget=8000 --dump-dom "file://$T/outer.html" \
		>"$T/$name.dom" 2>"$T/$name.log"
	sed -n '/<pre id="found">/,/<\/pre>/p' "$T/$name.dom" |
		sed -e 's/.*<pre id="found">//' -e 's/<\/pre>.*//' >"$T/$name.found"
}
# found NAME KEY: the rest of that line
found() { sed -n "s/^$2 //p" "$T/$1.found"; }

# judge NAME WORDS FIGURES: what must hold however the page is shown
judge() {
	local contrast overflow
	is "$(found "$1" errors)" none "$2: no script error"
	is "$(found "$1" requests)" 0 "$2: nothing is fetched"
	is "$(found "$1" figures)" "$3" "$2: all pictures are there"
	is "$(found "$1" empty)" none "$2: every picture has more than axes"
	is "$(found "$1" untitled)" "" "$2: every picture has a title and a description"
	is "$(found "$1" overlaps)" none "$2: no two labels lie on one another"
	is "$(found "$1" cut)" none "$2: no label is cut off"
	contrast=$(found "$1" contrast)
	note "lowest contrast: $contrast"
	number "${contrast%% *} >= 4.5" "$2: every text stands out from its background by 4.5"
	overflow=$(found "$1" overflow)
	note "overflow: $overflow"
	number "${overflow%% *} <= 0" "$2: nothing is wider than the window"
}

$make_trace "$T/one.seg" 60 400 1 && $make_trace "$T/three.seg" 20 500 3 &&
	$make_trace "$T/short.seg" 0.4 3000 1 throttled && $make_trace "$T/untimed.seg" 3000 10 1 untimed
for t in one three short untimed; do
	exits 0 "a page of the trace '$t'" "$blkcast" report --utc "$T/$t.seg" -o "$T/$t.html"
done
holds "no address of another place in the page" \
	sh -c "! grep -Eo '(src|href|url)[=(][\"'\'']?(https?:)?//' '$T/one.html'"

look light "$T/one.html" 1060
judge light "one device, light" 16
is "$(found light paper)" "rgb(255, 255, 255)" "light paper where the reader wants light"
is "$(found light themes)" "rgb(255, 255, 255) rgb(20, 24, 29)" "the button changes to light, to dark"
is "$(found light crops)" "1 2 0 1" "one crop of the heat map is shown at a time, as clicked"
like "$(found light hover)" '^2026-09-10T.* requests from .* ms' "the pointer reads the heat map off"
is "$(found light links)" "16 of 16" "every picture has its data and its command"

# The zone is that of who made the page, in the axis and under the pointer; the reader's browser may be elsewhere.
exits 0 "a page of another zone" env TZ=Asia/Kolkata "$blkcast" report "$T/one.seg" -o "$T/zone.html"
TZ=America/New_York look zone "$T/zone.html" 1060
note "$(found light hover | cut -c1-60) | $(found zone hover | cut -c1-60)"
# clock HOVER: its time of day, as seconds
clock() { date -u -d "1970-01-01 $(grep -oE '[0-9]{2}:[0-9]{2}:[0-9]{2}' <<<"$1" | head -n 1)" +%s; }
is "$((($(clock "$(found zone hover)") - $(clock "$(found light hover)") + 86400) % 86400))" 19800 \
	"the pointer tells the time of the page's zone"

look dark "$T/one.html" 1060 dark
judge dark "one device, dark" 16
is "$(found dark paper)" "rgb(20, 24, 29)" "dark paper where the reader wants dark"

look phone "$T/three.html" 360
judge phone "three devices, on a phone" 23

look three "$T/three.html" 1060 dark
judge three "three devices" 23

look short "$T/short.html" 1060
judge short "less than a second" 16

look untimed "$T/untimed.html" 1060
judge untimed "no response times" 11

timeout -k 5 100 "$browser" --headless --no-sandbox --disable-gpu --no-first-run \
	--disable-background-networking --user-data-dir="$T/profile-print" --no-pdf-header-footer \
	--blink-settings=preferredColorScheme=0 --print-to-pdf="$T/one.pdf" "file://$T/one.html" \
	>/dev/null 2>&1
like "$(head -c 5 "$T/one.pdf")" '%PDF-' "it prints"

done_testing
