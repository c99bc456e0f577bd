#!/usr/bin/env bash
# blkcast qpn: a net that cannot be is refused with one line that names file and line, and no output.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
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
	refused "service of $service" 3 'expected|above|than|must|no such|not finite|No such file' < <(one 2 "$service")
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
beta: {alpha: 0, beta: 1}
beta: {alpha: 1}
chi_square: {freedom: 0}
logarithmic: {p: 1}
cut_normal: {mean: 1, sd: 0}
hyperbolic: {alpha: 1, beta: 2}
exponential_power: {tau: .5}
student_t: {freedom: 2}
von_mises: {k: -1}
breit_wigner: {mean: 1, gamma: 1, cut: 0}
breit_wigner_mean_square: {mean: -1, gamma: 1, cut: 1}
empirical: {file: no-such-file}
empirical: {values: [1, -1]}
histogram: {edges: [0, 1], counts: [0]}
mmpp: {rates: [-1, 1], switching: [[0, 1], [1, 0]]}
END

# A file of a .qpe: the element and its line.
refused_qpe() { # NAME LINE PATTERN, the net on standard input
	local got=0
	cat >"$T/net.qpe"
	"$blkcast" qpn solve "$T/net.qpe" --quiet >"$T/out" 2>"$T/err" || got=$?
	is "$got $(wc -c <"$T/out") $(wc -l <"$T/err")" "2 0 1" "$1 is refused in one line"
	like "$(cat "$T/err")" "^blkcast qpn: $T/net.qpe:$2: $3" "and named"
}
qpe() { # PLACES
	printf '%s\n' "<net xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' qpme-version='2.1.0'>" \
		"<colors><color id='c1' name='x' real-color='#fff'/></colors>" \
		"<queues><queue id='q1' name='Q' number-of-servers='1' strategy='FCFS'/></queues><places>" "$1" '</places></net>'
}
served() { # ATTRIBUTES: a queueing place
	qpe "<place id='p' name='P' departure-discipline='NORMAL' queue-ref='q1' xsi:type='queueing-place'><color-refs>
<color-ref id='r' color-id='c1' priority='0' ranking='0' $1 xsi:type='queueing-color-reference'/></color-refs></place>"
}
refused_qpe "bytes that are no text" '[0-9]+' 'not XML' < <(printf "<?xml version='1.0' encoding='UTF-16'?><net>\\000\\377\\377\\000\\000</net>")
refused_qpe "a compressed file" '[0-9]+' 'not XML' < <(qpe "" | gzip)
refused_qpe "a file whose first bytes ask for a dictionary of 64 MiB" '[0-9]+' 'not XML' < <(printf '\0\0\0\0\004%018d' 0 | tr 0 '\0')
refused_qpe "a service rate of 0" 5 'color-ref: no such distribution: exponential: mean' < <(served "distribution-function='Exponential' lambda='0'")
refused_qpe "a distribution that is not of the schema" 5 'color-ref: distribution-function that is not taken: Replay' < <(served "distribution-function='Replay'")
refused_qpe "a population of 10^9" 5 'place "P", colour "x": 1000000000 tokens' < <(served "distribution-function='Exponential' lambda='1' initial-population='1000000000'")
refused_qpe "a colour that is not there" 5 'color-ref: no color of the id: c2' < <(served "distribution-function='Exponential' lambda='1'" | sed "s/color-id='c1'/color-id='c2'/")
refused_qpe "a ranking" 5 'color-ref: not taken: attribute: ranking' < <(served "distribution-function='Exponential' lambda='1'" | sed "s/ranking='0'/ranking='1'/")
refused_qpe "a subnet with nothing in it" 4 'place: expected the element: subnet' < <(qpe "<place id='p' name='P' departure-discipline='NORMAL' xsi:type='subnet-place'/>")
# An end place is never left: a run of the file's own length, or of --model-time.
cat >"$T/end.qpe" <<'QPE'
<net xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><colors><color id='c1' name='x'/></colors>
<queues><queue id='q1' name='Q' number-of-servers='1' strategy='IS'/><queue id='q2' name='R' number-of-servers='1' strategy='FCFS'/></queues>
<places><place id='p1' name='P' departure-discipline='NORMAL' queue-ref='q1' xsi:type='queueing-place'><color-refs><color-ref id='r1'
color-id='c1' initial-population='1' distribution-function='Exponential' lambda='1' xsi:type='queueing-color-reference'/></color-refs></place>
<place id='p2' name='W' departure-discipline='NORMAL' queue-ref='q2' xsi:type='queueing-place'><color-refs><color-ref id='r2'
color-id='c1' distribution-function='Exponential' lambda='2' xsi:type='queueing-color-reference'/></color-refs></place>
<place id='p3' name='end' departure-discipline='NORMAL' xsi:type='ordinary-place'><color-refs><color-ref id='r3' color-id='c1'
xsi:type='ordinary-color-reference'/></color-refs></place></places>
<transitions><transition id='t1' name='T' priority='0' weight='1' xsi:type='immediate-transition'><modes><mode id='m1' name='M'
firing-weight='1'/></modes><connections><connection id='k1' count='1' source-id='r1' target-id='m1'/><connection id='k2' count='1'
source-id='m1' target-id='r1'/><connection id='k3' count='1' source-id='m1' target-id='r2'/></connections></transition>
<transition id='t2' name='U' priority='0' weight='1' xsi:type='immediate-transition'><modes><mode id='m2' name='M' firing-weight='1'/></modes>
<connections><connection id='k4' count='1' source-id='r2' target-id='m2'/><connection id='k5' count='1' source-id='m2' target-id='r3'/>
</connections></transition></transitions>
<meta-attributes><meta-attribute configuration-name='a' total-run-length='2E5' xsi:type='simqpn-configuration'/></meta-attributes></net>
QPE
exits 0 "a net with an end is solved" "$blkcast" qpn solve "$T/end.qpe" --json
like "$(cat "$T/err")" 'never leave: place "end" .*run length of 200000 is taken; --model-time' "with the file's own run length"
is "$(jq '.model_time | round' "$T/out")" 200000 "which it keeps to"
number "$(jq '(.places[] | select(.place == "W").residence_time.mean) - 1 | fabs' "$T/out") < 0.05" "and answers as M/M/1"
sed -i '/<meta-attributes>/s/<meta-attributes>.*<.meta-attributes>//' "$T/end.qpe"
exits 0 "without one" "$blkcast" qpn solve "$T/end.qpe" --model-time 1000 --quiet
"$blkcast" qpn solve "$T/end.qpe" --max-events 100000 >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" 'cannot be judged; --model-time gives it' "--model-time is named"
done_testing
