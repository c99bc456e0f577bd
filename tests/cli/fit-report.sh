#!/usr/bin/env bash
# blkcast fit --report and predict --report: the pictures of a model.
. tests/support/tap.sh
cmd="$BUILD/blkcast"
awk 'BEGIN { srand(7); print "kb,disk,read,y"
	for (i = 0; i < 120; i++) { k = 1 + int(rand() * 64); r = int(rand() * 100); d = rand() < 0.5 ? "s<s>d" : "hdd"
		printf "%d,%s,%d,%.6f\n", k, d, r, 2 + k * 0.1 + (d == "hdd" ? 3 + r * 0.05 : 0) + rand() * 0.2 } }' >"$T/t.csv"

for t in mars-ia cart cubist; do
	exits 0 "$t draws its report" "$cmd" fit "$T/t.csv" -r y -t $t --standard -q -o "$T/$t.json" --report "$T/$t.html"
	exits 0 "and the saved model draws it" "$cmd" predict "$T/$t.json" --report "$T/again.html"
	holds "with the same bytes but for its foot" cmp <(sed '/class="made"/d' "$T/$t.html") <(sed '/class="made"/d' "$T/again.html")
	like "$(grep 'class="made"' "$T/$t.html")" "<code>blkcast fit .* -t $t .*</code>, blkcast [0-9.]*, on <time " "the foot has the command, version and day"
	is "$(grep -o 'id="model-\(effect-[0-9]\|errors\|predicted\)"' "$T/$t.html" | sort -u | tr '\n' ' ')" \
		'id="model-effect-0" id="model-effect-1" id="model-effect-2" id="model-errors" id="model-predicted" ' \
		"every picture is there"
	is "$(grep -o '<circle class="dot read"[^>]*r="2.5"' "$T/$t.html" | wc -l)" 120 "each row is a dot"
	is "$(grep -c 's<s>d' "$T/$t.html")" 0 "levels are escaped"
	is "$(grep -cE 'https?://|nan|inf"' <(sed 's|http://www.w3.org/2000/svg||g;/class="made"/d' "$T/$t.html"))" 0 "nothing is fetched or not a number"
done
exits 0 "a learned logarithm is drawn in units of the response" "$cmd" fit "$T/t.csv" -r y --log -t mars --standard -q --report "$T/log.html"
printf 'a,b,y\n' >"$T/zero.csv"
awk 'BEGIN { for (i = 0; i < 40; i++) print i "," 5 "," (i % 7 ? i : 0) }' >>"$T/zero.csv"
exits 0 "zeros in the response and a constant variable" "$cmd" fit "$T/zero.csv" -r y -t cart --standard -q --report "$T/zero.html"
is "$(grep -ciE '[^a-z]nan[^a-z]' "$T/zero.html")" 0 "give finite pictures"
exits 2 "a page that cannot be written fails" "$cmd" predict "$T/cart.json" --report "$T/none/x.html"
like "$(cat "$T/err")" 'none/x.html: the file cannot be written: No such file or directory; make its folder first' \
	"and says what, where and what to do"
done_testing
