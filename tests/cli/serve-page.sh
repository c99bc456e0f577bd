#!/usr/bin/env bash
# The live page without a browser: what its listener answers and refuses, and that the numbers are the store's.
. tests/support/tap.sh
need curl "no curl" command -v curl
need jq "no jq" command -v jq
need certificates "no openssl" command -v openssl
need sqlite3 "sqlite3 is not installed" command -v sqlite3
# A sanitizer cannot look for leaks in who has changed its user, and ends it with 1.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
b=$BUILD/blkcast
"$BUILD/tests/system/make_trace" "$T/one.seg" 20 400 1
"$b" characterize --json "$T/one.seg" >"$T/whole.json"
jq -c 'if type == "array" then .[0] else . end |
	.source = "diskstats" | .host = "web1" | .end_s += 1767222000 - .begin_s | .begin_s = 1767222000' "$T/whole.json" >"$T/profile.json"
"$BUILD/tests/system/sample_store" "$T/store" hostile "$T/profile.json"
serve_owns "$T/store"
: >"$T/serve.err"
mkdir "$T/models"
cp docs/examples/scenarios/*-*.json docs/examples/scenarios/today.yaml docs/examples/scenarios/growth.yaml "$T/models/"
cp docs/examples/demo.seg "$T/"
echo '{"no":"model"}' >"$T/models/other.json"
serve_owns "$T/models" "$T/demo.seg"
cat >"$T/objectives.yaml" <<-'YAML'
	objectives:
	  - {name: "fast \"reads\"", host: "web?", percentile: 95, below: 10us}
	  - {name: slow reads, percentile: 99, below: 16s}
	  - {name: elsewhere, host: "mail*", percentile: 99, below: 1s}
YAML
printf '# hosts\n\ndb1 role=db\nweb1 role=web site=north # a comment\n' >"$T/labels"
serve_owns "$T/labels"
"$b" serve $serve_user --store "$T/store" --models "$T/models" --objectives "$T/objectives.yaml" --labels "$T/labels" --listen 127.0.0.1:0 --page 127.0.0.1:0 >"$T/serve.out" 2>"$T/serve.err" &
server=$!
stop_server() { kill -9 $server 2>/dev/null; wait 2>/dev/null; }
at_exit stop_server
serve_port "$T/serve.err" $server >/dev/null
page_port() { sed -n 's/^blkcast serve: the page is at port \([0-9]*\) .*/\1/p' "$T/serve.err"; }
has_page() { [ -n "$(page_port)" ]; }
holds "serve says where its page is" wait_until 20 has_page
url=http://127.0.0.1:$(page_port)
like "$(cat "$T/serve.err")" "the page is at port $(page_port) [(]$url/[)]$" "as an address that a browser takes"
ask() { curl -sm 20 -o "$T/body" -w '%{http_code}' "$@"; }
fleet() { curl -sm 20 "$url/api/v1/fleet${1:-}"; }
is_loaded() { [ "$(fleet | jq '.segments_loaded > 0 and .segments_loaded == .segments_to_load')" = true ]; }
holds "the store is read in the background" wait_until 20 is_loaded

