#!/usr/bin/env bash
# Prints the tables of scripts/estimates.sh from its measurements: the estimates beside the figures of the real runs.
#
#	scripts/estimates-table.sh OUT
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=$1
blkcast=build/blkcast
export LC_ALL=C

ms='def ms: if . == null then "-" else . * 1e5 | round / 100 | tostring end;'
pc='def pc: if . == null then "-" else . * 1e3 | round / 10 | "\(.) %" end;'

# answer COMMAND...: an estimate whose conclusion is "cannot tell" (exit status 3) has its rows all the same.
answer() { "$blkcast" "$@" || [ $? = 3 ]; }

# migrate LOAD: one row, by models and by a net
migrate() {
	local name=$1 by
	for by in "db $OUT/new.sqlite" "model $OUT/net.json"; do
		# shellcheck disable=SC2086
		answer study migrate "$OUT/old-$name.1.json" --${by% *} "${by#* }" --measured "$OUT/new-$name.1.json" -q --json
	done | jq -rs --arg n "$name" "$ms $pc"'
		.[0].results as $m | .[1].results as $q | range($m | length) as $i | $m[$i] as $r | $q[$i] as $s |
		"| \($n), \($r.type)s | \($r.before_s | ms) | \($r.measured_s | ms) | \($r.target_s | ms) | \($r.delta_rt | pc) | " +
		"\(if $r.ci[0] <= $r.measured_s and $r.measured_s <= $r.ci[1] then "yes" else "no" end) | \($s.target_s | ms) | \($s.delta_rt | pc) |"'
}

pair() { # A B: its rows
	answer study consolidate "$OUT/old-$1.1.json" "$OUT/old-$2.1.json" --db "$OUT/new.sqlite" -q --json \
		--measured "$OUT/new-$1-$2.1.json,$OUT/new-$1-$2.2.json" |
		jq -r --arg a "$1" --arg b "$2" "$ms $pc"'[$a, $b] as $names | .results[] | select(.case != "alone") |
		"| \($names[.load - 1]) with \($names[2 - .load]), \(.type)s | \(.measured_s | ms) | \(.target_s | ms) | \(.delta_rt | pc) | " +
		"\(if .ci[0] <= .measured_s and .measured_s <= .ci[1] then "yes" else "no" end) |"'
}

mean_of() { # COLUMN: of the rows on standard input that have a number of percents there
	awk -F'|' -v c="$1" '$c ~ /%/ { sum += $c; n++ } END { if (n) printf "%.1f %%", sum / n }'
}

# knee LOAD LIMIT-MS CLIENTS...: the curve beside what so many clients met
knee() {
	local load=$1 limit=$2 n runs=() today
	shift 2
	today=$OUT/new-$load.1.json
	for n; do
		if [ -s "$OUT/new-$load=$n.1.json" ]; then runs+=("$OUT/new-$load=$n.1.json"); else runs+=("$today"); fi
	done
	$blkcast headroom "$today" --slo "read.mean=${limit}ms" --db "$OUT/new.sqlite" -q --json >"$OUT/headroom-$load.json" || [ $? = 1 ] || [ $? = 3 ]
	jq -rn --slurpfile h "$OUT/headroom-$load.json" --slurpfile p <(cat "${runs[@]}") --argjson limit "$limit" --arg load "$load" "$ms $pc"'
		def between($list; $x): [$list | to_entries[] | select(.value[0] >= $x)][0].key as $k |
			if $k == null then null elif $k == 0 then $list[0][1] else
			$list[$k - 1] as $a | $list[$k] as $b | $a[1] + ($b[1] - $a[1]) * ($x - $a[0]) / ($b[0] - $a[0]) end;
		$h[0].objectives[0] as $o | [$p[] | [.intensity.closed.clients_mean, .response_time.read.total.mean_s]] as $m |
		($m[] | . as [$n, $r] | between($o.curve; $n) as $e |
			"| \($load), \($n | round) clients | \($r | ms) | \($e | ms) | \(if $e then ($e / $r - 1 | fabs | pc) else "-" end) |"),
		"",
		"\($load): read.mean = \($limit) ms predicted at \($o.headroom.factor * $o.today * 10 | round / 10) clients (90 %: " +
		"\($o.low.factor * $o.today * 10 | round / 10) to \($o.high.factor * $o.today * 10 | round / 10)), measured at " +
		"\(between([$m[] | [.[1], .[0]]]; $limit / 1000) * 10 | round / 10)"'
}

