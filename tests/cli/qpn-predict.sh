#!/usr/bin/env bash
# blkcast qpn calibrate and predict: storage models in files, asked and refused.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

# Random writes of t clients: t (0.1 ms + 10 ns per byte) up to 5 GiB, then times 1 + ln (f / 5).
awk 'BEGIN {
	print "type,pattern,clients,size_bytes,file_set_bytes,response_time_s,response_sd_s"
	print "write,random,1,4096,1g,1.4e-4,4e-5"
	for (t = 10; t <= 100; t += 30)
		for (s = 4096; s <= 65536; s *= 4)
			for (f = 1.25; f <= 160; f *= 2)
				printf "write,random,%d,%d,%.0f,%.9g,\n", t, s, f * 2^30,
					t * (1e-4 + 1e-8 * s) * (f <= 5 ? 1 : 1 + log(f / 5)) * (1 + 0.01 * sin(s + t * f))
}' </dev/null >"$T/table.csv"
exits 0 "a table is calibrated" "$blkcast" qpn calibrate --model hardware "$T/table.csv" -o "$T/m.json"
like "$(cat "$T/out")" 't s ln f +[0-9.e-]+ +[0-9.e-]+' "terms and p-values are shown"
like "$(cat "$T/out")" 'pruned +[0-9.]+' "and what was pruned with its p-value"
like "$(cat "$T/out")" 'cached up to (4\.|5)' "the two cases are parted at 5 GiB"
is "$(jq -r '.schema, .kind, .model' "$T/m.json" | tr '\n' ' ')" "blkcast.model/1 qpn hardware " "the model is a model file"

ask() { "$blkcast" "$@" --quiet --json; }
set -- --set type=write,clients=55,size_bytes=16k,file_set_bytes=40g
got=$(ask qpn predict "$T/m.json" "$@" | jq '.[0].predicted')
want=$(awk 'BEGIN { print 55 * (1e-4 + 1e-8 * 16384) * (1 + log(40 / 5)) }' </dev/null)
number "$got / $want > 0.97" "a load between is predicted (below)"
number "$got / $want < 1.03" "a load between is predicted (above)"
exits 0 "the net that answers is printed" "$blkcast" qpn predict "$T/m.json" "$@" --net
cp "$T/out" "$T/net.yaml"
is "$("$blkcast" qpn solve "$T/net.yaml" --of "uncached response" --json --quiet | jq '.probes[1].time.mean')" "$got" "and its solution is the prediction"
is "$(ask predict "$T/m.json" "$@" | jq '.[0].predicted')" "$got" "blkcast predict says the same"
is "$(ask predict "$T/m.json" "$@" | jq -c '.[0].outside')" false "and that it lies within what was measured"
exits 0 "more clients than measured are predicted" "$blkcast" predict "$T/m.json" --set type=write,clients=150,size_bytes=16k,file_set_bytes=40g
is "$(cat "$T/err")" "blkcast predict: 1 of 1 rows lie outside the training range: extrapolated" "with a warning"
is "$(tail -1 "$T/out" | sed 's/.*,//')" 1 "and a mark"
exits 2 "unless it must not" "$blkcast" qpn predict "$T/m.json" --strict --set type=write,clients=150,size_bytes=16k,file_set_bytes=40g
is "$(cat "$T/err")" "blkcast qpn: --set:2: clients lies outside the training range 10 to 100" "naming what lies outside"
exits 0 "a table with measured times is judged" "$blkcast" qpn predict "$T/m.json" "$T/table.csv"
like "$(cat "$T/err")" '97 measured response times missed by [01]\.[0-9]+ % on average' "with its error"
"$blkcast" qpn predict "$T/m.json" "$T/table.csv" --quiet --threads 1 >"$T/one.csv"
is "$(cksum <"$T/out")" "$(cksum <"$T/one.csv")" "any number of threads predicts the same"

exits 2 "a class that was not calibrated is refused" "$blkcast" qpn predict "$T/m.json" --set type=read,clients=5,size_bytes=4k,file_set_bytes=1g
is "$(cat "$T/err")" "blkcast qpn: --set:2: type: the model was calibrated without random reads" "by name"
exits 2 "a file set must be given" "$blkcast" qpn predict "$T/m.json" --set type=write,clients=5,size_bytes=4k
is "$(cat "$T/err")" "blkcast qpn: --set:2: file_set_bytes: expected a size above 0" "where it counts"
exits 2 "a missing column is refused" "$blkcast" qpn predict "$T/m.json" --set type=write,size_bytes=4k
like "$(cat "$T/err")" "blkcast qpn: --set.*clients" "by name"
exits 2 "an unknown type is refused" "$blkcast" qpn predict "$T/m.json" --set type=erase,clients=5,size_bytes=4k
is "$(cat "$T/err")" "blkcast qpn: --set:2: type: expected read or write, got 'erase'" "by name"
grep -v '^write,random,1,' "$T/table.csv" >"$T/few.csv"
exits 2 "too few rows are refused" "$blkcast" qpn calibrate --model hardware "$T/few.csv" -o "$T/x.json"
is "$(cat "$T/err")" "blkcast qpn: $T/few.csv: random writes: no run of one client: one with its response_sd_s is needed for the spread of service times" "saying what is needed"
holds "and no model is written" test ! -e "$T/x.json"
sed 's/random_write/wrong/' "$T/m.json" >"$T/bad.json"
exits 2 "a model without classes is refused" "$blkcast" predict "$T/bad.json" "$@"
sed 's/"kind":"qpn"/"kind":"crystal"/' "$T/m.json" >"$T/bad.json"
exits 2 "another kind is refused" "$blkcast" predict "$T/bad.json" "$@"
is "$(cat "$T/err")" "blkcast predict: $T/bad.json: kind: expected 'regression' or 'qpn', got 'crystal'" "by name"

grep -E '^type|,1g,|,1342177280,' "$T/table.csv" >"$T/cache.csv"
exits 0 "the cache model is a model file too" "$blkcast" qpn calibrate "$T/cache.csv" -o "$T/c.json"
got=$(ask predict "$T/c.json" --set type=write,clients=20,size_bytes=8k | jq '.[0].predicted')
want=$(awk 'BEGIN { print 20 * (1e-4 + 1e-8 * 8192) }' </dev/null)
number "$got / $want > 0.97" "and predicts (below)"
number "$got / $want < 1.03" "and predicts (above)"
done_testing
