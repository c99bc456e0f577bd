#!/usr/bin/env bash
# blkcast qpn calibrate and predict: mixes of reads and writes; every step told, every model read back the same.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
blkcast=$BUILD/blkcast

# One server, always busy: reads take 60 us + 3 ns per byte, writes 90 us + 5 ns; of the requests served a
# share phi / (1 + phi) are reads, phi = 1.5 t_r / t_w; VMs part either by their clients. response = t / X.
awk '
function mu(w, s) { return w ? 9e-5 + 5e-9 * s : 6e-5 + 3e-9 * s }
function put(name, vms,    v, w, sum, phi, p, m) {
	sum[0] = sum[1] = 0
	for (v = 1; v <= vms; v++) { sum[0] += t[v, 0]; sum[1] += t[v, 1] }
	phi = 1.5 * sum[0] / sum[1]
	p = phi / (1 + phi)
	m = p * mu(0, size[0]) + (1 - p) * mu(1, size[1])
	for (v = 1; v <= vms; v++)
		for (w = 0; w < 2; w++)
			printf "%s,vm%d,%s,%d,%d,%.12g,\n", name, v, w ? "write" : "read", t[v, w],
				size[w], sum[w] * m / (w ? 1 - p : p)
}
BEGIN {
	print "configuration,vm,type,clients,size_bytes,response_time_s,response_sd_s"
	for (w = 0; w < 2; w++)
		for (s = 4096; s <= 65536; s *= 4) {
			type = w ? "write" : "read"
			printf "%s1-%d,1,%s,1,%d,%.12g,4e-5\n", type, s, type, s, mu(w, s)
			printf "%s-%d,1,%s,50,%d,%.12g,\n", type, s, type, s, 50 * mu(w, s)
		}
	n = split("5 10,5 15,10 5,10 10,10 15,15 5,15 10,20 5", mix, ",")
	for (k = 0; k < 2; k++) {
		size[0] = k ? 16384 : 4096
		size[1] = 4096
		for (i = 1; i <= n; i++) {
			split(mix[i], c, " ")
			t[1, 0] = c[1]; t[1, 1] = c[2]
			put("m" k i, 1)
			t[2, 0] = c[2]; t[2, 1] = c[1]
			if (i < 4)
				put("v" k i, 2)
		}
	}
}' </dev/null >"$T/variable.csv"
grep -v '^[mv]1' "$T/variable.csv" >"$T/one-size.csv"

mu_r=$(awk 'BEGIN { print 6e-5 + 3e-9 * 4096 }' </dev/null) mu_w=$(awk 'BEGIN { print 9e-5 + 5e-9 * 4096 }' </dev/null)
# The mix of 10 readers and 8 writers, which was not measured.
want=$(awk -v r="$mu_r" -v w="$mu_w" 'BEGIN { phi = 1.5 * 10 / 8; p = phi / (1 + phi); print 10 / p * (p * r + (1 - p) * w) }' </dev/null)
printf 'configuration,vm,type,clients,size_bytes\na,1,read,10,4096\na,1,write,8,4096\n' >"$T/one.csv"
printf 'configuration,vm,type,clients,size_bytes\na,1,read,10,4096\na,1,write,8,4096\na,2,write,6,4096\n' >"$T/two.csv"

# calibrated NAME TABLE OPTIONS...: a model, asked in four ways that must agree to the last digit
calibrated() {
	local name=$1 table=$2 ask=$T/two.csv
	shift 2
	exits 0 "$name is calibrated" "$blkcast" qpn calibrate "$T/$table" -o "$T/$name.json" --quiet --precision 0.2 "$@"
	cp "$T/out" "$T/$name.txt"
	[ "$name" != mixed ] || ask=$T/one.csv
	exits 0 "$name is asked" "$blkcast" qpn predict "$T/$name.json" "$ask" --quiet
	cp "$T/out" "$T/$name.predicted"
	jq -S . "$T/$name.json" >"$T/again.json"
	is "$("$blkcast" qpn predict "$T/again.json" "$ask" --quiet)" "$(cat "$T/$name.predicted")" \
		"$name: written by another and read back it predicts the same"
	is "$("$blkcast" predict "$T/$name.json" "$ask" --quiet | cut -d, -f6)" "$(cut -d, -f6 "$T/$name.predicted")" \
		"$name: blkcast predict says the same"
	"$blkcast" qpn predict "$T/$name.json" "$ask" --net --quiet >"$T/net.yaml"
	is "$("$blkcast" qpn solve "$T/net.yaml" --json --quiet --precision 0.05 | jq --argjson p "$(sed -n 2p "$T/$name.predicted" | cut -d, -f6)" \
		'[.probes[] | select(.probe == "read 1") | .time.mean / $p | . > 0.9 and . < 1.1]' -c)" "[true]" "$name: its net answers as it predicts"
}

