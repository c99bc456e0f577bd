#!/usr/bin/env bash
# blkcast arch with Palladio's own files: the published answers, the shipped example, refusals.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
example=docs/examples/palladio-shop

exits 0 "the shipped example is solved" "$blkcast" arch solve $example --json --quiet
is "$(jq -c '[.scenarios[0].response_time.mean, .scenarios[0].throughput] | map(. * 1e4 | round / 1e4)' "$T/out")" \
	"[31,0.025]" "its response time is the sum of its parts"
exits 0 "it may be named by its allocation" "$blkcast" arch check $example/shop.allocation
exits 0 "or by both files" "$blkcast" arch check $example/shop.allocation,shop.usagemodel
exits 2 "a part that the model does not have" "$blkcast" arch solve $example --set clients=3
like "$(cat "$T/err")" "palladio-shop: --set clients: expected SCENARIO.population, SCENARIO.time, CONTAINER.RESOURCE or INSTANCE.VARIABLE" \
	"is refused with what there is"
exits 0 "parts are changed by name" "$blkcast" arch solve $example --set customers.time=19 --json --quiet
is "$(jq '.scenarios[0].throughput * 1e4 | round' "$T/out")" 200 "such as the think time"
exits 0 "and varied" "$blkcast" arch solve $example --sweep customers.time=9:19:10 --sweep rack.hdd=1:2:1 --csv --quiet
is "$(cut -d, -f1,2 "$T/out" | sort -u | grep -c '^[0-9]')" 4 "in every combination"
exits 2 "a value that is none" "$blkcast" arch solve $example --set customers.time=1+

# A side file gives the rack a storage: what the disk was asked for becomes requests to an I/O model.
cat >"$T/side.yaml" <<'YAML'
storages:
  disk: {formula: {read: "0.004", write: "0.006 + size / 1e8 + file_set / 1e12"}}
file_sets: {data: 4e9}
requests:
  - {container: rack, storage: disk, action: store, request: write, size: "2 * 5e5", file_set: data}
YAML
exits 0 "a Palladio model has a storage" "$blkcast" arch solve $example --storages "$T/side.yaml" --json --quiet
is "$(jq '[.. | objects | select(.io? == "Disk.store")][0].response_time.mean * 1e6 | round' "$T/out")" 20000 \
	"an internal action is a request of its type, size and file set"
is "$(jq '[.resources[] | select(.resource == "hdd")][0].utilization' "$T/out")" 0 "and no longer work for the disk"
number "$(jq '.scenarios[0].response_time.mean' "$T/out") < 28" "users see the faster storage"
side() { # SED WANT NAME
	sed "$1" "$T/side.yaml" >"$T/other.yaml"
	exits 2 "$3" "$blkcast" arch check $example --storages "$T/other.yaml"
	like "$(cat "$T/err")" "$2" "$3: where"
}
side 's/container: rack/container: barn/' "other.yaml:5: .*the model has no container 'barn'" "another container"
side 's/action: store/action: steal/' "other.yaml:5: no demand for hdd in rack by the action steal" "an entry for nothing"
side 's/file_set: data/file_set: none/' "'none' is not among the file sets" "another file set"
side 's/size: "[^"]*"/size: "2 *"/' "other.yaml:5: " "a size that is no expression"
exits 0 "the shipped side file is solved" "$blkcast" arch solve $example --storages $example/storages.yaml --quiet
exits 2 "a YAML model names its storages itself" "$blkcast" arch check docs/examples/shop.yaml --storages "$T/side.yaml"
exits 2 "a directory without models is refused" "$blkcast" arch check docs
like "$(cat "$T/err")" "docs: 0 .allocation files: expected one" "by what is missing"

# spoil FILE SED WANT NAME
spoil() {
	rm -rf "$T/bad" && cp -r $example "$T/bad" && sed -i "$2" "$T/bad/shop.$1"
	exits 2 "$4" "$blkcast" arch solve "$T/bad"
	like "$(cat "$T/err")" "$3" "$4: file and line"
	is "$(cat "$T/out")" "" "$4: no output"
}
spoil system '/<\/system:System>/d' 'shop.system:[0-9]+: not XML' "a file that ends too early"
spoil system 's/#Store"/#Nothing"/' 'shop.system:7: .*refers to "Nothing"' "a reference that leads nowhere"
spoil repository 's/seff:SetVariableAction/seff:EmitEventAction/' \
	'shop.repository:[0-9]+: .*not supported: EmitEventAction' "an action of another kind"
