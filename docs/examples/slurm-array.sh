#!/bin/sh
# Solves a net for 10, 20, ... 160 clients, one number in each task:  sbatch slurm-array.sh
# A task that runs again finds its answer and does nothing. NET and OUT may be set from outside.
#SBATCH --job-name=blkcast
#SBATCH --array=1-16
#SBATCH --cpus-per-task=2
#SBATCH --output=blkcast-%A-%a.log
set -eu
net=${NET:-/usr/share/blkcast/docs/examples/closed-storage.yaml}
out=${OUT:-answers}
clients=$((SLURM_ARRAY_TASK_ID * 10))
mkdir -p "$out"
[ ! -e "$out/$clients.json" ] || exit 0
blkcast qpn solve "$net" --set clients="$clients" --threads "${SLURM_CPUS_PER_TASK:-1}" --json -q \
	>"$out/$clients.json.$$"
mv "$out/$clients.json.$$" "$out/$clients.json"
