#!/usr/bin/env bash
# blkcast qpn calibrate: finds what a table was made of, and predicts what it has not seen.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

# Service 0.1 ms + 10 ns per byte: response = clients * service, times a wiggle of 1 %.
awk 'BEGIN {
	print "type,clients,size_bytes,response_time_s,response_sd_s"
	for (s = 4096; s <= 65536; s *= 2) {
		mu = 1e-4 + 1e-8 * s
		printf "read,1,%d,%.9g,%.9g\n", s, mu, 5e-5
		for (t = 10; t <= 100; t += 10)
			printf "read,%d,%d,%.9g,\n", t, s, t * mu * (1 + 0.01 * sin(s + t))
	}
	print "write,10,4096,9,"
}' </dev/null >"$T/table.csv"
exits 0 "a table is calibrated" "$blkcast" qpn calibrate "$T/table.csv" --where type=read -o "$T/net.yaml" --json --quiet
number "$(jq '.c1_s_per_byte' "$T/out") > 0.97e-8" "the slope is found (below)"
number "$(jq '.c1_s_per_byte' "$T/out") < 1.03e-8" "the slope is found (above)"
number "$(jq '.c1_p' "$T/out") < 1e-4" "and is significant"
number "$(jq '.sd_s' "$T/out") == 5e-5" "the spread is that of one client"
number "$(jq '.mean_relative_error' "$T/out") < 0.02" "the error is that of the wiggle"
is "$(jq -r '.fitted_rows' "$T/out")" 5 "the runs of most clients were fitted"
exits 0 "its net is sound" "$blkcast" qpn check "$T/net.yaml" --quiet
exits 0 "it answers for a load and a size between" "$blkcast" qpn solve "$T/net.yaml" --set clients=45 --set size=24k --json --quiet
want=$(awk 'BEGIN { print 45 * (1e-4 + 1e-8 * 24576) }' </dev/null)
number "$(jq '.places[] | select(.place == "storage") | .residence_time.mean' "$T/out") / $want > 0.97" "near the truth (below)"
number "$(jq '.places[] | select(.place == "storage") | .residence_time.mean' "$T/out") / $want < 1.03" "near the truth (above)"
like "$("$blkcast" qpn calibrate "$T/table.csv" --where type=read -o "$T/net.yaml" --quiet)" \
	'c1 \(s/byte\) +[0-9.e-]+ +[0-9.e-]+' "terms and p-values are shown to a person"

grep -v '^read,1,' "$T/table.csv" >"$T/few.csv"
exits 2 "a table without a run of one client is refused" "$blkcast" qpn calibrate "$T/few.csv" --where type=read -o "$T/x.yaml"
is "$(cat "$T/err")" "blkcast qpn: $T/few.csv: no run of one client: one with its response_sd_s is needed for the spread of service times" "saying what is needed"
grep -E '^type|,4096,' "$T/table.csv" >"$T/few.csv"
exits 2 "a table of one size is refused" "$blkcast" qpn calibrate "$T/few.csv" --where type=read -o "$T/x.yaml"
is "$(cat "$T/err")" "blkcast qpn: $T/few.csv: runs of at least 100 clients: two request sizes or more are needed, got one" "saying what is needed"
sed 's/^read,10,4096,[^,]*/read,10,4096,-1/' "$T/table.csv" >"$T/bad.csv"
exits 2 "a negative response time is refused" "$blkcast" qpn calibrate "$T/bad.csv" -o "$T/x.yaml"
is "$(cat "$T/err")" "blkcast qpn: $T/bad.csv:3: response_time_s: expected a number above 0, got -1" "with its line"
holds "and no net is written" test ! -e "$T/x.yaml"
exits 2 "another model is refused" "$blkcast" qpn calibrate "$T/table.csv" --model raid -o "$T/x.yaml"

# The commands of docs/guide/nets.md, in a folder beside docs.
ln -s "$PWD/docs" "$T/docs"
grep -oE '^    blkcast qpn (calibrate .*|predict .*|solve cache.*)' docs/guide/nets.md | sed 's/^ *blkcast//' >"$T/page"
is "$(wc -l <"$T/page")" 4 "the guide calibrates and asks two models"
while read -r line; do
	exits 0 "nets.md: blkcast $line" env -C "$T" "$(realpath "$blkcast")" $line
done <"$T/page"
like "$(cat "$T/out")" '^write,45,24k,100g,0\.01[12]' "an array answers 45 writers in 11 to 13 ms"
done_testing
