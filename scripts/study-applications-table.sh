#!/usr/bin/env bash
# Writes how far the answers of scripts/study-applications.sh were off as the table that blkcast study --intervals
# reads: application,type,point,predicted,measured,half. Times are in seconds; half is the bound of the logarithmic error
# of the configurations that were held out when OUT/new.json was calibrated.
#
#	scripts/study-applications-table.sh OUT [SUFFIX] >applications.csv
#
# OUT holds an answer of blkcast study migrate --json for each run: APPLICATION.old.PAIR.json predicts the new volume
# from the requests of the old one, and APPLICATION.new.PAIR.json says what the same application really met on the
# new volume. SUFFIX (default .json) chooses the predictions: .relative.json are those relative to the old volume.
# Each pair gives a row for each type and point that both of its answers have.
set -euo pipefail
OUT=$1
suffix=${2:-.json}
export LC_ALL=C

echo application,type,point,predicted,measured,half
for old in "$OUT"/*.old.*"$suffix"; do
	name=${old##*/}
	name=${name%"$suffix"}
	app=${name%.old.*} pair=${name##*.old.}
	new=$OUT/$app.new.$pair.json
	# Without a suffix of their own, the relative predictions match as well: their pair is no number.
	[[ $pair =~ ^[0-9]+$ ]] && [ -s "$new" ] || continue
	jq -r --arg app "$app" --slurpfile new "$new" --slurpfile device "$OUT/new.json" '
		($new[0].results | map({key: "\(.type) \(.point)", value: .before_s}) | from_entries) as $measured |
		def half($of; $point): # of the point, or of the nearest lower one that has it
			["mean", "p50", "p95", "p99"] | .[:index($point) + 1] | map($of[.].log_half | values) | last;
		.results[] | [$app, .type, .point, .target_s, $measured["\(.type) \(.point)"],
			half($device[0].held_out_errors[.type]; .point)] |
		select(.[3] != null and .[4] != null) | @csv | gsub("\""; "")' "$old"
done