is "$(ask "$url/")" 200 "the page is there"
is "$(curl -sm 20 "$url/" | grep -cE '<script[^>]*>[^<]|<style| style=| on[a-z]+=')" 0 "it has no script and no style of its own inline"
is "$(curl -sm 20 "$url/" | grep -oE '(src|href)="[^"]*"' | cut -d'"' -f2 | grep -cE '^(https?:)?//')" 0 \
	"and names nothing of another place"
named() { curl -sm 20 "$url/" | grep -oE '(src|href)="/[^"]*"' | cut -d'"' -f2 | sed 's/&amp;/\&/g'; }
for path in $(named) /assets/views.mjs /assets/uPlot.LICENSE.txt; do
	is "$(ask "$url$path")" 200 "$path is there"
done
is "$(named | sort | tr '\n' ' ')" \
	"/api/v1/fleet?sort=rate&order=descending&limit=64 /assets/icon.svg /assets/live.css /assets/main.mjs /assets/uPlot.iife.min.js " \
	"the page names all that its first view needs, so that a browser asks for it at once"
is "$(curl -sm 20 "$url/assets/main.mjs" | grep -cE '^import |^} from ') $(curl -sm 20 "$url/assets/views.mjs" | grep -E '^import ' | grep -oE '"[^"]*"' | tr '\n' ' ')" \
	'0 "./main.mjs" ' "its script imports nothing, and the other views come in one file"
is "$(curl -sm 20 "$url/assets/main.mjs" "$url/assets/views.mjs" | grep -c 'new Intl\.')" 0 \
	"and none makes a format of Intl, for the first of which a browser reads the data of all languages"

# Scripts are joined when the program is built; what cannot be joined ends the build.
join() { awk -v base=main.mjs -f scripts/join-modules.awk "$@" 2>&1; }
printf 'import { b, c } from "./two.mjs";\nexport const a = b;\n' >"$T/one.mjs"
printf '// A remark.\nimport { d } from "./far.mjs";\nexport const b = 1;\nexport const c = d;\n' >"$T/two.mjs"
is "$(join "$T/two.mjs" "$T/one.mjs" | tr -d '\n')" \
	'import { d } from "./main.mjs";const { b, c } = (() => {const b = 1;const c = d;return { b, c };})();const { a } = (() => {const a = b;return { a };})();export { b, c, a };' \
	"modules are joined with what they export and need from elsewhere"
printf 'export const b = 2;\n' >"$T/three.mjs"
like "$(join "$T/two.mjs" "$T/three.mjs")" "three.mjs:1: b is exported by two.mjs as well" "but not if two export the same name"
printf 'export default 2;\n' >"$T/three.mjs"
like "$(join "$T/three.mjs")" "three.mjs:1: expected: export function, class or const NAME" "or in a way that the script does not know"
like "$(curl -sIm 20 "$url/")" "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';" \
	"a browser may take scripts and styles from this listener alone"
etag=$(curl -sIm 20 "$url/assets/main.mjs" | tr -d '\r' | sed -n 's/^ETag: //p')
is "$(ask -H "If-None-Match: $etag" "$url/assets/main.mjs")" 304 \
	"a file that the browser has is not sent again"
for known in "\"x\", $etag" "W/$etag" "\"a, b\" ,W/$etag,\"c\"" '*'; do
	is "$(ask -H "If-None-Match: $known" "$url/assets/main.mjs")" 304 "nor with the field $known"
done
for known in '' ',' '"x"' 'W/"x", "y"' "${etag%?}" "\"x, $etag" W/; do
	is "$(ask -H "If-None-Match: $known" "$url/assets/main.mjs")" 200 "one that it has not is sent, with the field $known"
done

# Compressed contents: the bytes are the same, and each form has its own ETag.
curl -sm 20 "$url/assets/main.mjs" >"$T/plain"
packed() { curl -sm 20 -H "Accept-Encoding: $1" -D "$T/head" "$2" >"$T/packed"; }
packed "br;q=1, gzip;q=0.5" "$url/assets/main.mjs"
holds "a file comes as gzip to who takes it" cmp -s "$T/plain" <(gzip -dc "$T/packed")
is "$(tr -d '\r' <"$T/head" | grep -cE '^(Content-Encoding: gzip|Vary: Accept-Encoding)$')" 2 "as its header says"
tag=$(tr -d '\r' <"$T/head" | sed -n 's/^ETag: //p')
is "$([ "$tag" = "$etag" ]; echo $?) $(ask -H 'Accept-Encoding: gzip' -H "If-None-Match: $tag" "$url/assets/main.mjs")" "1 304" \
	"with an ETag of its own, by which it is not sent again"
for accepted in br "gzip;q=0" xgzip "gzip;q=0.0, *"; do
	packed "$accepted" "$url/assets/main.mjs"
	holds "'$accepted' does not take gzip" cmp -s "$T/plain" "$T/packed"
done

fleet >"$T/fleet"
want=$(jq -c '[.device, .device_name]' "$T/profile.json")
is "$(jq -c '[.devices[] | [.device, .device_name]][0]' "$T/fleet")" "$want" "the fleet has the device of the stored profile"
is "$(jq -c '[.hosts, .rows, .schema]' "$T/fleet")" '[1,1,"blkcast.fleet/1"]' "one host with one device"
is "$(fleet '?q=nothing-is-named-so' | jq -c '[.rows, .devices]')" '[0,[]]' "a search without a hit is empty"
is "$(fleet "?q=WEB" | jq .rows)" 1 "a search does not look at case"
device=$(jq -r .device "$T/profile.json")
query="host=web1&device=$device&begin_s=0&end_s=9e9"
is "$(ask "$url/api/v1/device?$query")" 400 "a number in another form is refused"
is "$(jq -r .error "$T/body")" "end_s: expected a number of 0 or more, without an exponent" "with a line that says which forms there are"
for bad in step_s=1e9 begin_s=-1 step_s=. step_s=1.2.3; do
	is "$(ask "$url/api/v1/device?host=web1&device=$device&$bad") $(jq -r .error "$T/body")" "400 ${bad%=*}: expected a number of 0 or more, without an exponent" "and so is $bad"
done
is "$(curl -sm 20 "$url/api/v1/device?host=web1&device=$device&begin_s=1&end_s=5&step_s=0.1" | jq -c '[.step_s, .columns.begin_s]')" '[1,[1,2,3,4]]' \
	"a column is at least of a second"
is "$(ask "$url/api/v1/device?host=web1&device=$device&begin_s=0&end_s=9000000000")" 200 "the device is there"
cp "$T/body" "$T/device"
is "$(jq '.sum.reads' "$T/device")" "$(jq .requests.read "$T/profile.json")" \
	"its reads are those of the profile"
is "$(jq '.columns | [.[] | length] | unique | length' "$T/device")" 1 "every list has one item for each column"
is "$(jq '.columns.begin_s | length <= 601' "$T/device")" true "there are at most 601 columns"
is "$(ask "$url/api/v1/device?host=web1&device=99:99&begin_s=1&end_s=2") $(jq .windows "$T/body")" "200 0" \
	"a device that is not there has no window"

for bad in 'sort=size' 'order=up' 'limit=65' 'limit=0' 'limit=1.5' 'from=-1' 'from=1.5' 'foo=1' 'foo' 'q=%00a' 'ho%00st=a' "q=$(printf 'x%.0s' $(seq 200))"; do
	is "$(ask "$url/api/v1/fleet?$bad")" 400 "refused: ${bad:0:12}"
done
is "$(jq -r .error "$T/body")" "q: expected at most 128 bytes" "with a line that says what is expected"
is "$(ask "$url/api/v1/fleet?foo=1") $(jq -r .error "$T/body")" "400 a word of this request is unknown; expected sort,order,q,group,host,from,limit" \
	"an unknown word is told with those that there are"
for bad in 'device=8:0' 'host=web1' 'host=web1&device=sda' 'host=web1&device=8:0x' 'host=web1&device=8:' 'host=web1&device=%208:0' 'host=web1&device=8:0&begin=5' 'host=web1&device=8:0&begin_s=5&end_s=5' 'host=web1&device=8:0&end_s=1e5'; do
	is "$(ask "$url/api/v1/device?$bad")" 400 "refused: $bad"
done
for path in "live?" "objectives?" "models?" "question?id=x&" "question/page?id=x&" "saved?" "who?host=web1&device=8:0&" "access?host=web1&device=8:0&"; do
	is "$(ask "$url/api/v1/${path}foo=1")" 400 "refused: $path with a word that it has not"
done
is "$(ask -X POST "$url/api/v1/fleet")" 405 "nothing can be changed"
allowed() { curl -sm 20 -o "$T/body" -D - -X "$1" -H 'X-Blkcast: 1' "$url$2" | tr -d '\r' | sed -n '1s/.* \(4..\).*/\1/p; s/^Allow: //p' | tr '\n' ' '; jq -r .error "$T/body"; }
for path in / /api/v1/fleet /api/v1/live; do
	is "$(allowed POST $path)" "405 GET, HEAD method: expected GET, HEAD" "$path says which methods it has"
done
for path in question saved; do
	is "$(allowed PUT /api/v1/$path)" "405 GET, HEAD, POST, DELETE method: expected GET, HEAD, POST, DELETE" "/api/v1/$path says which methods it has"
done
is "$(allowed GET /api/v1/session)" "405 POST, DELETE method: expected POST, DELETE" "a session is made and ended"
for method in GET DELETE OPTIONS; do
	is "$(allowed $method /api/v1/keep)" "405 POST method: expected POST" "/api/v1/keep does not take $method"
done
is "$(curl -sIm 20 -o "$T/body" -w '%{http_code}' "$url/api/v1/fleet")" 200 "HEAD is answered where GET is"
is "$(ask "$url/api/v1/fleet?q=$(printf 'x%.0s' $(seq 40000))")" 414 "an address that is too long"
is "$(ask -H "X-Long: $(printf 'x%.0s' $(seq 40000))" "$url/api/v1/fleet")" 431 "and a head"
is "$(ask "$url/v1/segments/x")" 404 "segments are taken by the other listener alone"
is "$(ask -H 'Host: rebound.example:80' "$url/api/v1/fleet")" 421 "a name of another place that leads here gets nothing"
is "$(python3 tests/system/raw_heads.py "$(page_port)" 2>&1)" "" \
	"a head that says two things about its end is refused, the connection closed, what follows unanswered"
is "$(ask -H 'Host: localhost:7119' "$url/api/v1/fleet")" 200 "localhost is this machine"
is "$(ask -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: cors' "$url/api/v1/fleet")" 403 \
	"nor does a page of another place"
like "$(curl -sm 2 "$url/api/v1/live")" '^data: \{"generation":[0-9]+\}$' "events tell the generation"
is "$(ask "http://127.0.0.1:$(serve_port "$T/serve.err")/api/v1/fleet")" 404 "the listener of agents has no page"

# Answers to the schemas of docs/openapi.yaml, each of which says which keys there are.
cat >"$T/openapi.py" <<-'CHECK'
	import json, sys, yaml, jsonschema
	api = yaml.safe_load(open("docs/openapi.yaml"))
	def check(name, path):
	    schema = {"$ref": "#/components/schemas/" + name, "components": api["components"]}
	    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(json.load(open(path))))
	    for e in errors[:3]: print(name, list(e.absolute_path), e.message[:200])
	    return not errors
	sys.exit(0 if all([check(*pair.split("=")) for pair in sys.argv[1:]]) else 1)
CHECK
fleet >"$T/fleet"
# Labels: the groups are the rows added up, and a label finds its rows.
curl -sm 20 "$url/api/v1/fleet?group=role" >"$T/groups"
is "$(jq -c '[.label_keys, .group, (.groups | map(.devices) | add) == .rows, (.groups | map(.hosts) | add) == .hosts,
	((.groups | map(.requests_per_s) | add) - .requests_per_s | fabs < 1e-6)]' "$T/groups")" \
	'[["role","site"],"role",true,true,true]' "groups by label add up to the fleet"
