#!/usr/bin/env bash
# Names that come from a guest deceive neither a terminal nor a page nor who reads JSON: devices, processes,
# cgroups and files of a store with escape sequences, line ends, DEL, bytes that are no UTF-8, controls of the
# direction of writing, markup and quotes.
. tests/support/tap.sh
b=$BUILD/blkcast
sample_store=$BUILD/tests/system/sample_store
esc=$(printf '\033[31m\033]0;t\a\r\n\177\302\233<script>\342\200\256\042\047')
name=$(printf '%s' "$esc" | jq -Rs .)

# Says what of a file must not reach a terminal: C0 but newline and tab, DEL, C1, bidirectional controls, no UTF-8.
cat >"$T/raw.py" <<'END'
import sys, unicodedata
for path in sys.argv[1:]:
	data = open(path, "rb").read()
	try:
		bad = {c for c in data.decode() if c not in "\n\t" and
		       (unicodedata.category(c) == "Cc" or c in "\u061c\u200e\u200f\u2028\u2029"
			or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069")}
	except UnicodeDecodeError as e:
		bad = {str(e)}
	if bad:
		print(path, sorted(bad))
END
# shows STATUS NAME COMMAND...: its exit status, and that both its outputs may go to a terminal
shows() {
	exits "$@"
	is "$(python3 "$T/raw.py" "$T/out" "$T/err" | sed "s|$T/||")" "" "$2: nothing raw"
}
# parses STATUS NAME COMMAND...: the same of a command whose output is JSON
parses() {
	shows "$@"
	holds "$2: is JSON" sh -c 'exec jq -e . "$1" >"$2"' sh "$T/out" "$T/null"
}

"$sample_store" "$T/plain"
"$b" characterize --store "$T/plain" --host web1 --device sda --json | jq -c --argjson name "$name" '.[0] |
	.device_name = $name | .source = "diskstats" | .quality.why = $name' >"$T/profile.json"
"$sample_store" "$T/store" hostile "$T/profile.json"
seg=$T/store/segments/web1/b1/00000000000000000005/0000000000.seg

# Whether a table is CSV (RFC 4180) in UTF-8, each row has as many fields as the head, and no cell is a formula.
cat >"$T/sheet.py" <<-'END'
	import csv, sys
	rows = list(csv.reader(open(sys.argv[1], encoding="utf-8", newline=""), strict=True))
	print(len(rows) > 1, {len(row) for row in rows} == {len(rows[0])},
		not any(cell[:1] and cell[0] in "=+-@\t\r\n" for row in rows for cell in row))
END

for from in "--store $T/store" "$seg"; do
	kind=${from%% *}
	[ "$kind" = --store ] || kind=file
	# shellcheck disable=SC2086
	{
	shows 0 "characterize, $kind" "$b" characterize $from
	parses 0 "characterize --json, $kind" "$b" characterize --json $from
	shows 0 "characterize --together, $kind" "$b" characterize --together $from
	parses 0 "characterize --together --json, $kind" "$b" characterize --together --json $from
	shows 0 "characterize --who, $kind" "$b" characterize --who $from
	parses 0 "characterize --who --json, $kind" "$b" characterize --who --json $from
	shows 0 "the table of issuers, $kind" "$b" report --figure who --csv $from
	is "$(python3 "$T/sheet.py" "$T/out")" "True True True" "the table of issuers, $kind: a spreadsheet takes it as text and numbers"
	for table in devices hosts week; do
		shows 0 "the fleet's $table, $kind" "$b" report --together --csv --figure $table $from
		is "$(python3 "$T/sheet.py" "$T/out")" "True True True" "the fleet's $table, $kind: a spreadsheet takes it as text and numbers"
	done
	shows 0 "dump, $kind" "$b" dump --limit 50 $from
	is "$(($(wc -l <"$T/out")))" 51 "dump, $kind: a line a request"
	shows 0 "dump as CSV, $kind" "$b" dump --format csv --limit 50 $from
	is "$(awk -F, '{ print NF }' "$T/out" | sort -u)" 18 "dump as CSV, $kind: as many fields as the head has"
	parses 0 "dump as JSON lines, $kind" "$b" dump --json --limit 50 $from
	shows 0 "export csv, $kind" "$b" export --format csv $from
	is "$(awk -F, '{ print NF }' "$T/out" | sort -u)" 18 "export csv, $kind: as many fields as the head has"
	shows 0 "compare, $kind" "$b" compare "${from#--store }" "${from#--store }"
	parses 0 "compare --json, $kind" "$b" compare "${from#--store }" "${from#--store }" --json
	shows 0 "report, $kind" "$b" report $from -o "$T/page.html"
	is "$(python3 "$T/raw.py" "$T/page.html")" "" "report, $kind: nothing raw in the page"
	is "$(grep -o '<script>alert\|<script>_\|<script>.x' "$T/page.html")" "" "report, $kind: a name begins no script"
	is "$(grep -o '<script' "$T/page.html" | wc -l)" \
		"$("$b" report --store "$T/plain" -o /dev/stdout | grep -o '<script' | wc -l)" \
		"report, $kind: as many scripts as with harmless names"
	for command in dump "characterize" "export --format csv" "report -o $T/x.html"; do
		shows 2 "${command%% *} of nothing, $kind" "$b" $command --device "wrong$esc" $from
		like "$(cat "$T/err")" "the devices are: .* of web1" "${command%% *} of nothing, $kind: names the devices"
	done
	}
done
parses 0 "dump of stored profiles" "$b" dump --profiles --store "$T/store"
is "$(jq -r .device_name "$T/out" | sha1sum)" "$(printf '%s\n' "$esc" | sha1sum)" "and they say the name as it is"
shows 2 "a profile that is not there" "$b" mimic "$T/profile.json" --device wrong --target /dev/sdx
shows 0 "two profiles beside each other" "$b" compare "$T/profile.json" "$T/profile.json"
shows 0 "ls --all" "$b" ls --store "$T/store" --all
parses 0 "ls --json" "$b" ls --store "$T/store" --json
is "$(jq -c '[.hosts[].devices | length]' "$T/out")" "[2,2]" "it has all devices"
shows 2 "a host that is not there" "$b" ls --store "$T/store" --host "$esc"
shows 0 "check" "$b" check --store "$T/store"
parses 0 "check --json" "$b" check --store "$T/store" --json

# Files that are no segments, in a folder of a store; and names of files on the command line.
echo "no segment" >"$T/store/segments/web1/b1/00000000000000000005/$(printf '\033[31m\342\200\256\377')"
echo "no segment" >"$T/store/segments/web1/b1/00000000000000000005/0000000009.seg"
cp "$seg" "$T/$esc"$'\377'.seg
shows 1 "check with damaged files" "$b" check --store "$T/store"
parses 1 "check --json with damaged files" "$b" check --store "$T/store" --json
shows 1 "check that mends them" "$b" check --store "$T/store" --repair
shows 0 "a segment file of a hostile name" "$b" characterize "$T/$esc"$'\377'.seg
parses 0 "compare of it" "$b" compare "$T/$esc"$'\377'.seg "$T/$esc"$'\377'.seg --json
parses 0 "report --json into it" "$b" report "$seg" -o "$T/$esc"$'\377'.html --json
awk 'BEGIN { print "a,y"; for (i = 1; i <= 40; i++) print i "," 3 * i + i % 3 }' >"$T/table.csv"
parses 0 "fit --json into it" "$b" fit "$T/table.csv" --response y --techniques lrm --standard \
	-o "$T/$esc"$'\377'.json --json
is "$(jq -r '.model | test("xff")' "$T/out")" true "and it says the file"
parses 0 "arch check --json of it" sh -c 'cp docs/examples/shop.yaml "$2" && exec "$1" arch check "$2" --json' sh \
	"$b" "$T/$esc"$'\377'.yaml
shows 2 "a file that is not there" "$b" characterize "$T/none$esc"$'\377'
shows 2 "a store that is not there" "$b" ls --store "$T/none$esc"$'\377'
shows 2 "an option that is none" "$b" ls "--$esc"
shows 2 "a command that is none" "$b" "$esc"$'\377'
mv "$T/store" "$T/$esc"$'\377'
shows 1 "check of a store of a hostile name" "$b" check --store "$T/$esc"$'\377'
parses 0 "ls --json of a store of a hostile name" "$b" ls --store "$T/$esc"$'\377' --json

# What retention keeps of them.
"$sample_store" "$T/old" hostile
exits 0 "retention" "$b" retain --store "$T/old" --retain-requests 1s
shows 0 "ls of summaries" "$b" ls --store "$T/old"
parses 0 "ls --json of summaries" "$b" ls --store "$T/old" --json
is "$(jq -c '[.hosts[].devices | length]' "$T/out")" "[2,2]" "it has all devices"
shows 0 "characterize of summaries" "$b" characterize --store "$T/old"
parses 0 "characterize --json of summaries" "$b" characterize --store "$T/old" --json
done_testing
