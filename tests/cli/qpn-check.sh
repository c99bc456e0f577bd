#!/usr/bin/env bash
# blkcast qpn check: what it finds, and that it finds nothing in sound nets. qpn draw.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
blkcast=$BUILD/blkcast
for net in mm1 closed-storage storage-priorities; do
	exits 0 "nothing is found in $net" "$blkcast" qpn check docs/examples/$net.yaml --quiet
done
finds() { # NAME LINE YAML
	printf '%b' "$3" >"$T/net.yaml"
	exits 1 "$1 is found" "$blkcast" qpn check "$T/net.yaml"
	is "$(cat "$T/out")" "$T/net.yaml:$2" "$1 is named"
}
finds "an unreachable place" '3: no token ever gets to place "q" (a)' \
	'colours: [a]\nplaces:\n  {p: {queue: is, tokens: {a: 1}, service: {a: {exponential: {mean: 1}}}}, q: {colours: [a]}}\ntransitions: {t: {take: {p: a}, put: {p: a}}, u: {take: {p: a}, put: {p: a}}}\n'
finds "a trap" '2: tokens that get there never leave: place "q" (a)' \
	'colours: [a]\nplaces: {p: {tokens: {a: 1}}, q: {colours: [a]}}\ntransitions: {t: {take: {p: a}, put: {q: a}}}\n'
printf '%b' 'colours: [a, b]\nplaces: {p: {queue: is, tokens: {a: 1}, service: {a: {exponential: {mean: 1}}}}, q: {queue: is, tokens: {b: 1}, service: {b: {exponential: {mean: 1}}}}, r: {tokens: {a: 1}, colours: [b]}}\ntransitions:\n  t: {take: {p: a, r: b}, put: {p: a}}\n  u: {take: {p: a}, put: {p: a}}\n  v: {take: {q: b}, put: {q: b}}\n  w: {take: {p: a, r: a}, put: {p: a, r: a}}\n' >"$T/dead.yaml"
exits 1 "a mode that cannot fire is found" "$blkcast" qpn check "$T/dead.yaml"
is "$(tail -n 1 "$T/out")" "$T/dead.yaml:4: what it takes never comes together: transition \"t\" (only)" \
	"it is named"
# The place with too much work gets no token, since a transition of a higher priority takes them all.
outranked() { # MEAN-OF-A MEAN-OF-B
	printf '%s\n' 'colours: [r]' 'places:' '  cpu: {colours: [r]}' \
		"  a: {queue: fcfs, service: {r: {exponential: {mean: $1}}}}" \
		"  b: {queue: fcfs, service: {r: {exponential: {mean: $2}}}}" 'transitions:' \
		'  come: {time: {exponential: {rate: 0.5}}, put: {cpu: r}}' \
		'  toa: {priority: 2, take: {cpu: r}, put: {a: r}}' '  tob: {take: {cpu: r}, put: {b: r}}' \
		'  goa: {take: {a: r}}' '  gob: {take: {b: r}}' >"$T/ranks.yaml"
}
outranked 1 50
exits 1 "a transition that never gets a token is found" "$blkcast" qpn check "$T/ranks.yaml"
like "$(cat "$T/out")" 'ranks.yaml:9: one of a higher priority takes its tokens first: transition "tob" \(only\)' "and named"
is "$(grep -c unstable "$T/out")" 0 "and does not overload what it feeds"
exits 0 "the net is solved" "$blkcast" qpn solve "$T/ranks.yaml" --quiet
outranked 3 1
exits 1 "all the work goes to the other one" "$blkcast" qpn check "$T/ranks.yaml"
like "$(cat "$T/out")" 'unstable, .* place "a" \(load 1.5 on 1 server\)' "which is overloaded"
finds "an unstable queue" '2: unstable, more work comes than can be done: place "q" (load 2.4 on 2 servers)' \
	'colours: [a]\nplaces: {q: {queue: {strategy: ps, servers: 2}, service: {a: {exponential: {mean: 2}}}}}\ntransitions: {in: {time: {exponential: {rate: 1.2}}, put: {q: a}}, out: {take: {q: a}}}\n'
