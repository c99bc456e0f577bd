#!/usr/bin/env bash
# What an answer was made from: "provenance" in the JSON of every command that reads recordings, models or campaigns.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
b=$BUILD/blkcast
"$BUILD/tests/system/make_trace" "$T/one.seg" 60 400 1
version=$("$b" --version | cut -d' ' -f2)
awk 'BEGIN { print "threads,request_kb,read_s,write_s"; for (t = 1; t <= 32; t++) for (k = 4; k <= 64; k *= 2)
	printf "%d,%d,%.9f,%.9f\n", t, k, 0.001 + 0.001 * t, 0.002 + 0.001 * t }' </dev/null >"$T/times.csv"
for y in read_s write_s; do
	"$b" fit "$T/times.csv" --response $y --predictors threads,request_kb --techniques lrm -o "$T/$y.json" -q >/dev/null 2>&1
done
cat >"$T/today.yaml" <<-YAML
	scenario: today
	storages:
	  old: {models: [read_s.json, write_s.json]}
	vms:
	  a: {profile: one.seg, storage: old}
YAML
"$b" report --json "$T/one.seg" -o "$T/page.html" -q >"$T/report.json"
period=$(jq -c '.provenance | [.begin_s, .end_s] | map(. * 1000 | round)' "$T/report.json")
is "$(jq -c '.provenance.devices[0] | [.host, .device, .file_system, .size_bytes]' "$T/report.json")" \
	'["db1.example","8:0","vfat,ext4",214748364800]' "the recording names its device and file systems"

# says NAME WORDS COMMAND...: its provenance has the device and the period as report has them, its command and version
says() {
	local name=$1 words=$2
	shift 2
	"$b" "$@" --json -q >"$T/out" 2>"$T/err"
	is "$(jq -c '.provenance | [.devices, ([.begin_s, .end_s] | map(. * 1000 | round)), .version]' "$T/out")" \
		"$(jq -c --argjson period "$period" --arg version "$version" '[.provenance.devices, $period, $version]' "$T/report.json")" \
		"$name has device, file system, period and version"
	is "$(jq -r '.provenance | .command, (.made_s > 0)' "$T/out")" "$(printf 'blkcast %s --json -q\ntrue' "$*")" "$name has its command"
	like "$(jq -r '.provenance.origins[]' "$T/out")" "$words" "$name has the lines of a page's foot"
}
says compare "^Load .*one.seg: sda of db1.example, " compare "$T/one.seg" "$T/one.seg"
says headroom "^Model .*read_s.json of read_s: " headroom "$T/one.seg" --slo read.mean=1s --model "$T/read_s.json"
says "a study" "^Model .*write_s.json of write_s: " study migrate "$T/one.seg" --model "$T/read_s.json,$T/write_s.json"
says "a scenario" "^Model .*read_s.json of read_s: " study scenario "$T/today.yaml"

"$b" fit "$T/times.csv" --response read_s,write_s --predictors threads,request_kb --techniques lrm -o "$T/m.json" --json -q >"$T/out" 2>"$T/err"
is "$(jq -c '[.[].provenance | .devices, .begin_s, .version, (.origins | length)]' "$T/out")" \
	"[[],null,\"$version\",1,[],null,\"$version\",1]" "fit says of each model what it was made from"
like "$(jq -r '.[0].provenance.origins[0]' "$T/out")" '^Measurements .*times.csv: a table, which does not name the storage.$' "a table names no storage"
"$b" fit "$T/times.csv" --update "$T/read_s.json" -o "$T/new.json" --json -q >"$T/out" 2>"$T/err"
is "$(jq -c '.provenance | [.version, (.origins | length)]' "$T/out")" "[\"$version\",2]" "a model that is continued too"
"$b" qpn solve docs/examples/closed-storage.yaml --json -q >"$T/out" 2>"$T/err"
is "$(jq -c 'has("provenance")' "$T/out")" false "an answer that was made from a net alone has none"
done_testing
