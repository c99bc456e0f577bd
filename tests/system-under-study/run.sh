#!/usr/bin/env bash
# run.sh [SYSTEM [SEED [FOLDER]]]: the study of the storage models on a system under study (first,
# second). Measures the calibration and evaluation scenarios (tables that are in FOLDER already stay),
# calibrates, predicts, and prints mean relative errors beside those of Noorshams (2015), tables 7.5
# and 7.11. FOLDER: default build/qpn-study/SYSTEM.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build} system=${1:-first} seed=${2:-1} folder=${3:-${BUILD:-build}/qpn-study/${1:-first}}
here=tests/system-under-study blkcast=$build/blkcast
declare -A scale=([first]=1 [second]=0.5) # SUS_SCALE

$here/tables.sh "$folder" "$seed" "$system"

# join OUT SCENARIO...: tables as one; configurations keep apart by the scenario's name
join() {
	local out=$1 first=1 name
	shift
	for name; do
		awk -v p="$name" -v first="$first" 'NR > 1 { print p "-" $0 } NR == 1 && first' \
			"$folder/$name.csv"
		first=0
	done >"$out"
}

# errors NAME MODEL: one row of the table of errors
errors() {
	"$blkcast" qpn predict "$2" "$folder/$1.csv" --quiet --precision 0.05 >"$folder/$1.predicted" || return 0
	awk -v name="$1" -v scale="${scale[$system]}" -f $here/errors.awk "$folder/$1.predicted"
}

join "$folder/hardware.csv" calibrate-{cache,rr,rs,wr,ws}
join "$folder/variable.csv" calibrate-{cache,mix,vms,sizes}
"$blkcast" qpn calibrate --model hardware "$folder/hardware.csv" -o "$folder/hardware.json" --quiet >"$folder/hardware.txt"
"$blkcast" qpn calibrate --model variable "$folder/variable.csv" -o "$folder/variable.json" --quiet --precision 0.05 --weights parts >"$folder/variable.txt"

printf 'system: %s\n' "$system"
printf 'scenario\tr_r cached\tuncached\tr_s\tw_r cached\tuncached\tw_s\tmean\n'
printf '%s\n' $'thesis: interpolation\t8.40\t8.25\t5.00\t0.97\t5.19\t1.02\t4.81' \
	$'thesis: clients\t7.98\t4.41\t5.76\t0.60\t4.11\t0.60\t3.91' \
	$'thesis: 2 VMs\t8.01\t10.65\t7.69\t0.55\t5.66\t0.47\t5.51' \
	$'thesis: 3 VMs\t10.02\t4.59\t8.55\t0.68\t6.98\t0.72\t5.26'
for name in interpolation clients vms-2 vms-3; do errors $name "$folder/hardware.json"; done
printf '\nscenario\treads\twrites\tmean\n'
printf '%s\n' $'thesis: I\t6.49\t12.88\t9.69' $'thesis: II\t21.64\t19.51\t20.58' \
	$'thesis: III\t27.48\t27.93\t27.71' $'thesis: IV\t29.03\t23.35\t26.19' \
	$'thesis: V\t20.11\t23.43\t21.77'
for name in scheduling-{1..5}; do errors $name "$folder/variable.json"; done