exits 1 "and not simulated" "$blkcast" qpn solve "$T/net.yaml"
like "$(cat "$T/err")" 'net.yaml:2: unstable, .* place "q"' "but named"
# A pool of two permits, held for a time of 1 and on three ways of four at the disk besides.
pool() { # RATE DISK
	printf '%s\n' 'colours: [c, permit]' 'places:' '  waiting: {colours: [c]}' '  pool: {tokens: {permit: 2}}' \
		'  work: {queue: is, service: {c: {exponential: {mean: 1}}}}' \
		"  disk: {queue: fcfs, service: {c: {exponential: {mean: $2}}}}" 'transitions:' \
		"  in: {time: {exponential: {rate: $1}}, put: {waiting: c}}" \
		'  go: {take: {waiting: c, pool: permit}, put: {work: c}}' \
		'  on: {modes: {hit: {weight: 1, take: {work: c}, put: {pool: permit}},' \
		'               miss: {weight: 3, take: {work: c}, put: {disk: c}}}}' \
		'  out: {take: {disk: c}, put: {pool: permit}}' >"$T/pool.yaml"
}
pool 1.7 .1
exits 0 "a pool of permits that is enough passes" "$blkcast" qpn check "$T/pool.yaml"
pool 1.8 .2
exits 1 "a pool that is too small is found" "$blkcast" qpn check "$T/pool.yaml"
is "$(cat "$T/out")" "$T/pool.yaml:4: unstable, more tokens are in service than it has: the pool of place \"pool\" (2.07 of 2 tokens)" \
	"by Little's law: 1.8 (1 + .75 x .2)"
pool 1.7 .8
exits 1 "a queue behind a pool is looked at too" "$blkcast" qpn check "$T/pool.yaml"
is "$(head -n 1 "$T/out")" "$T/pool.yaml:6: unstable, more work comes than can be done: place \"disk\" (load 1.02 on 1 server)" \
	"1.7 x .75 x .8"
finds "a net that makes tokens" '4: tokens are not conserved, under no weights: transition "t" (only)' \
	'colours: [a]\nplaces: {p: {queue: is, tokens: {a: 1}, service: {a: {exponential: {mean: 1}}}}}\ntransitions:\n  t: {take: {p: a}, put: {p: {a: 2}}}\n'
printf 'colours: [a]\nplaces: {p: {tokens: {a: 1}}, q: {colours: [a]}}\ntransitions:\n  ping: {take: {p: a}, put: {q: a}}\n  pong: {take: {q: a}, put: {p: a}}\n' >"$T/loop.yaml"
exits 1 "a loop without time is found" "$blkcast" qpn check "$T/loop.yaml"
is "$(cat "$T/out")" "$T/loop.yaml:4: on a cycle where no time passes: transition \"ping\" (only)
$T/loop.yaml:5: on a cycle where no time passes: transition \"pong\" (only)" "both its transitions are named"
exits 1 "findings come as JSON" "$blkcast" qpn check "$T/loop.yaml" --json
like "$(tr -d ' \n' <"$T/out")" '"schema":"blkcast.qpn-check/1".*"kind":"loop"' "with their kind"

if command -v dot >/dev/null; then
	exits 0 "a net is drawn" "$blkcast" qpn draw docs/examples/closed-storage.yaml
	like "$(cat "$T/out")" '<svg ' "as SVG"
	like "$(cat "$T/out")" 'storage/cache' "with its places"
else
	(PATH=/nonexistent exec "$blkcast" qpn draw docs/examples/mm1.yaml) 2>"$T/err" || true
	like "$(cat "$T/err")" 'graphviz' "without graphviz it says what is missing"
fi
done_testing
