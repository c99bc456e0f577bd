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
like "$(cat "$T/err")" "palladio-shop: clients: expected SCENARIO.population, SCENARIO.time, CONTAINER.RESOURCE or INSTANCE.VARIABLE" \
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
# The same storage by stereotypes, as Palladio's editors write them, and the same system in YAML.
# apply FILE STEREOTYPES: puts a model into an XMI that also holds applications of stereotypes
apply() {
	sed -E -e '2s|^<([a-z]+:)|<xmi:XMI xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:e="http://www.modelversioning.org/emfprofile/application/1.1" xmlns:p="a.profile">\n<\1|' \
		$example/"$1" >"$T/stereo/$1"
	printf '<e:ProfileApplication>\n%s\n<importedProfiles nsURI="a.profile"/>\n</e:ProfileApplication>\n</xmi:XMI>\n' "$2" >>"$T/stereo/$1"
}
storage='<stereotypeApplications xsi:type="p:VirtualizedStorage" appliedTo="rack" name="disk" formula="{read: 0.004, write: 0.006 + size / 1e8 + file_set / 1e12}" file_sets="{data: 4e9}"><extension href="a.emfprofile_diagram#x"/></stereotypeApplications>'
request='<stereotypeApplications xsi:type="p:StorageRequest" appliedTo="e1" size="2 * 5e5" file_set="data"/>'
stereo() { # STORAGES REQUESTS
	rm -rf "$T/stereo" && cp -r $example "$T/stereo" && apply shop.resourceenvironment "$1" && apply shop.repository "$2"
}
times() { jq -c '[.scenarios[0].response_time.mean, .scenarios[0].throughput, ([.. | objects | select(.io? == "Disk.store")][0].response_time.mean)] | map(. * 1e4 | round)'; }
"$blkcast" arch solve $example --storages "$T/side.yaml" --json --quiet | times >"$T/by-side"
stereo "$storage" "$request"
exits 0 "stereotypes give a Palladio model a storage" "$blkcast" arch solve "$T/stereo" --json --quiet
is "$(times <"$T/out")" "$(cat "$T/by-side")" "with the answer of the side file"
cat >"$T/same.yaml" <<'YAML'
interfaces: {Shop: [buy], Store: [put]}
components:
  Front: {provides: Shop, requires: {store: Store}, operations: {buy: [{cpu: 11}, {delay: 2.5}, {call: store.put}, {delay: 3.5}, {cpu: 3}]}}
  Disk: {provides: Store, operations: {put: [{loop: {count: 4, do: [{name: store, io: {write: 1e6, file_set: data}}]}}]}}
file_sets: {data: 4e9}
storages: {disk: {formula: {read: 0.004, write: 0.006 + size / 1e8 + file_set / 1e12}}}
containers: {app: {cpu: {cores: 2, rate: 2}}, rack: {storage: disk}}
assembly: {desk: {component: Front, container: app, connects: {store: store}}, store: {component: Disk, container: rack}}
usage: {customers: {clients: 1, think: 9, do: [{loop: {count: 2, do: [{call: desk.buy}]}}, {delay: 1}]}}
YAML
exits 0 "the same system in YAML" "$blkcast" arch solve "$T/same.yaml" --json --quiet
is "$(times <"$T/out" | tr -d '\n')" "$(jq -c . "$T/by-side")" "has this answer too"
exits 0 "stereotypes and settings go together" "$blkcast" arch solve "$T/stereo" --sweep customers.time=9:19:10 --csv --quiet
is "$(cut -d, -f1 "$T/out" | grep -c '^[0-9]' | awk '{ print ($1 > 2) }')" 1 "in a sweep"
stereo "$storage" ""
exits 0 "a demand that writes needs no stereotype of its own" "$blkcast" arch solve "$T/stereo" --json --quiet
is "$(jq '[.. | objects | select(.io? == "Disk.store")][0].response_time.mean * 1e8 | round' "$T/out")" 600005 "its amount is then its size"
stereo "$storage
<stereotypeApplications xsi:type=\"p:VirtualizedStorage\" appliedTo=\"app\" name=\"disk\"/>" "$request"
exits 0 "containers share a storage" "$blkcast" arch check "$T/stereo"
# The model of a storage is chosen by a feature configuration.
mkdir -p "$T/models"
awk 'BEGIN { print "size,write_s"; for (i = 1; i < 40; i++) printf "%d,%g\n", i * 1e5, i / 1e3 }' </dev/null >"$T/models/w.csv"
"$blkcast" fit "$T/models/w.csv" --response write_s --techniques lrm -o "$T/models/w.json" -q >/dev/null 2>&1
cat >"$T/models/repository.yaml" <<'YAML'
models:
- {features: {system: z10, scheduler: CFQ, file_system: EXT4}, write: w.json, unit: 1}
- {features: {system: z10, scheduler: NOOP, file_system: EXT4}, write: w.json, unit: 2}
YAML
by_features="<stereotypeApplications xsi:type=\"p:VirtualizedStorage\" appliedTo=\"rack\" repository=\"$T/models\" features=\"disk.featureconfig\" file_sets=\"{data: 4e9}\"/>"
stereo "$by_features" "$request"
cat >"$T/stereo/io.featuremodel" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<f:FeatureDiagram xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:f="http://sdq.ipd.uka.de/FeatureModel/2.0" id="d" name="I/O analysis model">
 <rootFeature id="root" name="I/O Analysis Model"><childrelation xsi:type="f:Simple">
  <mandatoryChildren id="system" name="System under Study"><attributes xsi:type="f:StringAttribute" id="a" name="name"/></mandatoryChildren>
  <mandatoryChildren id="scheduler" name="I/O Scheduler"><childrelation xsi:type="f:FeatureGroup">
   <children id="cfq" name="CFQ"/><children id="noop" name="NOOP"/></childrelation></mandatoryChildren>
  <mandatoryChildren id="fs" name="File System"><childrelation xsi:type="f:FeatureGroup"><children name="EXT4"/><children name="XFS"/></childrelation></mandatoryChildren>
 </childrelation></rootFeature>