is "$(jq -c '[.devices[].host] | unique' "$T/groups")" "$(jq -c '[.groups[].value | {db: "db1", web: "web1"}[.]] | sort' "$T/groups")" \
	"each value has its hosts"
is "$(jq '[.groups[] | .peak_minute.value_per_s <= .peak_minute.sum_of_peaks_per_s + 1e-9] | all' "$T/groups")" true \
	"a group's peak is at most its devices' own peaks added up"
is "$(jq '.groups[0].minutes_requests_per_s == .devices[0].minutes_requests_per_s' "$T/groups")" "$(jq '.groups[0].devices == 1' "$T/groups")" \
	"a group of one device has its minutes, and none where nobody watched"
is "$(curl -sm 20 "$url/api/v1/fleet?q=role%3Dweb&group=site" | jq -c '[([.devices[].host] | unique), [.groups[].value]]')" \
	'[["web1"],["north"]]' "a label is searched for"
printf 'db1 role=moved\nweb1 nonsense\n' >"$T/labels"
kill -HUP $server
says_bad() { grep -q 'labels:2: expected HOST KEY=VALUE' "$T/serve.err"; }
holds "a bad file is told with its line" wait_until 20 says_bad
is "$(curl -sm 20 "$url/api/v1/fleet?q=role%3Dweb" | jq .hosts)" 1 "and the labels from before stay"
echo 'web1 role=moved' >"$T/labels"
kill -HUP $server
has_moved() { [ "$(curl -sm 20 "$url/api/v1/fleet?q=role%3Dmoved" | jq .hosts)" = 1 ]; }
holds "the file is read again at SIGHUP" wait_until 20 has_moved
curl -sm 20 "$url/api/v1/who?host=web1&device=8:0&begin_s=0&end_s=9000000000" >"$T/who"
curl -sm 20 "$url/api/v1/device?host=web1" >"$T/error"
is "$(curl -sm 20 "$url/api/v1/who?host=web1&device=8:0&begin_s=1767225600.125&end_s=1767225600.875" | jq -c '[.begin_s, .end_s]')" \
	'[1767225600.125,1767225600.875]' "times are told to the millisecond"
# The access map: the requests of a segment, counted once more by what dump says of them.
curl -sm 20 "$url/api/v1/access?host=db1&device=8:0&begin_s=0&end_s=9000000000" >"$T/access"
"$b" dump --store "$T/store" --host db1 --device 8:0 --operation read,write --json 2>"$T/err" | jq -s 'length' >"$T/dumped"
is "$(jq '[.map.columns[][] | .[1] + .[2]] | add' "$T/access")" "$(cat "$T/dumped")" "every read and write is in one region of the map"
is "$(jq '.requests' "$T/access")" "$(cat "$T/dumped")" "which is told"
is "$(jq '(.map.rows <= 64) and (.miss_ratio | length > 0 and all(.[1] >= 0 and .[1] <= 1) and (map(.[1]) == (map(.[1]) | sort | reverse)))' "$T/access")" true \
	"the miss ratio falls with the size of the cache"