calibrated mixed one-size.csv --model mixed
"$blkcast" qpn calibrate "$T/one-size.csv" -o "$T/threads.json" --quiet --precision 0.2 --threads 1 --model mixed >"$T/threads.txt"
is "$(cksum <"$T/threads.json")" "$(cksum <"$T/mixed.json")" "one thread finds the same model"
got=$(sed -n 2p "$T/mixed.predicted" | cut -d, -f6)
number "$got / $want > 0.93" "an unseen mix is predicted (below)"
number "$got / $want < 1.07" "an unseen mix is predicted (above)"
like "$(cat "$T/mixed.txt")" '^reads +1 +6\.?[0-9]*e-05 +[0-9.e-]+ +1\.0000' "service times with p-values and R2"
like "$(cat "$T/mixed.txt")" '^phi of 8 configurations, .* R2 [0-9.]+, error of held-out rows [0-9.]+ %' "phi with its goodness of fit"
like "$(cat "$T/mixed.txt")" '^one VM: reads missed by [0-9.]+ %, writes by [0-9.]+ %' "what is missed in the end"

calibrated multi-vm one-size.csv --model multi-vm
like "$(cat "$T/multi-vm.txt")" '^several VMs by algorithm-4: missed by [0-9.]+ %' "every rule for VMs is judged"
is "$(grep -c '; kept' "$T/multi-vm.txt")" 1 "and one is kept"

calibrated variable variable.csv --model variable
like "$(cat "$T/variable.txt")" '^ *correction +1 +(pruned|[-0-9.e]+) +[0-9.e-]+' "the service-time correction with its p-values"
like "$(cat "$T/variable.txt")" 'ln s +pruned +0\.[0-9]+' "a pruned term with the p-value that pruned it"
like "$(cat "$T/variable.txt")" '^several VMs by algorithm-5: missed by' "algorithm 5 is judged"
like "$(cat "$T/variable.txt")" '^with the priority inversion: missed by' "and the priority inversion"

calibrated parts one-size.csv --model multi-vm --weights parts
like "$(cat "$T/parts.txt")" '^parts: [0-2] shared servers?, the busiest of all missed by [0-9.]+ %; up to [0-9]+ requests of a VM under way; .* missed by [0-9.]+ %' \
	"the parts with what each step misses"

# Files that were changed are refused by what is wrong with them.
broken() {
	jq "$2" "$T/parts.json" >"$T/broken.json"
	exits 2 "$1 is refused" "$blkcast" qpn predict "$T/broken.json" "$T/one.csv"
	is "$(cat "$T/err")" "blkcast qpn: $T/broken.json: $3" "$1: in one line"
	exits 2 "$1 is refused by predict too" "$blkcast" predict "$T/broken.json" "$T/one.csv"
}
broken "a depth of nothing" '.mix.parts.depth = 0' "mix.parts.depth: expected a number from 1 to 1000000"
broken "a negative server" '.mix.parts.shared = [{"base_s": [-1, 0], "per_byte_s": [0, 0]}]' \
	"mix.parts.shared[0].base_s[0]: expected a number of 0 or more"
broken "parts that are missing" 'del(.mix.parts)' "mix: parts: expected an object, for the rule parts"
broken "another rule" '.mix.rule = "chance"' "mix.rule: expected algorithm-4, algorithm-5, clients, local or parts"
broken "a spread of nothing" '.mix.read.sd_s = 0' "mix.read.sd_s: expected a number above 0"
broken "a coefficient of text" '.mix.read.fit.cases[0].fit.terms[0].coefficient = "x"' "mix.read.fit.cases[0].fit.terms[0].coefficient: expected a number"
broken "weights of nothing" '.mix.phi_range = [0, 1]' "mix.phi_range[0]: expected a number above 0"
broken "another model" '.model = "disk"' "model: expected cache, hardware, mixed, multi-vm or variable"
done_testing
