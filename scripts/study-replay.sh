#!/usr/bin/env bash
# Measures how far the answers of blkcast study migrate --run are off, by replaying the recordings of
# scripts/study-applications.sh. Run the script after that one, as root, on a machine on which nothing else runs:
#
#	scripts/study-replay.sh [OUT [APPLICATION...]]
#
# OUT (default build/study-applications) has the recordings of each application on two volumes, old and new, and says
# what the application met on the new one. Here the requests of both are replayed on a device that is like the new
# volume: those of the old volume are a migration, those of the new one an identity. OUT gets the answers, replay.md,
# which is printed, and replay.csv, from which the intervals of replays come. Five minutes; what is there already is
# not measured again. PIECE_S= seconds after which no replay is begun: the script then ends with exit status 4, and
# goes on when it is called again.
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/study-applications}
[ $# = 0 ] || shift
APPS=${*:-sync async4 async32 sizes streams poisson pgbench db_bench mail file}
SECONDS_EACH=5 INTERVAL=""
[ -d "$OUT" ] || { echo "${0##*/}: $OUT is missing: call scripts/study-applications.sh before" >&2 && exit 2; }
. scripts/study-volumes.sh

# The law of the new volume in scripts/study-applications.sh.
make_volumes() {
	serve spare 1 1000 2000
	device[spare]=$(losetup -f --show --direct-io=on "$work/spare.img")
	devices+=("${device[spare]}")
}
make_group() { :; }

replay() { # APPLICATION VOLUME PAIR
	local at=$OUT/$1.$2.$3 status=0
	[ -d "$at.store" ] && [ ! -s "$at.replay.json" ] || return 0
	room 15
	need_volumes
	say "${at##*/}"
	"$blkcast" study migrate "$at.store" --run "${device[spare]}" --overwrite "${device[spare]}" --duration 1m --json -q \
		>"$at.replay.part" || status=$?
	[ $status = 0 ] || [ $status = 1 ] || [ $status = 3 ] || exit 1
	mv "$at.replay.part" "$at.replay.json"
}

# One line for each application, type and point: application,type,point,replayed,measured,repeat,inside,of,same
rows() {
	local app
	for app in $APPS; do
		[ -s "$OUT/$app.new.1.json" ] || continue
		jq -rn --arg app "$app" --slurpfile old <(cat "$OUT/$app".old.*.replay.json) \
			--slurpfile same <(cat "$OUT/$app".new.*.replay.json) \
			--slurpfile new <(cat "$OUT/$app".new.[0-9].json "$OUT/$app".new.[0-9][0-9].json 2>/dev/null) '
			def mean: if length == 0 then null else add / length end;
			("read", "write", "flush") as $t | ("mean", "p50", "p95", "p99") as $p |
			def of: [.[] | .results[] | select(.type == $t and .point == $p and .target_s != null)];
			([$new[].results[] | select(.type == $t and .point == $p) | .before_s | values]) as $truth | ($truth | mean) as $m |
			($old | of) as $said | select($m != null and ($said | length) > 0) | ($said | map(.target_s) | mean) as $e |
			[$app, $t, $p, $e, $m, ($truth | map((. - $m) | fabs) | mean / $m),
				($said | map(select(.ci[0] <= $m and $m <= .ci[1])) | length), ($said | length),
				($same | of | map(select(.before_s != null) | (.target_s / .before_s - 1) | fabs) | mean)] |
			@csv | gsub("\""; "")'
	done
}

results() {
	echo "# Applications, replayed on another volume"
	echo
	echo "\`scripts/study-replay.sh\` wrote the tables on $(date -u +%F), from the recordings of"
	echo "[applications](../applications/results.md)."
	echo
	awk -F, '
		{ e = $4 / $5 - 1; error[$3] += e < 0 ? -e : e; nr[$3]++; in_ += $7; of += $8 }
		$9 != "" { same[$3] += $9; nr_same[$3]++ }
		END {
			print "| point | mean error of migration | mean error where it was recorded | rows |"
			print "|---|---|---|---|"
			n = split("mean p50 p95 p99", order, " ")
			for (i = 1; i <= n; i++) if (nr[order[i]])
				printf "| %s | %.1f %% | %.1f %% | %d |\n", order[i], 100 * error[order[i]] / nr[order[i]],
					nr_same[order[i]] ? 100 * same[order[i]] / nr_same[order[i]] : 0, nr[order[i]]
			if (of) printf "\nMeasured values inside the 90 %% interval: %d of %d (%.0f %%).\n", in_, of, 100 * in_ / of
		}' "$OUT/replay.rows"
	echo
	echo "| application | type | point | new, ms | repeat error | replayed, ms | error | in the interval | error on new itself |"
	echo "|---|---|---|---|---|---|---|---|---|"
	awk -F, '{
		e = $4 / $5 - 1
		printf "| %s | %s | %s | %.2f | %.1f %% | %.2f | %.1f %% | %d of %d | %s |\n", $1, $2, $3, $5 * 1000, $6 * 100, $4 * 1000,
			100 * (e < 0 ? -e : e), $7, $8, $9 == "" ? "-" : sprintf("%.1f %%", 100 * $9)
	}' "$OUT/replay.rows"
}

for pair in 1 2; do
	for app in $APPS; do
		replay "$app" old "$pair"
		replay "$app" new "$pair"
	done
done
rows >"$OUT/replay.rows"
# `half` is the part of an interval that comes from the number of requests. A replay measures all of them, so that it is
# next to nothing here, and the interval is what the replays of the other applications were off.
{
	echo application,type,point,predicted,measured,half
	awk -F, -v OFS=, '$6 <= 0.1 { print $1, $2, $3, $4, $5, 0.001 }' "$OUT/replay.rows"
} >"$OUT/replay.csv"
results >"$OUT/replay.md"
cat "$OUT/replay.md"
