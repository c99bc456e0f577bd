#!/usr/bin/env bash
# tables.sh FOLDER [SEED [SYSTEM [SCENARIO...]]]: measures scenarios (default: all) on a system under
# study (first, second), one table FOLDER/SCENARIO.csv each; those that are there stay. All
# processors take shares of scenarios in turn; a table is the same however many there are.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1 seed=${2:-1} system=${3:-first} shares=4
sus=${BUILD:-build}/tests/system-under-study/$system
shift $(($# < 3 ? $# : 3))
mkdir -p "$folder"
[ $# -gt 0 ] && names=("$@") || mapfile -t names < <("$sus" | cut -d' ' -f1)
for name in "${names[@]}"; do
	[ -e "$folder/$name.csv" ] || for ((i = 0; i < shares; i++)); do echo "$name $i"; done
done | xargs -r -P "$(nproc)" -L 1 sh -c '"$0" "$4" "$1" "$5" "$2" >"$3/$4.$5"' "$sus" "$seed" $shares "$folder"
for name in "${names[@]}"; do
	[ ! -e "$folder/$name.csv" ] || continue
	{
		head -1 "$folder/$name.0"
		tail -q -n +2 "$folder/$name".[0-9] | sort -s -t, -k1,1n
	} >"$folder/$name.tmp"
	rm "$folder/$name".[0-9]
	mv "$folder/$name.tmp" "$folder/$name.csv"
done
