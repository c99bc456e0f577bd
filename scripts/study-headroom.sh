#!/usr/bin/env bash
# Measures how far the answers of blkcast headroom --storage are off, by really running an application with more and
# more clients. Run the script as root, on a machine on which nothing else runs:
#
#	scripts/study-headroom.sh [OUT [APPLICATION...]]
#
# Each application (clients: fio, synchronous clients that think; mixed: the same with other sizes and mostly writes;
# logs: each writes and flushes) is recorded with FEW clients on a storage that is known by a campaign alone
# (docs/examples/plans/storage.yaml, blkcast storage calibrate). blkcast headroom --storage predicts at how many clients each objective
# breaks. Then the application really runs with growing numbers of clients, ROUNDS times. The number at which the
# objective really breaks lies between two of them, by linear interpolation of the means of the rounds. OUT (default
# build/study-consolidation) gets the recordings, the answers, headroom.md, which is printed, and headroom.csv.
#
# The script does not measure again what OUT already holds. The campaign is that of scripts/study-consolidation.sh;
# with its OUT the script takes three minutes, otherwise six. LIMIT_S=, RECORD_ONLY=, SECONDS_EACH=, INTERVAL= and
# EVERY= are those of that script.
# The storage serves one request at a time in memory; reads take 1 ms, writes 2 ms (scripts/study-volumes.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/study-consolidation}
[ $# = 0 ] || shift
APPS=${*:-clients mixed logs}
SECONDS_EACH=${SECONDS_EACH:-6} INTERVAL=${INTERVAL:-700ms} ROUNDS=${ROUNDS:-1} LIMIT_S=${LIMIT_S:-3600}
FEW=4
. scripts/study-volumes.sh

# The numbers of clients that really run, and the objectives.
declare -A steps objectives
steps[clients]="4 8 12 14 16 18 20 24"
objectives[clients]="read.p95=8ms read.mean=4ms write.p95=10ms"
steps[mixed]="4 6 8 10 12 14 18"
objectives[mixed]="read.p95=12ms write.mean=8ms"
steps[logs]="4 8 12 14 16 18 20"
objectives[logs]="write.mean=4ms write.p95=8ms"
clients_fio() { # FOLDER SECONDS OPTION...: the numbers of clients are in $clients
	fio_in "$@" --ioengine=psync --thread --rw=randrw --numjobs="$clients"
}
run_clients() { clients_fio "$@" --rwmixread=70 --bs=8k --thinktime=20000; }
run_mixed() { clients_fio "$@" --rwmixread=40 --bssplit=4k/50:16k/30:64k/20 --thinktime=20000; }
run_logs() { fio_in "$@" --ioengine=psync --thread --rw=randwrite --bs=4k --numjobs="$clients" --fdatasync=1 --thinktime=30000; }

# Prints a time of an application in milliseconds, of the mean over the rounds: APPLICATION CLIENTS OBJECTIVE.
measured() {
	cat "$OUT/$1.$2".[0-9]*.json | jq -rs --arg type "${3%%.*}" --arg point "${3#*.}" '[.[].results[] |
		select(.type == $type and .point == $point) | .before_s | values] | if length == 0 then "" else add / length * 1e3 end'
}

# breaks APPLICATION OBJECTIVE: the number of clients at which it really breaks, "> N" if it holds at all of them
breaks() {
	local what=${2%=*} limit=${2#*=} n
	for n in ${steps[$1]}; do echo "$n $(measured "$1" "$n" "$what")"; done | awk -v limit="${limit%ms}" '
		NF < 2 { next }
		$2 > limit { print before == "" ? "< " $1 : before + ($1 - before) * (limit - at) / ($2 - at); done = 1; exit }
		{ before = $1; at = $2 }
		END { if (!done) print "> " before }'
}

# One CSV row per application and objective. An objective that holds, or breaks, at all numbers has no error.
rows() {
	local app objective
	for app in $APPS; do
		for objective in ${objectives[$app]}; do
			jq -r --arg app "$app" --arg objective "$objective" --arg really "$(breaks "$app" "$objective")" --argjson few "$FEW" '
				def clients: if . == null then null else .factor * $few end;
				.objectives[] | select(.slo == $objective) | (.headroom | clients) as $said | ($really | tonumber? // null) as $n |
				[$app, $objective, $few, $said, (.low | clients), (.high | clients), $really,
					(if $n == null then null else $said / $n - 1 end),
					(if .headroom.at_least then "at least" elif .extrapolated then "cannot tell" else "" end)] |
				@csv | gsub("\""; "")' "$OUT/$app.headroom.json"
		done
	done
}

results() {
	local app n what
	echo "# Headroom, predicted and really run"
	echo
	echo "scripts/study-headroom.sh wrote this page: ${SECONDS_EACH} s of each run, rounds: $ROUNDS, a campaign with an interval of"
	echo "$INTERVAL. The machine had $(nproc) processors; its load average was $loads when the script began. Each application was"
	echo "recorded with $FEW clients."
	echo
	echo "| application | objective | predicted clients | 90 % interval | really breaks at | error | |"
	echo "|---|---|---|---|---|---|---|"
	awk -F, 'NR > 1 {
		printf "| %s | %s | %.1f | %s | %s | %s | %s |\n", $1, $2, $4, $5 == "" ? "-" : sprintf("%.1f to %.1f", $5, $6),
			($7 + 0 > 0 ? sprintf("%.1f", $7) : $7), $8 == "" ? "-" : sprintf("%+.1f %%", 100 * $8), $9
		if ($8 != "") { sum += $8 < 0 ? -$8 : $8; nr++ }
	} END { if (nr) printf "\nMean error of %d objectives: %.1f %%.\n", nr, 100 * sum / nr }' "$OUT/headroom.csv"
	echo
	echo "Times that were measured, in ms:"
	echo
	echo "| application | clients | $(echo read.mean read.p95 write.mean write.p95 | sed 's/ / | /g') |"
	echo "|---|---|---|---|---|---|"
	for app in $APPS; do
		for n in ${steps[$app]}; do
			printf '| %s | %s |' "$app" "$n"
			for what in read.mean read.p95 write.mean write.p95; do printf ' %s |' "$(measured "$app" "$n" $what | awk 'NF { printf "%.3g", $1 }')"; done
			echo
		done
	done
}

loads=$(cut -d' ' -f1 /proc/loadavg)
make_volumes() { volume new 1 1000 2000; }
campaign new
for ((round = 1; round <= ROUNDS; round++)); do
	for app in $APPS; do
		for clients in ${steps[$app]}; do
			in_time
			run_together "$OUT/$app.$clients.$round" "$app@new"
		done
	done
done
[ -z "${RECORD_ONLY:-}" ] || exit 0
for app in $APPS; do
	for clients in ${steps[$app]}; do
		for ((round = 1; round <= ROUNDS; round++)); do
			predict "$OUT/$app.$clients.$round.json" study migrate "$OUT/$app.$clients.$round.store"
		done
	done
	predict "$OUT/$app.headroom.json" headroom "$OUT/$app.$FEW.1.store" --slo "$(echo "${objectives[$app]}" | tr ' ' ,)"
done
{
	echo application,objective,recorded_clients,predicted_clients,low_clients,high_clients,measured_clients,error_ratio,why
	rows
} >"$OUT/headroom.csv"
results >"$OUT/headroom.md"
cat "$OUT/headroom.md"
