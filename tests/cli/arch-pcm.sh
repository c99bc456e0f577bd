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
exits 2 "it has no parameters" "$blkcast" arch solve $example --set clients=3
like "$(cat "$T/err")" "a Palladio model has no parameters" "and says so"
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