# What requests found when they arrived: the stored window is the whole of a trace, which the report draws.
for kind in seek outstanding interarrival; do
	blkcast_says=$("$b" report "$T/one.seg" --figure $kind --csv --quiet 2>/dev/null | tail -n +2 | tr '\n' ' ')
	like "$blkcast_says" '[0-9]+,[0-9]+' "the report has a picture '$kind'"
	is "$(jq -r --arg kind $kind '.sum.bins[$kind][] | select(.[1] + .[2] > 0) | "\(.[0]),\(.[1]),\(.[2])"' "$T/device" | tr '\n' ' ')" \
		"$blkcast_says" "and that of the page counts as it does"
done

# A damaged segment is counted by every question that needs its requests, and shown on the page. What is kept of its
# windows may answer without the file; tests/unit/serve/test_page_block.c damages files of windows that were not kept.
damaged=$(find "$T/store" -name '*.seg' -path '*db1*' | sort | head -n 1)
cp -p "$damaged" "$T/sound.seg"
printf 'damage' | dd of="$damaged" bs=1 seek=200 conv=notrunc status=none
for what in who access; do
	is "$(curl -sm 20 "$url/api/v1/$what?host=db1&device=8:0&begin_s=1767225600&end_s=1767225604" | jq .unreadable)" 1 "$what counts a damaged segment"
done
cp -p "$T/sound.seg" "$damaged"
is "$(jq .unreadable "$T/access")" 0 "of which there was none before"
is "$(ask "$url/api/v1/access?host=db1&device=sda")" 400 "a device without a number is refused"
is "$(jq '.requests == ([.processes[].requests] | add) and .requests > 0' "$T/who")" true "the processes' requests add up to all"

# Objectives: the fleet's hour is that of its newest window, which the counted profile is.
curl -sm 20 "$url/api/v1/objectives" >"$T/objectives"
is "$(jq -c '[.states[] | [.objective, .host, .holds, .slow == .requests]]' "$T/objectives")" \
	'[["fast \"reads\"","web1",false,true],["slow reads","web1",true,false]]' "the device breaks one objective and keeps the other"
is "$(jq .states[0].requests "$T/objectives")" "$(jq '.response_time.read.total.count' "$T/profile.json")" "all of its reads are judged"
is "$(jq -c '[.states[1].budget_left_ratio, .broken, .rows, (.objectives | length)]' "$T/objectives")" '[1,1,2,3]' "what is left of the budget"
"$b" serve --objectives docs/examples/objectives.yaml --rules >"$T/rules.yaml"
if command -v promtool >/dev/null; then
	exits 0 "promtool takes the rules of the example" promtool check rules "$T/rules.yaml"
	"$b" serve --objectives "$T/objectives.yaml" --rules >"$T/rules2.yaml"
	exits 0 "and those of a name with quotes" promtool check rules "$T/rules2.yaml"
	cat >"$T/rules.test.yaml" <<-'YAML'
		rule_files: [rules.yaml]
		evaluation_interval: 1m
		tests:
		  - interval: 1m
		    input_series:
		      - {series: 'blkcast_request_duration_seconds_bucket{instance="db1:9118",device="sda",operation="read",stage="total",le="0.015625"}', values: '0+90x90'}
		      - {series: 'blkcast_request_duration_seconds_count{instance="db1:9118",device="sda",operation="read",stage="total"}', values: '0+100x90'}
		      - {series: 'blkcast_request_duration_seconds_bucket{instance="web1:9118",device="sda",operation="read",stage="total",le="0.015625"}', values: '0+90x90'}
		      - {series: 'blkcast_request_duration_seconds_count{instance="web1:9118",device="sda",operation="read",stage="total"}', values: '0+100x90'}
		    promql_expr_test:
		      - expr: count by (alertname, instance, objective) (ALERTS{alertstate="firing"})
		        eval_time: 80m
		        exp_samples:
		          - {labels: '{alertname="BlkcastObjectiveBroken",instance="db1:9118",objective="reads of databases"}', value: 1}
		          - {labels: '{alertname="BlkcastObjectiveBudgetSpent",instance="db1:9118",objective="reads of databases"}', value: 1}
	YAML
	exits 0 "a tenth of slow reads breaks an objective of 95 % of that host alone" promtool test rules "$T/rules.test.yaml"
else
	skip_one promtool "no promtool" "promtool takes the rules"
fi
printf 'objectives:\n  - {name: x, percentile: 40, below: 1ms}\n' >"$T/bad.yaml"
exits 2 "a percentile below the median is refused" "$b" serve --objectives "$T/bad.yaml" --rules
like "$(cat "$T/err")" 'bad.yaml:2: percentile: expected' "and its line is named"
exits 2 "rules of nothing" "$b" serve --rules

# Questions: the answer is that of the command, and the limits of what may be asked.
is "$(curl -sm 20 "$url/api/v1/models" | tee "$T/models.json" | jq -c '[.models[] | [.name, .kind, .response]]')" \
	'[["disks-read.json","regression","read_s"],["disks-write.json","regression","write_s"],["flash-read.json","regression","read_s"],["flash-write.json","regression","write_s"],["growth.yaml","scenario",null],["other.json",null,null],["today.yaml","scenario",null]]' \
	"the models and scenarios of the folder are listed"
question() { ask -X POST -H 'X-Blkcast: 1' "$url/api/v1/question?$1"; }
is_done() { curl -sm 20 "$url/api/v1/question?id=$id" >"$T/question"; [ "$(jq -r .state "$T/question")" = done ]; }
answer() { question "$1" >/dev/null; id=$(jq -r .id "$T/body"); wait_until 60 is_done && jq -r .verdict "$T/question"; }
is "$(ask -X POST "$url/api/v1/question?ask=cache&host=db1")" 403 "a form of another place can ask nothing"
period='begin_s=1700000000&end_s=1900000000'
is "$(answer "ask=migrate&host=db1&$period&model=disks-read.json,disks-write.json&slo=read.mean=1us")" broken \
	"a migration is predicted, and the objective that it breaks is known"
like "$(jq -r .command "$T/question")" \
	'^blkcast study migrate --model MODELS/disks-read.json --model MODELS/disks-write.json --store DIR --host db1 --begin 2023-11-14T22:13:20Z --end 2030-03-17T17:46:40Z --slo read.mean=1us$' \
	"the command is told, without the paths of the server"
