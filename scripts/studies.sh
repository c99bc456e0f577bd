#!/usr/bin/env bash
# Makes models of a storage system's response times and throughput, of interference on the storage system, and of its
# capacity, from the tables in docs/studies or from new tables that are measured here:
#
#	scripts/studies.sh [OUT]                       refits the tables of docs/studies
#	scripts/studies.sh OUT DIRECTORY DEVICE        measures first, in DIRECTORY on /dev/DEVICE; as root
#
# OUT (default build/studies) gets results.txt and, where measured, stores and tables. A campaign that
# was interrupted goes on. Measuring takes 80 minutes and writes 2 GiB of files. TECHNIQUES, STUDIES and
# RESPONSES narrow what is refitted.
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/studies}
DIRECTORY=${2:-}
DEVICE=${3:-}
blkcast=${BUILD:-build}/blkcast
tables=${TABLES:-docs/studies}
STUDIES=${STUDIES:-disk pair law capacity}
TECHNIQUES=${TECHNIQUES:-lrm lrm-ia cart mars mars-ia m5 cubist}
RESPONSES=${RESPONSES:-}
mkdir -p "$OUT"
export LC_ALL=C

# The columns that models need, of the table of a campaign.
narrow() { # TABLE.csv
	awk -F, 'NR == 1 {
		for (i = 1; i <= NF; i++) {
			name = $i; sub(/_rse$/, "", name); sub(/^vm[12]\./, "", name)
			if (name ~ /^(read|write)_(s|per_s|bytes_per_s)$/ || !(name ~ /_(s|bytes|requests|per_s|ratio)$/))
				keep[++nr] = i
		}
	}
	{
		for (k = 1; k <= nr; k++)
			printf "%s%s", (NR != 1 && $(keep[k]) ~ /\./ ? sprintf("%.7g", $(keep[k])) : $(keep[k])), k < nr ? "," : "\n"
	}' "$1"
}

measure() { # CAMPAIGN...
	local c plan rt=""
	queue=/sys/block/$DEVICE/queue/scheduler
	scheduler=$(sed 's/.*\[\(.*\)\].*/\1/' "$queue")
	trap 'echo "$scheduler" >"$queue"' EXIT
	chrt -f 20 true 2>/dev/null && rt="chrt -f 20" # other processes disturb little then
	for c in "$@"; do
		plan=docs/examples/plans/$c.yaml
		sed "s|/mnt/test|$DIRECTORY|; s|device: sdb|device: $DEVICE|; s|\.\./profiles|$PWD/docs/examples/profiles|" \
			"$plan" >"$OUT/$c.yaml"
		[ ! -d /sys/fs/cgroup/unified ] || sed -i 's|cgroup: |cgroup: unified/|' "$OUT/$c.yaml"
		$rt "$blkcast" measure "$OUT/$c.yaml" --db "$OUT/$c.sqlite" --resume
		"$blkcast" measure --export "$OUT/$c.all.csv" --db "$OUT/$c.sqlite"
		narrow "$OUT/$c.all.csv" >"$OUT/$c.csv"
		rm "$OUT/$c.all.csv"
	done
	tables=$OUT
}

# Rows that have the response, and nothing beside variables but that.
pick() { # RESPONSE VARIABLES TABLE...
	local response=$1 variables=$2
	shift 2
	awk -F, -v response="$response" -v variables="$variables" 'FNR == 1 {
		for (i = 1; i <= NF; i++) at[$i] = i
		nr = split(variables, name, " ")
		name[++nr] = response
		for (k = 1; k <= nr; k++) if (!(name[k] in at)) { print name[k] " is missing" >"/dev/stderr"; exit 1 }
	}
	NR == 1 || (FNR > 1 && $(at[response]) > 0) {
		for (k = 1; k <= nr; k++) printf "%s%s", $(at[name[k]]), k < nr ? "," : "\n"
	}' "$@"
}

say() { printf '%s\n' "$*" | tee -a "$OUT/results.txt"; }
percent() { awk -v v="$1" 'BEGIN { if (v == "null") print "-"; else printf "%.2f %%", 100 * v }'; }
from() { jq -r "$2" "$1"; }

