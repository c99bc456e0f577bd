#!/usr/bin/env bash
# scripts/study-ranks.sh [PROGRAM] measures what two and four ranks under mpirun gain beside one process, and prints a
# table for docs/studies/ranks/results.md. S3 searches four techniques for four responses, and 8 hosts of 1.2 million
# requests each are characterized. The machine has to be idle.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-build/blkcast}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk 'BEGIN { srand(11); print "threads,size,read,pattern,a,b,c,d"
	for (i = 0; i < 400; i++) { t = 1 + int(rand() * 64); s = 2 ^ (2 + int(rand() * 8)); r = int(rand() * 100)
		p = rand() < 0.5; y = t * (0.2 + s / 100) * (p ? 3 : 1) + (t > 32 ? t / 2 : 0) + rand()
		printf "%d,%d,%d,%s,%f,%f,%f,%f\n", t, s, r, p ? "random" : "sequential", y, y + r / 10, sqrt(y) * 4, y * (1 + r / 200) } }' \
	>"$work/table.csv"
ask=("$program" fit "$work/table.csv" -r a,b,c,d -t mars-ia,m5,cart,cubist --s3 splits=4,explorations=5,iterations=10 -q --json)
for host in a b c d e f g h; do
	build/tests/system/make_trace "$work/$host.seg" 60 20000 1 plain "$host"
done
read_all=("$program" characterize -q --json "$work"/*.seg)
mpi() { mpirun -q --allow-run-as-root --oversubscribe "$@" </dev/null; }

# timed NAME COMMAND...: one row, and the answer without its times in $work/NAME
timed() {
	local name=$1 TIMEFORMAT="%R %U %S"
	shift
	{ time "$@" >"$work/out"; } 2>"$work/time"
	jq -c 'del(.[].results[]?.seconds)' "$work/out" >"$work/$name"
	read -r wall user sys < <(tail -n 1 "$work/time")
	cmp -s "$work/$name" "$work/one" && same=yes || same=no
	awk -v n="$name" -v w="$wall" -v u="$user" -v s="$sys" -v same="$same" \
		'BEGIN { printf "| %s | %.2f | %.2f | %s |\n", n, w, u + s, same }'
}
echo "| run | wall s | CPU s | same bits |"
echo "|---|---|---|---|"
for _ in $(seq "${ROUNDS:-2}"); do
	timed one "${ask[@]}" --threads 1
	timed two-ranks mpi -n 2 "${ask[@]}" --threads 1
	timed two-threads "${ask[@]}" --threads 2
	timed four-ranks mpi -n 4 "${ask[@]}" --threads 1
done
rm "$work/one"
for _ in $(seq "${ROUNDS:-2}"); do
	timed one taskset -c 0 "${read_all[@]}"
	timed characterize-two-ranks mpi -n 2 --bind-to core "${read_all[@]}"
	timed characterize-two-threads "${read_all[@]}"
done