line=$(jq -r .command "$T/question" | sed "s#^blkcast#$b#; s#MODELS#$T/models#g; s# DIR # $T/store #")
bash -c "$line --json" >"$T/direct.json" 2>"$T/err"
is "$(jq -cS .answer "$T/question")" "$(jq -cS 'del(.provenance)' "$T/direct.json")" "the answer is what that command prints, without the paths of its provenance"
is "$(jq -r .shown.conclusion "$T/question")" "$(jq -r .conclusion "$T/direct.json")" "with its conclusion"
is "$(jq '[.shown.tables[] | (.head | length) as $n | .rows[] | length == $n] | all and length > 0' "$T/question")" true \
	"every row of its tables has all cells"
cp "$T/question" "$T/migrate"
id=$(jq -r .id "$T/question")
is "$(ask "$url/api/v1/question/page?id=$id")" 200 "the answer is a page as well"
like "$(cat "$T/body")" '<svg' "with its picture"
like "$(curl -sIm 20 "$url/api/v1/question/page?id=$id")" "Content-Security-Policy: .*sandbox" "which may run nothing"
is "$(answer "ask=cache&host=db1&hit_time=10us")" answered "a cache needs no model"
is "$(answer "ask=headroom&host=db1&$period&model=disks-read.json,disks-write.json&slo=read.mean=1s")" answered "headroom"
is "$(answer "ask=consolidate&host=db1,web1&$period&model=disks-read.json,disks-write.json")" "cannot tell" \
	"loads that lie outside the model together get no answer to trust"
like "$(jq -r '.remarks[]' "$T/question")" 'outside what the target' "which is said"
is "$(answer "ask=scenario&scenario=today.yaml,growth.yaml")" answered "scenarios are compared"
is "$(answer "ask=migrate&host=db1&model=other.json")" refused "a file that is no model is refused"
like "$(jq -r '.remarks[]' "$T/question")" '^MODELS/other.json: ' "and named without the server's path"
is "$(answer "ask=migrate&host=nobody&model=disks-read.json")" refused "a host that is not there"
is "$(jq -r '.remarks[]' "$T/question" | grep -cE 'web1|db1')" 0 "whose asker is told no names of others"
for bad in 'host=db1' 'ask=run&host=db1' 'ask=cache' 'ask=migrate&host=db1' 'ask=migrate&host=db1&model=../other.json' \
	'ask=migrate&host=db1&model=today.yaml' 'ask=headroom&host=db1&model=disks-read.json' 'ask=cache&host=db1&begin_s=5&end_s=4'; do
	is "$(question "$bad")" 400 "refused: $bad"
done
# Saved answers: as they were answered, bounded, under names that are text.
saved() { ask -H 'X-Blkcast: 1' "$@"; }
is "$(saved "$url/api/v1/saved") $(jq -c '[.refusal, .most, .saved]' "$T/body")" '200 [null,64,[]]' "nothing is saved at first"
answer "ask=migrate&host=db1&$period&model=disks-read.json,disks-write.json&slo=read.mean=1us" >/dev/null
is "$(saved -X POST "$url/api/v1/saved?question=$id&name=%3Cb%3Edisks%3C%2Fb%3E")" 200 "an answer is saved"
cp "$T/body" "$T/saved"
is "$(jq -cS '{question, command, verdict, remarks, shown, answer}' "$T/saved")" \
	"$(jq -cS '{question, command, verdict, remarks, shown, answer}' "$T/question")" "with its question, its command and all of its numbers"
is "$(jq -c '[.name, .ask, .question.slo]' "$T/saved")" '["<b>disks</b>","migrate","read.mean=1us"]' "under its name"
one=$(jq -r .id "$T/saved")
is "$(saved -X POST "$url/api/v1/saved?question=$id&name=%3Cb%3Edisks%3C%2Fb%3E")" 409 "no two have one name"
for bad in '' 'name=' 'name=%20' 'name=a%0Ab' 'name=%1B%5B2J' 'name=%C2%85' 'name=%FF' "name=$(printf 'x%.0s' $(seq 81))"; do
	is "$(saved -X POST "$url/api/v1/saved?question=$id&$bad")" 400 "a name is refused: ${bad:0:12}"
done
is "$(ask -X POST "$url/api/v1/saved?question=$id&name=x")" 403 "a form of another place saves nothing"
is "$(ask -X DELETE "$url/api/v1/saved?id=$one")" 403 "nor deletes anything"
is "$(saved -X PUT "$url/api/v1/saved?id=$one")" 405 "another method is refused"
is "$(saved -X POST "$url/api/v1/saved?question=0123456789abcdef0123456789abcdef&name=x")" 404 "a question that is not known cannot be saved"
answer "ask=migrate&host=nobody&model=disks-read.json" >/dev/null
is "$(saved -X POST "$url/api/v1/saved?question=$id&name=x")" 400 "nor one without an answer"
answer "ask=cache&host=db1&hit_time=10us" >/dev/null
is "$(saved -X POST "$url/api/v1/saved?question=$id&name=cache")" 200 "another one"
for i in $(seq 62); do saved -X POST "$url/api/v1/saved?question=$id&name=copy$i" >>"$T/codes"; done
is "$(fold -w 3 "$T/codes" | sort | uniq -c | tr -s ' ')" " 62 200" "up to 64"
is "$(saved -X POST "$url/api/v1/saved?question=$id&name=more")" 409 "one more is refused"
like "$(jq -r .error "$T/body")" '^64 answers .* delete one$' "and the line says what to do"
saved "$url/api/v1/saved" >/dev/null
cp "$T/body" "$T/saved_list"
is "$(jq -c '[(.saved | length), .saved[0].name, .saved[-1].name]' "$T/body")" '[64,"copy62","<b>disks</b>"]' "nothing was displaced, the newest is first"
is "$(saved -X DELETE "$url/api/v1/saved?id=$(jq -r '.saved[0].id' "$T/body")") $(jq '.saved | length' "$T/body")" "200 63" "one is deleted"
is "$(saved -X DELETE "$url/api/v1/saved?id=nothing")" 404 "what is not there cannot be"
is "$(saved -X POST "$url/api/v1/keep?host=db1&begin_s=1&end_s=2")" 403 "without a login nobody makes an agent send anything"
exits 0 "a store with saved answers is whole" "$b" check --store "$T/store"
# A simulated device has an option of its own in headroom, and is a model elsewhere.
echo '{"schema":"blkcast.model/1","kind":"device"}' >"$T/models/disk.json"
serve_owns "$T/models"
answer "ask=headroom&host=db1&device=8:0&model=disk.json&slo=read.p95%3D1s&begin_s=1767222000&end_s=1767222060" >/dev/null
like "$(jq -r .command "$T/question")" 'headroom --storage MODELS/disk.json .*--duration 60s' "headroom takes a simulated device as storage"
rm "$T/models/disk.json"
is "$(ask "$url/api/v1/question?id=0123456789abcdef0123456789abcdef")" 404 "a question that is not known"
if python3 -c 'import yaml, jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
	exits 0 "the answers are what docs/openapi.yaml says" python3 "$T/openapi.py" Fleet="$T/fleet" Fleet="$T/groups" Device="$T/device" \
		Who="$T/who" Error="$T/error" Models="$T/models.json" Question="$T/question" Question="$T/migrate" Objectives="$T/objectives" Access="$T/access" \
		Saved="$T/saved" SavedList="$T/saved_list"
	sed 's/,"rows":/,"row_count":/' "$T/fleet" >"$T/other"
	exits 1 "and a key of another name would be noticed" python3 "$T/openapi.py" Fleet="$T/other"