# Optimized with S3 and with standard parameters, learned as it is and by its logarithm.
fit_all() { # FOLDER RESPONSE
	local d=$1 t scale name
	for t in $TECHNIQUES; do
		for scale in "" --log; do
			name=$d/$t$scale
			# shellcheck disable=SC2086
			"$blkcast" fit "$d/seen.csv" -r "$2" $scale -t "$t" -q -o "$name.json" --json >"$name.fit"
			# shellcheck disable=SC2086
			"$blkcast" fit "$d/seen.csv" -r "$2" $scale -t "$t" -q --standard -o "$name.standard.json" >/dev/null
			"$blkcast" predict "$name.json" "$d/unseen.csv" -q --check --against "$name.standard.json" --json \
				>"$name.check"
		done
	done
}

p_value='if .p == null then "-" elif .p < 1e-6 then "< 1e-6" else .p * 1e6 | round / 1e6 end'

# All techniques for one response, held against what was not seen.
model() { # STUDY RESPONSE VARIABLES
	local d=$OUT/$1-$2 t n check
	mkdir -p "$d"
	# shellcheck disable=SC2046
	pick "$2" "$3" "$tables/$1.csv" $(ls "$tables/$1-edges.csv" 2>/dev/null) >"$d/seen.csv"
	pick "$2" "$3" "$tables/$1-unseen.csv" >"$d/unseen.csv"
	fit_all "$d" "$2"
	check=$d/${TECHNIQUES%% *}.check
	say ""
	say "$1: $2, $(($(wc -l <"$d/seen.csv") - 1)) rows learned; $(from "$check" .configurations) configurations unseen, in $(
		from "$check" .rows) runs, of which one deviates by $(percent "$(from "$check" .deviation)"), the mean by $(
		percent "$(from "$check" .standard_error)")"
	say "| technique | log: held out | log: unseen | 95 % | bias | standard | p | linear: unseen | standard | p |"
	say "|---|---|---|---|---|---|---|---|---|---|"
	for t in $TECHNIQUES; do
		n=$d/$t--log
		say "| $t | $(percent "$(from "$n.fit" '.results[0].mean_relative_error')") | $(
			percent "$(from "$n.check" .model.mean_error)") | $(percent "$(from "$n.check" .model.p95_error)") | $(
			percent "$(from "$n.check" .model.bias)") | $(percent "$(from "$n.check" .against.mean_error)") | $(
			from "$n.check" "$p_value") | $(percent "$(from "$d/$t.check" .model.mean_error)") | $(
			percent "$(from "$d/$t.check" .against.mean_error)") | $(from "$d/$t.check" "$p_value") |"
	done
}

# Throughput of clients that never think, by the interactive response-time law: clients x size x share of the
# type over a mean time, which is what is learned. Of the techniques the one of least held-out RMSE is named.
law() { # STUDY RESPONSE VARIABLES OFFSET
	local d=$OUT/$1-$2-law t n best
	mkdir -p "$d"
	# shellcheck disable=SC2046
	pick "$2" "$3" "$tables/$1.csv" $(ls "$tables/$1-edges.csv" 2>/dev/null) >"$d/seen.csv"
	pick "$2" "$3" "$tables/$1-unseen.csv" >"$d/unseen.csv"
	say ""
	say "$1: $2 over $4, learned by its logarithm"
	say "| technique | held out | unseen | 95 % | bias | standard | p |"
	say "|---|---|---|---|---|---|---|"
	for t in $TECHNIQUES; do
		n=$d/$t
		"$blkcast" fit "$d/seen.csv" -r "$2" --log --offset "$4" -t "$t" -q -o "$n.json" --json >"$n.fit"
		"$blkcast" fit "$d/seen.csv" -r "$2" --log --offset "$4" -t "$t" -q --standard -o "$n.standard.json" >/dev/null
		"$blkcast" predict "$n.json" "$d/unseen.csv" -q --check --against "$n.standard.json" --json >"$n.check"
		say "| $t | $(percent "$(from "$n.fit" '.results[0].mean_relative_error')") | $(
			percent "$(from "$n.check" .model.mean_error)") | $(percent "$(from "$n.check" .model.p95_error)") | $(
			percent "$(from "$n.check" .model.bias)") | $(percent "$(from "$n.check" .against.mean_error)") | $(
			from "$n.check" "$p_value") |"
	done
	best=$(for t in $TECHNIQUES; do echo "$(from "$d/$t.fit" '.results[0].cv_rmse') $t"; done | sort -g | head -n 1 | cut -d' ' -f2)
	say "least held-out RMSE: $best, unseen $(percent "$(from "$d/$best.check" .model.mean_error)")"
}

