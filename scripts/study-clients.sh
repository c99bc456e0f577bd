#!/usr/bin/env bash
# Measures how far predictions of twice the clients are off, by really running applications with twice their clients.
# Run the script as root, on a machine on which nothing else runs, after scripts/study-applications.sh with the same OUT:
#
#	scripts/study-clients.sh [OUT [APPLICATION...]]
#
# Each application was recorded with its clients on the old and on the new volume, and the new one is known by a
# campaign alone (scripts/study-applications.sh says what all of these are). blkcast study scenario predicts for each
# recording what twice the load meets on the new volume. Then the application really runs there with twice the clients,
# ROUNDS times. OUT (default build/study-applications) gets the answers and clients.md, which is printed. What is there
# already is not measured again. Six applications, 12 s of each run: four minutes.
#
# SECONDS_EACH= (that of the recordings), ROUNDS=, LIMIT_S=, PIECE_S=, RECORD_ONLY= as there.
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/study-applications}
[ $# = 0 ] || shift
APPS=${*:-sync async4 pgbench db_bench mail file}
SECONDS_EACH=${SECONDS_EACH:-12} INTERVAL=700ms ROUNDS=${ROUNDS:-2} LIMIT_S=${LIMIT_S:-900}
. scripts/study-volumes.sh
[ -s "$OUT/new.json" ] || {
	echo "${0##*/}: $OUT/new.json is missing: scripts/study-applications.sh makes it and the recordings" >&2
	exit 2
}

# twice APPLICATION VOLUME: answers for each recording of it on a volume, all on the new one
twice() {
	local store
	for store in "$OUT/$1.$2".[0-9].store; do
		local at=${store%.store}.twice
		printf 'scenario: twice\nstorages: {new: {device: "%s"}}\nvms: {app: {profile: "%s", storage: new, load: 2}}\n' \
			"$OUT/new.json" "$store" >"$at.yaml"
		predict_by "$at.json" study scenario "$at.yaml"
	done
}

# One row per application, type and volume of the recording, of the means over recordings and over rounds.
rows() {
	local app volume
	for app in $APPS; do
		for volume in new old; do
			jq -rn --arg app "$app" --arg from "$volume" --slurpfile said <(cat "$OUT/$app.$volume".[0-9].twice.json) \
				--slurpfile once <(cat "$OUT/$app.$volume".[0-9].json) --slurpfile really <(cat "$OUT/$app.twice".[0-9].json) '
				def mean: if length == 0 then null else add / length end;
				def ms: if . == null then "-" else . * 1e5 | round / 100 | tostring end;
				def pc: if . == null then "-" else . * 1000 | round / 10 | "\(.) %" end;
				def of($type): [.[].results[] | select(.type == $type and .point == "mean") | .before_s | values];
				($said | map(.scenarios[0].vms[0])) as $vms | ($really | map(.throughput[0].offered_per_s) | mean) as $rate |
				("read", "write") as $type | ($really | of($type)) as $truth | ($truth | mean) as $m |
				($vms | map(.[$type] | values)) as $e | select($m != null and ($e | length) > 0) |
				($e | map(.mean_s) | mean) as $predicted | ($vms | map(.target_per_s) | mean) as $served |
				"| \($app) | \($from) | \($type) | \($once | of($type) | mean | ms) | \($predicted | ms) | \($m | ms) | " +
				"\($truth | map((. - $m) | fabs) | mean / $m | pc) | \(($predicted / $m - 1) | fabs | pc) | " +
				"\($e | map(select(.ci != null and .ci[0] <= $m and $m <= .ci[1])) | length) of \($e | length) | " +
				"\($served | round) | \($rate | round) | \(($served / $rate - 1) | fabs | pc) |"'
		done
	done
}

results() {
	echo "# Twice the clients, predicted and really run"
	echo
	echo "scripts/study-clients.sh wrote this page: ${SECONDS_EACH} s of each run, rounds: $ROUNDS. The machine had $(nproc)"
	echo "processors; its load average was $loads when the script began. Each application was recorded with its clients on the"
	echo "old or on the new volume, and ran with twice of them on the new one."
	echo
	rows >"$OUT/clients.rows"
	awk -F'|' '{
		gsub(/ /, "", $3); split($9, e, " "); split($10, c, " "); split($13, r, " ")
		sum[$3] += e[1]; rate[$3] += r[1]; nr[$3]++; in_ += c[1]; of += c[3]
	} END {
		print "| recorded on | mean error of means | mean error of requests per second | rows |"
		print "|---|---|---|---|"
		n = split("new old", order, " ")
		for (i = 1; i <= n; i++) if (nr[order[i]])
			printf "| %s | %.1f %% | %.1f %% | %d |\n", order[i], sum[order[i]] / nr[order[i]], rate[order[i]] / nr[order[i]], nr[order[i]]
		if (of) printf "\nMeasured values inside the 90 %% interval: %d of %d (%.0f %%).\n", in_, of, 100 * in_ / of
	}' "$OUT/clients.rows"
	echo
	echo "| application | recorded on | type | recorded, ms | predicted, ms | measured, ms | repeat error | error | in the interval | predicted, per s | measured, per s | error |"
	echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
	cat "$OUT/clients.rows"
}

loads=$(cut -d' ' -f1 /proc/loadavg)
make_volumes() { volume new 1 1000 2000; }
times=2
for ((round = 1; round <= ROUNDS; round++)); do
	for app in $APPS; do
		in_time
		run_together "$OUT/$app.twice.$round" "$app@new"
	done
done
[ -z "${RECORD_ONLY:-}" ] || exit 0
for app in $APPS; do
	for ((round = 1; round <= ROUNDS; round++)); do
		predict "$OUT/$app.twice.$round.json" study migrate "$OUT/$app.twice.$round.store"
	done
	twice "$app" old
	twice "$app" new
done
results >"$OUT/clients.md"
cat "$OUT/clients.md"