else
	skip_one schema "no python3 with jsonschema and yaml" "the answers are what docs/openapi.yaml says"
fi
is "$(grep -c '^  /api/v1/' docs/openapi.yaml)" "$(grep -cE '^\| `[A-Z].* /api/v1/' docs/api.md)" "docs/api.md lists the same paths"

for file in uPlot.iife.min.js uPlot.min.css LICENSE; do
	[ -d "$BUILD/browser/node_modules/uplot" ] || break
	from=$BUILD/browser/node_modules/uplot/dist/$file
	[ "$file" != LICENSE ] || from=$BUILD/browser/node_modules/uplot/LICENSE
	holds "uplot/$file is npm's" cmp -s "analyzer/serve/page/uplot/$file" "$from"
done
kill $server && wait $server

# The first view of a fleet: the page with every file that it names or imports, and the first rows. The rows that are
# sent are 64 however many hosts there are, so that 100 hosts show what 1 000 take.
"$BUILD/tests/system/fleet_store" "$T/hundred" "$T/profile.json" 100 1 1767222000
serve_owns "$T/hundred"
: >"$T/serve.err"
"$b" serve $serve_user --store "$T/hundred" --listen 127.0.0.1:0 --page 127.0.0.1:0 >"$T/serve.out" 2>"$T/serve.err" &
server=$!
holds "a store of 100 hosts has its page" wait_until 20 has_page
url=http://127.0.0.1:$(page_port)
holds "whose windows are read in the background" wait_until 60 is_loaded
sent() { curl -sm 20 -H "Accept-Encoding: gzip" -o "$T/packed" -w '%{size_header} %{size_download}\n' "$url$1"; }
{
	sent / && sent '/api/v1/fleet?limit=64' && sent /api/v1/objectives
	for path in $(named) /assets/views.mjs; do
		sent "$path"
	done
} >"$T/sent"
is "$(fleet '?limit=64' | jq -c '[.hosts, (.devices | length)]')" '[100,64]' "the first view has 64 of 100 hosts"
number "$(awk '{ sum += $1 + $2 } END { print sum }' "$T/sent") <= 150 * 1024" "and takes at most 150 KiB in all"
kill $server && wait $server

# What is saved outlives serve; a file of it that is damaged is left alone, and the rest of the page goes on.
restart_serve() {
	: >"$T/serve.err"
	"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --page 127.0.0.1:0 >"$T/serve.out" 2>"$T/serve.err" &
	server=$!
	wait_until 20 has_page
	url=http://127.0.0.1:$(page_port)
}
restart_serve
is "$(saved "$url/api/v1/saved?id=$one") $(jq -cS .answer "$T/body")" "200 $(jq -cS .answer "$T/saved")" "a saved answer is there after a restart"
kill $server && wait $server
cp -p "$T/store/saved.sqlite" "$T/saved.sqlite"
printf 'no database, but what somebody may want to look at' >"$T/store/saved.sqlite"
rm -f "$T/store"/saved.sqlite-*
restart_serve
like "$(cat "$T/serve.err")" 'saved.sqlite: .*; the page saves no answers' "serve says that the file cannot be used"
like "$(saved "$url/api/v1/saved" >/dev/null; jq -r .refusal "$T/body")" '^nothing can be saved here' "and so does the list"
is "$(cat "$T/store/saved.sqlite")" "no database, but what somebody may want to look at" "which leaves it as it is"
kill $server && wait $server
cp -p "$T/saved.sqlite" "$T/store/saved.sqlite"

# The commands of the guide as they are printed, but for the store and the ports.
sed -n 's/^    //p' docs/guide/watch-in-a-browser.md >"$T/commands"
is "$(cut -d' ' -f1 "$T/commands" | tr '\n' ' ')" "blkcast curl openssl echo " "the guide has its commands"
: >"$T/serve.err"
line=$(sed -n "s#^blkcast#exec $b#; s#--store traces#$serve_user --listen 127.0.0.1:0 --store $T/store#; s#7119#0#; 1p" "$T/commands")
bash -c "$line" >"$T/serve.out" 2>"$T/serve.err" &
server=$!
holds "the guide's serve has its page" wait_until 20 has_page
line=$(sed -n "s#7119#$(page_port)#; 2p" "$T/commands")
guide_row() { [ "$(bash -c "$line")" = "$(jq -c '.devices[] | [.host, .device_name, .p99_s]' "$T/fleet")" ]; }
holds "its question of the slowest devices is answered" wait_until 20 guide_row
(cd "$T" && sed -n '3,4p' commands >token.sh && bash -e token.sh)
is "$(wc -c <"$T/reader.token") $(grep -cE '^fleet [0-9a-f]{64}$' "$T/readers")" "65 1" "its token is made"
kill $server && wait $server