</f:FeatureDiagram>
XML
cat >"$T/stereo/disk.featureconfig" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<c:Configuration xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:c="http://sdq.ipd.uka.de/FeatureConfig/2.0" name="disk">
 <defaultConfig>
  <confignode configState="SELECTED"><origin href="io.featuremodel#root"/></confignode>
  <confignode configState="SELECTED"><origin href="io.featuremodel#cfq"/></confignode>
  <confignode configState="ELIMINATED"><origin href="io.featuremodel#noop"/></confignode>
 </defaultConfig>
 <configOverrides>
  <confignode><origin href="io.featuremodel#system"/><attributevalue xsi:type="c:StringAttributeValue" id="v" name="name" value="z10"/></confignode>
  <confignode configState="ELIMINATED"><origin href="io.featuremodel#cfq"/></confignode>
  <confignode configState="SELECTED"><origin href="io.featuremodel#noop"/></confignode>
  <confignode configState="SELECTED"><origin href="io.featuremodel#//@rootFeature/@childrelation/@mandatoryChildren.2/@childrelation/@children.0"/></confignode>
 </configOverrides>
</c:Configuration>
XML
exits 0 "a feature configuration chooses the model" "$blkcast" arch solve "$T/stereo" --json --quiet
is "$(jq '[.. | objects | select(.io? == "Disk.store")][0].response_time.mean * 1e6 | round' "$T/out")" 20000 "the override's NOOP, and not CFQ"
sed -i 's/children\.0"/children.1"/' "$T/stereo/disk.featureconfig"
exits 2 "features of no model" "$blkcast" arch check "$T/stereo"
like "$(cat "$T/err")" "shop.resourceenvironment:[0-9]+: 0 of the models in .*repository.yaml have these features" "are refused where they are asked for"
wrong() { # STORAGE REQUEST WANT NAME
	stereo "${1:-$storage}" "${2:-$request}"
	exits 2 "$4" "$blkcast" arch check "$T/stereo"
	like "$(cat "$T/err")" "^blkcast arch: [^ ]*/$3" "$4: file and line"
	is "$(wc -l <"$T/err")" 1 "$4: one sentence"
}
wrong "${storage/rack/desk}" "" 'shop.resourceenvironment:[0-9]+: .*refers to "desk"' "a stereotype of nothing"
wrong "${storage/appliedTo=\"rack\"/appliedTo=\"rackHdd\"}" "" 'shop.resourceenvironment:[0-9]+: .*VirtualizedStorage is of containers' "a storage of a disk"
wrong "${storage/formula=/foolmura=}" "" 'shop.resourceenvironment:[0-9]+: .*attribute that is not supported: foolmura' "an unknown tagged value"
wrong "${storage/formula=\"*\" file/file}" "" 'shop.resourceenvironment:[0-9]+: .*no storage disk: expected a model' "a storage without a model"
wrong "${storage/size \/ 1e8/size \/}" "" 'shop.resourceenvironment:[0-9]+: ' "a formula that is none"
wrong "${storage/formula=\"\{*1e12\}\"/features=\"..\/a\" read=\"x\"}" "" 'shop.resourceenvironment:[0-9]+: .*expected a file of the model' "features elsewhere"
wrong "" "${request/data/none}" "shop.repository:[0-9]+: .*'none' is not among the file sets" "a file set of none"
wrong "" "${request/2 \*/2 *)}" 'shop.repository:[0-9]+: .*size: ' "a size of none"
wrong "" "${request/e1/w1}" 'shop.repository:[0-9]+: .*w1 has no demand for this resource' "an action without a demand for the disk"
wrong "" "${request/e1/d1}" 'shop.repository:[0-9]+: .*StorageRequest is of internal actions, and not of a AcquireAction' "a request of another action"
wrong "" "$storage" 'shop.repository:[0-9]+: .*VirtualizedStorage is read from the file of the containers alone' "a storage elsewhere"
wrong "" "${request/size=/request=\"erase\" size=}" "shop.repository:[0-9]+: .*expected read or write, got 'erase'" "a request of another type"
wrong '<stereotypeApplications xsi:type="p:Other" appliedTo="rack"/>' "${request/file_set=\"data\"/}" 'shop.repository:[0-9]+: .*runs in rack, which has no storage' "a request without a storage"
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
