#!/usr/bin/env bash
# blkcast qpn solve: bounds and transients.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

cat >"$T/net.yaml" <<'END'
colours: [c]
places:
  z: {queue: is, tokens: {c: 3}, service: {c: {exponential: {mean: 15}}}}
  a: {queue: fcfs, service: {c: {exponential: {mean: 5}}}}
  b: {queue: ps, service: {c: {exponential: {mean: 4}}}}
transitions:
  1: {take: {z: c}, put: {a: c}}
  2: {take: {a: c}, put: {b: c}}
  3: {take: {b: c}, put: {z: c}}
END
exits 0 "bounds of a closed net" "$blkcast" qpn solve "$T/net.yaml" --method bounds --json
is "$(jq -r '.schema, .throughput[0].place' "$T/out" | tr '\n' ' ')" "blkcast.qpn-bounds/1 z " "have a schema and places"
number "($(jq '.throughput[0].asymptotic[0] * 42 - 3 | fabs' "$T/out")) < 1e-9" "at least N / (N D + Z)"
number "($(jq '.throughput[0].asymptotic[1] * 24 - 3 | fabs' "$T/out")) < 1e-9" "at most N / (D + Z)"
is "$(jq '.throughput[0] | .balanced[0] > .asymptotic[0] and .balanced[1] < .asymptotic[1]' "$T/out")" true "the balanced bounds lie within"
exits 0 "a time series" "$blkcast" qpn solve "$T/net.yaml" --method transient --model-time 100 --points 5 --replications 50 --seed 2 --json --threads 1
cp "$T/out" "$T/first"
is "$(jq -c '[.schema, (.series | length), (.series[0].points | length), .series[1].points[4].end == 100]' "$T/out")" '["blkcast.qpn-transient/1",3,5,true]' "has every place and interval"
exits 0 "the same on two threads" "$blkcast" qpn solve "$T/net.yaml" --method transient --model-time 100 --points 5 --replications 50 --seed 2 --json --threads 2
holds "bit for bit" cmp "$T/first" "$T/out"
exits 2 "a transient without a time is refused" "$blkcast" qpn solve "$T/net.yaml" --method transient
like "$(cat "$T/err")" 'expected --model-time' "saying what is needed"
exits 2 "bounds of an open net are refused" "$blkcast" qpn solve docs/examples/mm1.yaml --method bounds
done_testing