# Who may look: a token of the fleet sees every host, that of a host sees this one, and nobody else anything.
echo "0123456789abcdef-all" >"$T/all"
echo "0123456789abcdef-other" >"$T/other"
hash_of() { tr -d '\n' <"$1" | sha256sum | cut -d' ' -f1; }
printf 'fleet %s\ndb1 %s\n' "$(hash_of "$T/all")" "$(hash_of "$T/other")" >"$T/tokens"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$T/key.pem" -out "$T/cert.pem" 2>"$T/openssl.err"
serve_owns "$T/tokens" "$T/key.pem" "$T/cert.pem"
start_closed() {
	: >"$T/serve.err"
	"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --tls-cert "$T/cert.pem" --tls-key "$T/key.pem" \
		--page 0.0.0.0:0 --page-tokens "$T/tokens" >"$T/serve.out" 2>"$T/serve.err" &
	server=$!
	wait_until 20 has_page
}
start_closed
# Clients that begin a handshake and go no further, from four addresses.
mkfifo "$T/hold"
python3 tests/system/half_open.py "$(page_port)" 64 127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5 <"$T/hold" >"$T/opened" &
attacker=$!
exec 6>"$T/hold"
holds "four addresses open more than two hundred connections" wait_until 60 grep -q '^open 2[0-9][0-9]$' "$T/opened"
url=https://localhost:$(page_port)
for try in 1 2 3 4 5 6 7 8; do
	[ "$(curl -sm 5 -o "$T/body" -w '%{http_code}' --cacert "$T/cert.pem" "$url/")" != 200 ] || break
done
number "$try < 8" "and a reader has the page within eight tries"
exec 6>&-
wait $attacker
secure() { ask --cacert "$T/cert.pem" "$@"; }
bearer() { printf 'Authorization: Bearer %s' "$(cat "$1")"; }
is "$(secure "$url/")" 200 "with TLS and tokens the page may be at any address"
is "$(secure "$url/api/v1/fleet")" 401 "nobody sees nothing"
is "$(secure -H "$(bearer "$T/all")x" "$url/api/v1/fleet")" 401 "nor does a token that is not in the file"
is "$(secure -H "$(bearer "$T/all")" "$url/api/v1/fleet")" 200 "a token is enough for a script"
is "$(jq .has_session "$T/body")" false "which has no session"
secure -X POST -H 'X-Blkcast: 1' -H "$(bearer "$T/all")" -c "$T/cookies" "$url/api/v1/session" >/dev/null
for path in fleet saved; do
	is "$(secure -b "$T/cookies" "$url/api/v1/$path") $(jq .has_session "$T/body")" "200 true" "$path says that its reader has one"
done
loaded_closed() { secure -H "$(bearer "$T/all")" "$url/api/v1/fleet" >/dev/null; [ "$(jq .rows "$T/body")" = 1 ]; }
holds "it sees every host" wait_until 20 loaded_closed
secure -H "$(bearer "$T/other")" "$url/api/v1/fleet" >/dev/null
is "$(jq -c '[.rows, .hosts, .together]' "$T/body")" '[0,0,null]' "that of another host sees no row, no count, no sum"
is "$(secure -H "$(bearer "$T/other")" "$url/api/v1/device?$query")" 400 "a bad question is one for everybody"
is "$(secure -H "$(bearer "$T/other")" "$url/api/v1/who?host=web1&device=$device&begin_s=1&end_s=2")" 403 "nor the device"
is "$(secure -X POST -H 'X-Blkcast: 1' -H "$(bearer "$T/other")" "$url/api/v1/question?ask=cache&host=db1,web1")" 403 "nor asks about it"
is "$(secure -X POST -H 'X-Blkcast: 1' -H "$(bearer "$T/other")" "$url/api/v1/question?ask=scenario&scenario=x.yaml")" 403 "nor about plans for all"
of_other() { secure -H 'X-Blkcast: 1' -H "$(bearer "$T/other")" "$@"; }
is "$(of_other -X POST "$url/api/v1/question?ask=cache&host=,&begin_s=1&end_s=2")" 400 "a list of no host is not one of all"
# What is saved belongs to those with the same rights. The fleet's readers have what was saved without a login.
of_all() { secure -H 'X-Blkcast: 1' -H "$(bearer "$T/all")" "$@"; }
is "$(of_all "$url/api/v1/saved") $(jq '.saved | length' "$T/body")" "200 63" "a reader of the fleet has what such a reader saved"
is "$(of_other "$url/api/v1/saved") $(jq '.saved | length' "$T/body")" "200 0" "a reader of one host has nothing of it"
is "$(of_other "$url/api/v1/saved?id=$one") $(of_other -X DELETE "$url/api/v1/saved?id=$one")" "404 404" "not by its link either"
of_other -X POST "$url/api/v1/question?ask=cache&host=db1&hit_time=10us" >/dev/null
id=$(jq -r .id "$T/body")
other_done() { of_other "$url/api/v1/question?id=$id" >/dev/null; [ "$(jq -r .state "$T/body")" = done ]; }
holds "it asks about its host" wait_until 60 other_done
is "$(of_other -X POST "$url/api/v1/saved?question=$id&name=mine")" 200 "and saves the answer"
mine=$(jq -r .id "$T/body")
is "$(of_other "$url/api/v1/saved?id=$mine") $(of_all "$url/api/v1/saved?id=$mine")" "200 404" "for itself alone"
# What a reader does not see any more takes none of its room. The reader is called by the least of its hosts.
printf 'fleet %s\ndb1 %s\nweb1 %s\n' "$(hash_of "$T/all")" "$(hash_of "$T/other")" "$(hash_of "$T/other")" >"$T/tokens"
other_sees() { of_other "$url/api/v1/fleet" >/dev/null; [ "$(jq .rows "$T/body")" = "$1" ]; }
holds "it gets one host more" wait_until 20 other_sees 1
one=$id
of_other -X POST "$url/api/v1/question?ask=cache&host=db1,web1&hit_time=10us" >/dev/null
id=$(jq -r .id "$T/body")
holds "it asks about both" wait_until 60 other_done
is "$(of_other -X POST "$url/api/v1/saved?question=$id&name=both")" 200 "and saves the answer"
sqlite3 "$T/store/saved.sqlite" "UPDATE saved SET bytes = bytes + (16 << 20) WHERE owner = 'db1' AND name = 'both'"
is "$(of_other -X POST "$url/api/v1/saved?question=$one&name=more")" 409 "more bytes than one may have are refused"
printf 'fleet %s\ndb1 %s\n' "$(hash_of "$T/all")" "$(hash_of "$T/other")" >"$T/tokens"
holds "the host is taken away from it" wait_until 20 other_sees 0
is "$(of_other "$url/api/v1/saved") $(jq -c '[.saved[].name]' "$T/body")" '200 ["mine"]' "the answer about it is hidden"
is "$(of_other -X POST "$url/api/v1/saved?question=$one&name=more")" 200 "and takes no room"
is "$(of_other -X POST "$url/api/v1/saved?question=$id&name=again")" 403 "nor is it saved again"
# Who may make an agent send what it keeps back.
keep_period="begin_s=$(($(date +%s) - 60))&end_s=$(date +%s)"
is "$(of_all -X POST "$url/api/v1/keep?host=db1&$keep_period")" 403 "a token without the right keeps nothing"
printf 'fleet %s\ndb1 %s keep\n' "$(hash_of "$T/all")" "$(hash_of "$T/other")" >"$T/tokens"
may_keep() { of_other "$url/api/v1/fleet" >/dev/null; [ "$(jq .may_keep "$T/body")" = true ]; }
holds "the right is given by the file" wait_until 20 may_keep
is "$(of_other -X POST "$url/api/v1/keep?host=db1&$keep_period")" 200 "such a token asks for the requests of its host"
cp "$T/body" "$T/kept"
is "$(jq -c '[.host, .known, .kept_back_s, (.end_s - .begin_s | . >= 59 and . <= 62)]' "$T/kept")" '["db1",true,null,true]' "and is told what is asked for"
is "$(cut -d' ' -f2 "$T/store/asks/db1")" "$(jq .end_s "$T/kept")" "which stands in the store for every serve"
is "$(of_other -X POST "$url/api/v1/keep?host=web1&$keep_period")" 403 "not for another host"
is "$(of_other "$url/api/v1/keep?host=db1&$keep_period")" 405 "a link asks for nothing"
for bad in "host=db1" "host=db1&begin_s=5&end_s=9" "host=db1&begin_s=9000000000&end_s=9000000001" "host=db1&begin_s=$(date +%s)&end_s=5" "$keep_period"; do
	is "$(of_other -X POST "$url/api/v1/keep?$bad")" 400 "a question is refused: ${bad//[0-9]/9}"