spoil usagemodel 's/population="1"/population="0"/' 'shop.usagemodel:[0-9]+: .*population of 1' "nobody"
rm -rf "$T/stereo" && cp -r $example "$T/stereo"
sed -i 's|</resourceenvironment:ResourceEnvironment>|&<p:ProfileApplication xmlns:p="http://www.modelversioning.org/emfprofile/application/1.1"><stereotypeApplications/></p:ProfileApplication></xmi:XMI>|
	s|<resourceenvironment:ResourceEnvironment|<xmi:XMI xmlns:xmi="http://www.omg.org/XMI">&|' "$T/stereo/shop.resourceenvironment"
exits 0 "stereotypes do not stop a model" "$blkcast" arch solve "$T/stereo" --json
like "$(cat "$T/err")" '1 applications of stereotypes left out' "they are left out with a remark"
is "$(jq '.scenarios[0].response_time.mean * 1e6 | round / 1e6' "$T/out")" 31 "and change nothing"
spoil system '2i <!DOCTYPE a [<!ENTITY b "c">]>' 'shop.system:2: a document type declaration' "an entity"
spoil resourceenvironment '0,/MTTF="0.0"/s//MTTF="100"/' \
	'shop.resourceenvironment:[0-9]+: .*MTTF above 0 is not supported.*--no-failures' "a resource that fails"
exits 0 "unless failures are left out" "$blkcast" arch solve "$T/bad" --no-failures --json
like "$(cat "$T/err")" '1 descriptions of failures left out' "which is said"
is "$(jq '.scenarios[0].response_time.mean * 1e6 | round / 1e6' "$T/out")" 31 "and changes nothing else"
spoil system '2i <!DOCTYPE a [<!ENTITY b "c">]>' 'shop.system:2: a document type declaration' "an entity"
rm "$T/bad/shop.repository"
exits 2 "a file that is missing" "$blkcast" arch solve "$T/bad"
like "$(cat "$T/err")" 'shop.system:2:' "the first error is reported"
cp $example/shop.system "$T/bad"
exits 2 "a file that is missing" "$blkcast" arch solve "$T/bad"
like "$(cat "$T/err")" 'shop.allocation:[0-9]+: .*"shop.repository", which is not in' "where it is wanted"

if [ -d "${BLKCAST_DATA:-../shared/data}/pcm" ]; then
	data=${BLKCAST_DATA:-../shared/data}/pcm
	exits 0 "SetVariable" "$blkcast" arch solve "$data/PCMSetVariable_Example" --json --quiet
	is "$(jq '.scenarios[0].response_time.mean * 1e6 | round / 1e6' "$T/out")" 50 "SetVariable is always 50"
	exits 0 "Minimum" "$blkcast" arch solve "$data/Minimum_Project_Example" --precision 0.002 --json --quiet
	exact=$(awk 'BEGIN { printf "%.12f", 1.35 / 1.0810638521955225 + 1 }')
	number "$(jq ".scenarios[0].response_time.ci | if .[0] <= $exact and .[1] >= $exact then 1 else 0 end" "$T/out") == 1" \
		"Minimum has the exact mean in its interval"
	sed 's/container: rack, storage: disk.*/container: _ATCCUXtQEd6J8YwisObTKw, storage: disk}/' "$T/side.yaml" >"$T/fork.yaml"
	exits 2 "a demand of no type" "$blkcast" arch check "$data/PCMFork_Example" --storages "$T/fork.yaml"
	like "$(cat "$T/err")" "fork_3.1.repository:[0-9]+: .*neither reads nor writes; .*line 5 may say" "is named where it stands"
	sed -i 's/storage: disk}/storage: disk, request: read}/' "$T/fork.yaml"
	exits 0 "with a type" "$blkcast" arch solve "$data/PCMFork_Example" --storages "$T/fork.yaml" --precision 0.01 --json --quiet
	is "$(jq '[.. | objects | select(.io? == "Forking.hdd")][0].response_time.mean * 1e6 | round' "$T/out")" 4000 "it is a request"
	exits 0 "Fork" "$blkcast" arch solve "$data/PCMFork_Example" --precision 0.001 --json --quiet
	number "$(jq '.resources[] | select(.resource == "cpu") | .utilization - 1 / 1.1375 | fabs' "$T/out") < 0.001" \
		"Fork is busy 87.912 % of the time"
	exits 0 "Acquire" "$blkcast" arch solve "$data/Acquire_Example" --json --quiet
	number "$(jq '.resources[] | select(.resource == "cpu") | .utilization - 1 | fabs' "$T/out") < 1e-9" \
		"Acquire keeps the cpu busy"
else
	note "the published models are not here: set BLKCAST_DATA"
fi
done_testing
