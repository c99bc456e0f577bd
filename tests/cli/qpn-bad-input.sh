#!/usr/bin/env bash
# blkcast qpn: a net that cannot be is refused with one line that names file and line, and no output.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
blkcast=$BUILD/blkcast

# refused NAME LINE PATTERN: the net on standard input, exit status 2
refused() {
	local name=$1 line=$2 pattern=$3 got=0 text
	cat >"$T/net.yaml"
	"$blkcast" qpn solve "$T/net.yaml" --quiet >"$T/out" 2>"$T/err" || got=$?
	text=$(cat "$T/err")
	if [ "$got" = 2 ] && [ ! -s "$T/out" ] && [ "$(wc -l <"$T/err")" = 1 ] &&
		[[ "$text" == "blkcast qpn: $T/net.yaml:$line: "* ]] && grep -qE -- "$pattern" <<<"$text"; then
		pass "$name"
	else
		fail "$name" "exit status $got: $text"
	fi
}

# net LINE...: two queues, and transitions
net() {
	printf '%s\n' 'colours: [c, d]' 'places:' \
		'  a: {queue: fcfs, tokens: {c: 2}, service: {c: {exponential: {mean: 1}}}}' \
		'  b: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}' 'transitions:' "$@"
}
# one TOKENS SERVICE: one queue
one() {
	printf '%s\n' 'colours: [c]' 'places:' "  a: {queue: fcfs, tokens: {c: $1}, service: {c: {$2}}}" \
		'transitions:' '  x: {take: {a: c}, put: {a: c}}'
}

refused "a colour that is not there" 6 'no colour "e"' < <(net '  x: {take: {a: e}, put: {b: c}}' '  y: {take: {b: c}, put: {a: c}}')
refused "a colour its place does not know" 6 'place "a" knows no colour "d"' < <(net '  x: {take: {a: d}, put: {b: c}}' '  y: {take: {b: c}, put: {a: c}}')
refused "a place that is not there" 6 'no place "nowhere"' < <(net '  x: {take: {nowhere: c}, put: {b: c}}')
refused "an immediate transition that consumes from nowhere" 6 'consumes from nowhere' < <(net '  x: {put: {b: c}}')
refused "a mode that consumes from nowhere" 9 'mode "n": consumes from nowhere' < <(net '  x:' '    modes:' '      m: {take: {a: c}, put: {b: c}}' '      n: {put: {b: c}}')
refused "a weight of 0" 6 'weight: expected more than 0' < <(net '  x: {weight: 0, take: {a: c}, put: {b: c}}')
refused "a population of 10^9" 3 '1000000000 tokens: a net of up to' < <(one 1000000000 'exponential: {mean: 1}')
refused "less than no tokens" 3 'expected a whole number' < <(one -1 'exponential: {mean: 1}')
refused "half a token" 3 'expected a whole number' < <(one 1.5 'exponential: {mean: 1}')

while IFS= read -r service; do
	refused "service of $service" 3 'expected|above|than|must|no such|not finite' < <(one 2 "$service")
done <<'END'
exponential: {mean: 0}
exponential: {mean: -1}
exponential: {rate: 0}
exponential: {mean: .nan}
exponential: {mean: 1e400}
deterministic: {value: -1}
gamma: {mean: 1, sd: -1}
gamma: {mean: 1, sd: 0}
gamma: {mean: 0, sd: 1}
lognormal: {mean: 1, sd: -2}
hyperexponential: {mean: 1, scv: .5}
uniform: {min: 2, max: 1}
uniform: {min: -1, max: 1}
erlang: {k: 0, mean: 1}
erlang: {k: 2.5, mean: 1}
weibull: {shape: 0, scale: 1}
normal: {mean: 1, sd: -1}
map: {d0: [[-1, 2], [1, -1]], d1: [[0, 0], [0, 0]]}
nosuch: {mean: 1}
END
done_testing
