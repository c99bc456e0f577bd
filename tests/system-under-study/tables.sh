#!/usr/bin/env bash
# tables.sh FOLDER [SEED [SCENARIO...]]: measures scenarios (default: all) on the system under study,
# one table FOLDER/SCENARIO.csv each; those that are there stay. Two processes per scenario.
set -euo pipefail
cd "$(dirname "$0")/../.."
sus=${BUILD:-build}/tests/system-under-study/main
folder=$1 seed=${2:-1}
shift $(($# < 2 ? $# : 2))
mkdir -p "$folder"
[ $# -gt 0 ] || mapfile -t names < <("$sus" | cut -d' ' -f1)
for name in "${@:-${names[@]}}"; do
	[ ! -e "$folder/$name.csv" ] || continue
	"$sus" "$name" "$seed" 0 2 >"$folder/$name.0" &
	"$sus" "$name" "$seed" 1 2 >"$folder/$name.1"
	wait $!
	{
		head -1 "$folder/$name.0"
		tail -q -n +2 "$folder/$name".[01] | sort -s -t, -k1,1n
	} >"$folder/$name.tmp"
	rm "$folder/$name".[01]
	mv "$folder/$name.tmp" "$folder/$name.csv"
done
