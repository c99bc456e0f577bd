#!/usr/bin/env bash
# Measures how far the answers of blkcast study consolidate --storage are off, by really running applications side by
# side. Run the script as root, on a machine on which nothing else runs:
#
#	scripts/study-consolidation.sh [OUT [APPLICATION...]]
#
# Each application is recorded alone, on the storage that the pairs will share (new) or on another one (SOURCES="new
# old"). The new storage is known by a campaign alone (docs/examples/plans/storage.yaml, blkcast storage calibrate). blkcast study
# consolidate --storage predicts what the two applications of each pair meet beside each other on it. Then each pair
# really runs there, each application on a disk of its own that is one half of the storage, ROUNDS times. OUT (default
# build/study-consolidation) gets the recordings, the answers, consolidation.md, which is printed, and consolidation.csv.
# It takes about eight minutes. SHORT=1: twelve minutes at most, since no pair is begun a second time after LIMIT_S=480.
#
# The script does not measure again what OUT already holds. LIMIT_S= seconds after which no run is begun: the script
# then ends with exit status 4 and goes on when it is called again. RECORD_ONLY=1 measures and records, and leaves
# calibration and predictions to a later call, which needs no quiet machine. SECONDS_EACH=, INTERVAL= and EVERY= (n:
# every n-th configuration) of the campaign, SOURCES= the storages of the recordings.
#
# The storages serve in memory by a known law (scripts/volume/study_volume.c):
#	old	four requests at a time, reads take 2 ms, writes 3 ms
#	new	one request at a time, reads take 1 ms, writes 2 ms
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/study-consolidation}
[ $# = 0 ] || shift
APPS=${*:-sync sizes streams arrivals bursts pgbench}
[ -z "${SHORT:-}" ] || LIMIT_S=${LIMIT_S:-480}
SECONDS_EACH=${SECONDS_EACH:-4} INTERVAL=${INTERVAL:-700ms} ROUNDS=${ROUNDS:-2} LIMIT_S=${LIMIT_S:-3600}
SOURCES=${SOURCES:-new}
. scripts/study-volumes.sh

results_of() { # LOAD STORE-BASE: the times of one load of a recording, as rows of an answer
	local device
	device=$(sed -n "$1p" "$2.devices")
	predict "$2.$1.json" study migrate "$2.store" --device "$device"
}

rows() { # SOURCE: one CSV row per pair, application, type and point
	local first second pair
	for pair in $pairs; do
		first=${pair%+*} second=${pair#*+}
		jq -rn --arg source "$1" --arg pair "$pair" --argjson names "[\"$first\", \"$second\"]" \
			--slurpfile said "$OUT/$pair.$1.json" \
			--slurpfile alone1 "$OUT/$first.new.1.json" --slurpfile alone2 "$OUT/$second.new.1.json" \
			--slurpfile one <(cat "$OUT/$pair".[0-9]*.1.json) --slurpfile two <(cat "$OUT/$pair".[0-9]*.2.json) '
			def mean: if length == 0 then null else add / length end;
			(0, 1) as $i | ("read", "write", "flush") as $t | ("mean", "p50", "p95", "p99") as $p |
			def of: [.[] | .results[] | select(.type == $t and .point == $p)];
			($said[0].conclusion | startswith("Cannot tell") | not) as $sure |
			([$one, $two][$i] | of | map(.before_s | values)) as $truth | ($truth | mean) as $m |
			([$said[0].results[] | select(.case == "alone" and .load == $i + 1 and .type == $t and .point == $p)][0]) as $alone |
			([$said[0].results[] | select(.case == "all together" and .load == $i + 1 and .type == $t and .point == $p)][0]) as $said |
			select($m != null and ($truth | length) == ([$one, $two][$i] | length) and $said.target_s != null) |
			[$pair, $names[$i], $source, $t, $p, ([$alone1, $alone2][$i] | of | map(.before_s) | mean), $said.target_s,
				$said.ci[0], $said.ci[1], $m, (if ($truth | length) > 1 then $truth | map((. - $m) | fabs) | mean / $m else null end),
				(if $sure then "" else "cannot tell" end), ($alone | if .ci then .ci[1] / .target_s | log else null end)] | @csv | gsub("\""; "")'
	done
}

summary() { # SOURCE <CSV: mean errors by point, and how often the interval held; of sure answers, and of the others
	awk -F, -v source="$1" '
		$3 == source {
			error = $7 / $10 - 1; error = error < 0 ? -error : error
			key = ($12 == "" ? "told" : $12) ", " ($4 == "flush" ? "flush " : "") $5
			sum[key] += error; nr[key]++
			if ($11 != "") { repeat[key] += $11; repeated[key]++ }
			if ($8 != "") { of[key]++; in_[key] += $8 <= $10 && $10 <= $9 }
		}
		END {
			print "| answers | mean error | repeat error | rows | in the 90 % interval |"
			print "|---|---|---|---|---|"
			n = split("told/cannot tell", kinds, "/"); m = split("mean/p95/p99/flush mean/flush p95", points, "/")
			for (k = 1; k <= n; k++) for (i = 1; i <= m; i++) if (nr[key = kinds[k] ", " points[i]])
				printf "| %s | %.1f %% | %s | %d | %d of %d |\n", key, 100 * sum[key] / nr[key],
					repeated[key] ? sprintf("%.1f %%", 100 * repeat[key] / repeated[key]) : "-", nr[key], in_[key], of[key]
		}'
}

table() { # SOURCE <CSV
	awk -F, -v source="$1" '
		BEGIN {
			print "| pair | application | type | point | alone, ms | together, ms | repeat error | predicted, ms | error | interval | |"
			print "|---|---|---|---|---|---|---|---|---|---|---|"
		}
		$3 == source && $5 != "p50" {
			held = $8 == "" ? "-" : $8 <= $10 && $10 <= $9 ? "held" : "missed"
			printf "| %s | %s | %s | %s | %s | %.2f | %s | %.2f | %+.1f %% | %s | %s |\n", $1, $2, $4, $5,
				$6 == "" ? "-" : sprintf("%.2f", 1e3 * $6), 1e3 * $10, $11 == "" ? "-" : sprintf("%.1f %%", 100 * $11), 1e3 * $7, 100 * ($7 / $10 - 1), held, $12
		}'
}

results() {
	local source
	echo "# Applications beside each other on one storage, predicted and really run"
	echo
	echo "scripts/study-consolidation.sh wrote this page: ${SECONDS_EACH} s of each run, rounds: $ROUNDS, a campaign with an interval of"
	echo "$INTERVAL. The machine had $(nproc) processors; its load average was $loads when the script began. The intervals are those"
	echo "of configurations of the campaign, widened by how much recorded applications were off beyond them."
	for source in $SOURCES; do
		echo
		echo "## Recorded alone on $source"
		echo
		summary "$source" <"$OUT/consolidation.csv"
		echo
		table "$source" <"$OUT/consolidation.csv"
	done
}

loads=$(cut -d' ' -f1 /proc/loadavg)
pairs=$(for a in $APPS; do for b in $APPS; do [ "$a" = "$b" ] && break; echo "$b+$a"; done; done)
make_volumes() {
	serve new 1 1000 2000
	disk new new --sizelimit $((1 << 30))
	disk second new --offset $((1 << 30))
	[[ " $SOURCES " != *" old "* ]] || volume old 4 2000 3000
}
campaign new
for app in $APPS; do
	for source in new $SOURCES; do
		[ -n "${SHORT:-}" ] || in_time
		run_together "$OUT/$app.$source.1" "$app@$source"
	done
done
for ((round = 1; round <= ROUNDS; round++)); do
	for pair in $pairs; do
		if [ -n "${SHORT:-}" ] && [ "$round" -gt 1 ] && [ $SECONDS -gt "$LIMIT_S" ] && [ ! -d "$OUT/$pair.$round.store" ]; then
			say "$pair, round $round: left out, the time is over"
			continue
		fi
		[ -n "${SHORT:-}" ] || in_time
		run_together "$OUT/$pair.$round" "${pair%+*}@new" "${pair#*+}@second"
	done
done
[ -z "${RECORD_ONLY:-}" ] || exit 0
for app in $APPS; do predict "$OUT/$app.new.1.json" study migrate "$OUT/$app.new.1.store"; done
for pair in $pairs; do
	for source in $SOURCES; do
		predict "$OUT/$pair.$source.json" study consolidate "$OUT/${pair%+*}.$source.1.store" "$OUT/${pair#*+}.$source.1.store"
	done
	for ((round = 1; round <= ROUNDS; round++)); do
		[ -d "$OUT/$pair.$round.store" ] || continue
		for load in 1 2; do results_of $load "$OUT/$pair.$round"; done
	done
done
{
	echo pair,application,recorded_on,type,point,alone_s,predicted_s,low_s,high_s,measured_s,repeat_error_ratio,why,alone_half
	for source in $SOURCES; do rows "$source"; done
} >"$OUT/consolidation.csv"
results >"$OUT/consolidation.md"
cat "$OUT/consolidation.md"