# Prints what blkcast capacity gets of a table: every size's mean throughput at every mix.
measured() { # TABLE
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ key = $(at["size"]) " " $(at["read"]); sum[key] += $(at["read_per_s"]) + $(at["write_per_s"]); nr[key]++ }
	END {
		for (key in sum) {
			split(key, k, " ")
			mix = k[2] == 0 ? "write" : k[2] == 100 ? "read" : k[2]
			text[k[1]] = text[k[1]] "," mix "=" sprintf("%.7g", sum[key] / nr[key])
		}
		for (size in text) printf "--measure %s:%s ", size, substr(text[size], 2)
	}' "$1"
}

mixed() { # CASE SMALL LARGE READ: predicted from each size alone, by shares of the requests
	local share total
	for share in 10 30 50 70 90; do
		total=$(awk -F, -v c="$1" -v s="$share" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$(at["case"]) == c && $(at["share"]) == s { sum += $(at["read_per_s"]) + $(at["write_per_s"]); n++ }
			END { print sum / n }' "$tables/capacity-mixed.csv")
		# shellcheck disable=SC2046
		"$blkcast" capacity $(measured "$tables/capacity.csv") -q --json --request-shares \
			--sizes "$2=0.$((share / 10)):$4,$3=0.$((10 - share / 10)):$4" |
			jq -r --arg c "$1" --argjson s "$share" --argjson m "$total" \
				'"| \($c), \($s) % of the smaller | \($m | round) | \(.total_iops | round) | \(100 * (.total_iops / $m - 1) | round) % |"'
	done
}

capacity() {
	say ""
	say "capacity: | predicted / measured - 1 |, %, by size and share of reads, from reads alone and writes alone"
	# shellcheck disable=SC2046
	"$blkcast" capacity $(measured "$tables/capacity.csv") -q --json >"$OUT/capacity.json"
	jq -r '.constancy | group_by(.bytes)[] | "| \(.[0].bytes / 1024) KiB | " +
		(map("\(.read_ratio * 100 | round): \(.error_ratio * 100 | round)") | join(" | ")) +
		" | mean \((map(.error_ratio) | add / length) * 100 | round) |"' "$OUT/capacity.json" | tee -a "$OUT/results.txt"
	jq -r '.constancy | "mean up to 32 KiB \(map(select(.bytes <= 32768) | .error_ratio) | add / length * 1000 | round / 10) %, above \(
		map(select(.bytes > 32768) | .error_ratio) | add / length * 1000 | round / 10) %"' "$OUT/capacity.json" | tee -a "$OUT/results.txt"
	say "| sizes together | measured/s | predicted/s | error |"
	say "|---|---|---|---|"
	{
		mixed reads 16k 256k 100
		mixed writes 64k 256k 0
		mixed both 16k 128k 50
	} | tee -a "$OUT/results.txt"
}

: >"$OUT/results.txt"
if [ -n "$DIRECTORY" ]; then
	measure disk disk-edges disk-unseen pair pair-unseen capacity capacity-mixed
fi
for study in $STUDIES; do
	case $study in
	disk)
		for r in ${RESPONSES:-read_s write_s read_bytes_per_s write_bytes_per_s}; do
			model disk "$r" "scheduler file_set request_size pattern read threads"
		done
		;;
	pair)
		for r in ${RESPONSES:-read_s write_s read_bytes_per_s write_bytes_per_s}; do
			model pair "vm1.$r" "set size pattern read"
			model pair "vm2.$r" "set size pattern read"
		done
		;;
	law)
		for t in read write; do
			share=read
			[ $t = read ] || share="(100-read)"
			law disk ${t}_bytes_per_s "scheduler file_set request_size pattern read threads" "threads*request_size*$share"
			law pair vm2.${t}_bytes_per_s "set size pattern read" "size*$share"
		done
		;;
	capacity) capacity ;;
	esac
done