done
if python3 -c 'import yaml, jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
	exits 0 "its answer is what docs/openapi.yaml says" python3 "$T/openapi.py" Keep="$T/kept"
fi
printf 'fleet %s kept\n' "$(hash_of "$T/all")" >"$T/tokens"
holds "another word behind a hash is refused, and the file's old content stays" wait_until 20 may_keep
printf 'fleet %s\ndb1 %s\n' "$(hash_of "$T/all")" "$(hash_of "$T/other")" >"$T/tokens"
may_not() { ! may_keep; }
holds "a right that was taken away is gone" wait_until 20 may_not
is "$(secure -X POST -H "$(bearer "$T/all")" "$url/api/v1/session")" 403 "a form of another place makes no session"
curl -sm 20 --cacert "$T/cert.pem" -D "$T/head" -X POST -H 'X-Blkcast: 1' -H "$(bearer "$T/all")" "$url/api/v1/session"
like "$(tr -d '\r' <"$T/head")" \
	'^Set-Cookie: __Host-blkcast=[0-9a-f]{64}; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict$' \
	"a token is exchanged for a cookie that no script can read"
cookie=$(tr -d '\r' <"$T/head" | sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p')
is "$(secure -H "Cookie: $cookie" "$url/api/v1/fleet")" 200 "which is enough from then on"
is "$(secure -H "Cookie: ${cookie%?}x" "$url/api/v1/fleet")" 401 "another cookie is not"
is "$(secure -X DELETE -H 'X-Blkcast: 1' -H "Cookie: $cookie" "$url/api/v1/session")" 204 "the session can be ended"
is "$(secure -H "Cookie: $cookie" "$url/api/v1/fleet")" 401 "and is over then"
curl -sm 20 --cacert "$T/cert.pem" -D "$T/head" -X POST -H 'X-Blkcast: 1' -H "$(bearer "$T/all")" "$url/api/v1/session"
cookie=$(tr -d '\r' <"$T/head" | sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p')
is "$(secure -H "Cookie: $cookie" "$url/api/v1/fleet")" 200 "a second session"
secure -X POST -H 'X-Blkcast: 1' -H "$(bearer "$T/other")" "$url/api/v1/session?[1-300]" >"$T/codes"
is "$(fold -w 3 "$T/codes" | sort | uniq -c | tr -s ' ')" " 300 204" "the other reader opens three hundred sessions"
is "$(secure -H "Cookie: $cookie" "$url/api/v1/fleet")" 200 "which end none of this one"
printf 'db1 %s\n' "$(hash_of "$T/other")" >"$T/tokens"
is_out() { [ "$(secure -H "Cookie: $cookie" "$url/api/v1/fleet")" = 401 ]; }
holds "ends when its token leaves the file" wait_until 20 is_out
kill $server && wait $server
exits 2 "tokens without a page are refused" \
	timeout 20 "$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --page-tokens "$T/tokens"
exits 2 "TLS without a login is not enough beyond loopback" timeout 20 "$b" serve $serve_user --store "$T/store" \
	--listen 127.0.0.1:0 --tls-cert "$T/cert.pem" --tls-key "$T/key.pem" --page 0.0.0.0:0
like "$(cat "$T/err")" 'anybody could look' "and the message says why"
exits 2 "another address than loopback is refused" \
	timeout 20 "$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --page 0.0.0.0:0
like "$(cat "$T/err")" '^blkcast serve: page 0.0.0.0:0: not a loopback address' "and named"
exits 2 "an address without a port is refused" \
	timeout 20 "$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --page 127.0.0.1
done_testing