scenario() { # NAME CHANGES: a file
	cat <<-YAML >"$OUT/$1.yaml"
		scenario: $1
		storages:
		  old: {db: old.sqlite}
		  new: {db: new.sqlite}
		vms:
		  web: {profile: old-web.1.json, storage: old}
		  shop: {profile: old-shop.1.json, storage: old}
		changes: $2
	YAML
}

scenarios() {
	scenario today "[]"
	scenario three "[{add: {vm: web, count: 2}}]"
	scenario swapped "[{add: {vm: web, count: 2}}, {swap: {storage: old, for: new}}]"
	$blkcast study scenario "$OUT"/{today,three,swapped}.yaml -q --json >"$OUT/scenarios.json"
	# measured: of several VMs alike the mean over their requests
	jq -rn --slurpfile s "$OUT/scenarios.json" --slurpfile a <(cat "$OUT"/today.[12].json) --slurpfile b <(cat "$OUT"/three-old.[1-4].json) \
		--slurpfile c <(cat "$OUT"/three-new.[1-4].json) "$ms $pc"'
		def mean($t): map(.response_time[$t].total | select(.count > 0)) | if length == 0 then null
			else (map(.count * .mean_s) | add) / (map(.count) | add) end;
		[["today", $a[:1], $a[1:]], ["three", $b[:3], $b[3:]], ["swapped", $c[:3], $c[3:]]][] as [$name, $web, $shop] |
		$s[0].scenarios[] | select(.scenario == $name) | .vms[] | . as $v | ("read", "write") as $t |
		(if $v.vm == "web" then $web else $shop end | mean($t)) as $m | select($m != null) |
		$v[$t].mean_s as $e | select($e != null) |
		"| \($name): \($v.vm), \($t)s | \($m | ms) | \($e | ms) | \($e / $m - 1 | fabs | pc) |"'
}

grep -E '^(configuration|([0-9]+,(read|write),[0-9]+,))' "$OUT/net.csv" >"$OUT/net-rows.csv"
$blkcast qpn calibrate --model mixed "$OUT/net-rows.csv" -o "$OUT/net.json" -q >"$OUT/net.txt"

echo "Migration from old to new: mean response times in ms"
echo
echo "| load | old | new, measured | models | Δ | in the interval | net | Δ |"
echo "|---|---|---|---|---|---|---|---|"
for name in web shop batch log; do migrate $name; done >"$OUT/migrate.rows"
cat "$OUT/migrate.rows"
echo "| mean | | | | $(mean_of 6 <"$OUT/migrate.rows") | | | $(mean_of 9 <"$OUT/migrate.rows") |"
echo
echo "Consolidation: two loads on new"
echo
echo "| load | measured | models | Δ | in the interval |"
echo "|---|---|---|---|---|"
for a in batch log shop web; do
	for b in batch log shop web; do
		[[ ! $a < $b ]] || pair $a $b
	done
done >"$OUT/pairs.rows"
cat "$OUT/pairs.rows"
echo "| mean of reads | | | $(grep reads "$OUT/pairs.rows" | mean_of 5) | |"
echo "| mean of writes | | | $(grep writes "$OUT/pairs.rows" | mean_of 5) | |"
echo
echo "Headroom on new: mean response time of reads"
echo
echo "| load | measured | predicted | Δ |"
echo "|---|---|---|---|"
knee web 40 4 8 12 16 20 24 32
echo
echo "| load | measured | predicted | Δ |"
echo "|---|---|---|---|"
knee shop 40 3 6 9 12 18
echo
echo "Scenarios: web and shop on old; with two more web; all that on new"
echo
echo "| VM | measured | predicted | Δ |"
echo "|---|---|---|---|"
scenarios
