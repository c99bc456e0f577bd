#!/usr/bin/env bash
# Measures how far predictions of real applications by a simulated device are off, by really running the applications
# on such a device. Run the script as root, on a machine on which nothing else runs:
#
#	scripts/study-applications.sh [OUT [APPLICATION...]]
#
# Each application is recorded on an old volume. The new volume is known by a campaign alone
# (docs/examples/plans/storage.yaml, blkcast storage calibrate); blkcast study migrate --storage predicts what the
# recorded requests meet there. Then the application really runs on the new volume. Old and new runs alternate,
# until the application's own repeat error is at most 10 % or REPEATS pairs are done. OUT (default
# build/study-applications) gets the device, an answer for each run, and results.md, which is printed. What is
# there already is not measured again. Beside results.md, applications.csv has each run's predicted and measured
# times, and applications.relative.csv those of the relative answers: the tables for blkcast study --intervals.
#
# SHORT=1: twelve minutes at most (2 pairs of 5 s); else about an hour. REPEATS=, SECONDS_EACH=, INTERVAL= of the
# campaign, EVERY=n: every n-th configuration of it. OLD_CAMPAIGN=1: the old volume is measured as well, and
# predictions relative to it are added. Given after SHORT=1 has ended, together with SHORT=1 and for the same OUT, it
# measures the old volume alone, which takes five minutes: the recordings are there. LIMIT_S= seconds after which no
# pair is begun but the first ones.
# PIECE_S= seconds: ends with exit status 4 before they are over, and goes on when it is called again.
# RECORD_ONLY=1: measures and records, and leaves calibration and predictions to a later call, which finds what is there.
# BACKING=/dev/shm is where the files of the set-up lie.
#
# Volumes serve in memory by a known law (scripts/volume/study_volume.c, nbdkit), as a file through FUSE under a loop device
# with ext4:
#	old	four requests at a time, reads take 2 ms, writes 3 ms
#	new	one request at a time, reads take 1 ms, writes 2 ms
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/study-applications}
[ $# = 0 ] || shift
APPS=${*:-sync async4 async32 sizes streams poisson pgbench db_bench mail file}
if [ -n "${SHORT:-}" ]; then
	REPEATS=${REPEATS:-2} SECONDS_EACH=${SECONDS_EACH:-5} INTERVAL=${INTERVAL:-700ms} LIMIT_S=${LIMIT_S:-630}
else
	REPEATS=${REPEATS:-20} SECONDS_EACH=${SECONDS_EACH:-15} INTERVAL=${INTERVAL:-3s} OLD_CAMPAIGN=${OLD_CAMPAIGN:-1}
	LIMIT_S=${LIMIT_S:-14400}
fi
. scripts/study-volumes.sh

# ---- recording ----

# record APPLICATION VOLUME PAIR: its requests, which stay in OUT, and what is predicted for them on the new volume
record() {
	local at=$OUT/$1.$2.$3
	run_together "$at" "$1@$2"
	[ -z "${RECORD_ONLY:-}" ] || return 0
	predict "$at.json" study migrate "$at.store"
	[ -z "${OLD_CAMPAIGN:-}" ] || predict "$at.relative.json" study migrate "$at.store" --from "$OUT/old.json"
}

# The largest repeat error of an application's means, in percent: mean distance of the runs on the new volume from
# their mean.
repeat_error() {
	cat "$OUT/$1".new.[0-9]*.json | jq -s '[.[] | select(.by == "device") | .results[] | select(.point == "mean")] | group_by(.type) |
		map(map(.before_s) | (add / length) as $m | map((. - $m) | fabs) | add / length / $m) | max * 100'
}

# ---- results ----

rows() { # SUFFIX: one row per application, type and point: measured, predicted, errors, coverage
	local app
	for app in $APPS; do
		jq -rn --arg app "$app" --slurpfile old <(cat "$OUT/$app".old.[0-9]$1 "$OUT/$app".old.[0-9][0-9]$1 2>/dev/null) \
			--slurpfile new <(cat "$OUT/$app".new.[0-9].json "$OUT/$app".new.[0-9][0-9].json 2>/dev/null) '
			def ms: if . == null then "-" else . * 1e5 | round / 100 | tostring end;
			def pc: if . == null then "-" else . * 1000 | round / 10 | "\(.) %" end;
			def mean: if length == 0 then null else add / length end;
			("read", "write", "flush") as $t | ("mean", "p50", "p95", "p99") as $p |
			def of: [.[] | .results[] | select(.type == $t and .point == $p)];
			($new | of | map(.before_s | values)) as $truth | ($truth | mean) as $m | ($old | of) as $predictions |
			select($m != null and ($predictions | length) > 0) |
			($truth | map((. - $m) | fabs) | mean / $m) as $repeat |
			($predictions | map(.target_s) | mean) as $e |
			($predictions | map(select(.ci != null and .ci[0] <= $m and $m <= .ci[1])) | length) as $in |
			($predictions | map(select(.ci != null)) | length) as $with |
			($new | of | map(select(.before_s != null and .target_s != null) | (.target_s / .before_s - 1) | fabs) | mean) as $same |
			"| \($app) | \($t) | \($p) | \($predictions | map(.before_s | values) | mean | ms) | \($m | ms) | \($repeat | pc) | \($e | ms) | " +
			"\(($e / $m - 1) | fabs | pc) | \($in) of \($with) | \($same | pc) | " +
			"\(if ($old | map(.results[] | select(.why != null and (.why | test("campaign|load has")))) | length) > 0 then "cannot tell" else "" end) |"'
	done
}

# A mean counts where there are enough requests for a median (20 in each run), so that a few flushes in a run of
# thousands of writes do not decide.
summary() { # FILE: mean error by point, and the coverage
	awk -F'|' '
		{ gsub(/ /, "", $2); gsub(/ /, "", $3); gsub(/ /, "", $4) }
		NR == FNR { if ($4 == "p50") median[$2, $3]; next }
		{ split($9, e, " "); split($10, c, " "); split($11, s, " "); in_ += c[1]; of += c[3] }
		$4 == "mean" && !(($2, $3) in median) { few++; next }
		{ sum[$4] += e[1]; nr[$4]++; same[$4] += s[1] }
		END {
			print "| point | mean error of migration | mean error where it was recorded | rows |"
			print "|---|---|---|---|"
			n = split("mean p50 p95 p99", order, " ")
			for (i = 1; i <= n; i++) if (nr[order[i]])
				printf "| %s | %.1f %% | %.1f %% | %d |\n", order[i], sum[order[i]] / nr[order[i]], same[order[i]] / nr[order[i]], nr[order[i]]
			if (few) printf "\nMeans of fewer than 20 requests in a run are left out above: %d.\n", few
			if (of) printf "\nMeasured values inside the 90 %% interval: %d of %d (%.0f %%).\n", in_, of, 100 * in_ / of
		}' "$1" "$1"
}

results() {
	local suffix=.json what
	echo "# Applications, predicted and really run"
	echo
	echo "scripts/study-applications.sh wrote this page: ${SECONDS_EACH} s of each run, up to $REPEATS pairs, a campaign with an"
	echo "interval of $INTERVAL. The machine had $(nproc) processors; its load average was $loads when the script began."
	for what in absolute ${OLD_CAMPAIGN:+relative}; do
		[ $what = absolute ] || suffix=.relative.json
		rows $suffix >"$OUT/$what.rows"
		echo
		echo "## Migration from old to new, $what answers"
		echo
		summary "$OUT/$what.rows"
		echo
		echo "| application | type | point | old, ms | new, ms | repeat error | predicted, ms | error | in the interval | error on new itself | |"
		echo "|---|---|---|---|---|---|---|---|---|---|---|"
		cat "$OUT/$what.rows"
	done
	echo
	echo "## Errors of the new volume's device, held out"
	echo
	echo "| type | point | configurations | mean error | 90 % within a factor of |"
	echo "|---|---|---|---|---|"
	"$blkcast" storage show "$OUT/new.json" --json | jq -r '.held_out[] |
		"| \(.type) | \(.point) | \(.configurations) | \(.mean_error_ratio * 1000 | round / 10) % | \(if .interval_factor then .interval_factor * 100 | round / 100 else "-" end) |"'
}

loads=$(cut -d' ' -f1 /proc/loadavg)
make_volumes() {
	volume old 4 2000 3000
	volume new 1 1000 2000
}
campaign new
[ -z "${OLD_CAMPAIGN:-}" ] || campaign old
for ((pair = 1; pair <= REPEATS; pair++)); do
	for app in $APPS; do
		[ "$pair" -le 2 ] || [ -n "${RECORD_ONLY:-}" ] || awk "BEGIN { exit !($(repeat_error "$app") > 10) }" || continue
		if [ "$pair" -gt 1 ] && [ $SECONDS -gt "$LIMIT_S" ]; then
			say "$app, pair $pair: left out, the time is over"
			continue
		fi
		record "$app" old "$pair"
		record "$app" new "$pair"
	done
done
[ -z "${RECORD_ONLY:-}" ] || exit 0
results >"$OUT/results.md"
scripts/study-applications-table.sh "$OUT" >"$OUT/applications.csv"
[ -z "${OLD_CAMPAIGN:-}" ] || scripts/study-applications-table.sh "$OUT" .relative.json >"$OUT/applications.relative.csv"
cat "$OUT/results.md"
