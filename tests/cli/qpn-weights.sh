#!/usr/bin/env bash
# blkcast qpn weights: finds the weights that a net was solved with.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast
net=docs/examples/storage-priorities.yaml
# The measurement: the same net at alpha / beta = 3, by other random numbers.
"$blkcast" qpn solve $net --seed 77 --precision 0.003 --json --quiet >"$T/truth"
read_s=$(jq '.probes[0].time.mean' "$T/truth") write_s=$(jq '.probes[1].time.mean' "$T/truth")
exits 0 "weights are found" "$blkcast" qpn weights $net --read "$read_s" --write "$write_s" --json
number "$(jq '.best.alpha / .best.beta' "$T/out") > 2.8" "they are those of the truth (below)"
number "$(jq '.best.alpha / .best.beta' "$T/out") < 3.2" "they are those of the truth (above)"
number "$(jq '.best.mean_relative_error' "$T/out") < 0.01" "both times are met"
is "$(jq '(.steps | map(.mean_relative_error) | min) == .best.mean_relative_error' "$T/out")" true \
	"the best step is the one reported"
like "$("$blkcast" qpn weights $net --read "$read_s" --write "$write_s")" 'best +[0-9]+ +100 ' \
	"a person sees every step and the best"
exits 2 "a measurement is needed" "$blkcast" qpn weights $net --read 1
exits 2 "an unknown probe is refused" "$blkcast" qpn weights $net --read 1 --write 1 --read-probe none
like "$(cat "$T/err")" 'no probe "none"' "and named"
exits 2 "a net without weights is refused" "$blkcast" qpn weights docs/examples/mm1.yaml --read 1 --write 1
like "$(cat "$T/err")" 'no parameter "alpha" to set' "and says what it lacks"
done_testing
