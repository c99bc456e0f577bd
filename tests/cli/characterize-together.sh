#!/usr/bin/env bash
# blkcast characterize of several devices: their sum, second by second, against awk over the dump.
. tests/support/tap.sh
blkcast=$BUILD/blkcast
need awk "awk is not installed" command -v awk

"$BUILD/tests/system/make_trace" "$T/three.seg" 20 500 3
"$BUILD/tests/system/make_trace" "$T/one.seg" 20 500 1
"$blkcast" dump --utc --format csv "$T/three.seg" >"$T/three.csv"

# Requests per second of all and of each device; prints max, its second, and the sum of own maxima.
by_awk=$(awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{
		second = substr($column["arrival_s"], 1, index($column["arrival_s"], ".") - 1)
		all[second]++
		own[$column["device"], second]++
		devices[$column["device"]]
	}
	END {
		for (s in all) if (all[s] > max || all[s] == max && s < at) { max = all[s]; at = s }
		for (d in devices) {
			peak = 0
			for (s in all) if (own[d, s] > peak) peak = own[d, s]
			sum += peak
		}
		printf "%d %d %d", max, at, sum
	}' "$T/three.csv")

"$blkcast" characterize --together --json "$T/three.seg" >"$T/json"
number() { awk -v key="\"$1\":" '/"requests_per_s"/ { in_it = 1 } in_it && $1 == key { printf "%d", $2; exit }' "$T/json"; }
is "$(number max) $(number max_begin_s) $(number own_peaks_sum)" "$by_awk" \
	"maximum, its second and the sum of own maxima are those counted from the dump"
like "$(head -n 2 "$T/json" | tail -n 1)" '"schema": "blkcast.together/1"' "JSON names its schema"

text=$("$blkcast" characterize --utc "$T/three.seg")
like "$text" '^All 3 devices together, 20 intervals of 1 s$' "the sum follows the profiles of several devices"
like "$text" '^  most requests at 20.*Z: .* [0-9.]+ %' "it says when the maximum was and who made it"
like "$("$blkcast" characterize --utc --together "$T/three.seg" | head -n 1)" '^All 3 devices together' \
	"and comes alone where that is asked for"
if "$blkcast" characterize "$T/one.seg" | grep -q together; then
	fail "one device has no sum"
else
	pass "one device has no sum"
fi
exits 2 "a sum per window is refused" "$blkcast" characterize --together --window 1s "$T/one.seg"
exits 2 "a subset past the bound is bad usage" "$blkcast" characterize --subset 40000 "$T/one.seg"
exits 2 "so are too few samples" "$blkcast" characterize --samples 3 "$T/one.seg"
like "$("$blkcast" characterize --samples 64 "$T/one.seg")" '^  cache misses .*; from 64 sampled blocks, one in [0-9.]+ ?k?$' \
	"a sampled miss-ratio curve says of how many blocks it is made"
is "$("$blkcast" characterize --json "$T/one.seg" | awk '/"miss_ratio_samples"/ { print $2 + 0 }')" 65536 \
	"by default one device has the most samples"
done_testing
