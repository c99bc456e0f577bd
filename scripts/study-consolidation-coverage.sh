#!/usr/bin/env bash
# Computes how much wider an interval has to be for an application beside others, from answers about recorded pairs:
#
#	scripts/study-consolidation-coverage.sh docs/studies/consolidation/consolidation.csv
#
# The table is that of scripts/study-consolidation.sh. For each point, the errors |ln(measured / predicted)| of nine
# tenths of the values, each application having the same weight, are at most hypot(half, excess). half is alone_half, the
# logarithm of how much wider the interval of the application alone is than its prediction. A table without this column
# is older than the excess: its intervals are those of applications alone. The excess of each point is printed:
# shared_excess in device_model.c has these numbers, rounded. For the coverage each application is left out in turn,
# together with all pairs that it is in, and its values are held against the excess of all others.
set -euo pipefail
export LC_ALL=C
awk -F, '
	function bound(point, skip, i, k, v, best, sum, within, of, a) {
		best = -1
		for (i = 1; i <= n; i++) {
			if (pt[i] != point || index(pair[i], "+" skip "+") || (best >= 0 && x[i] >= best)) continue
			delete within; delete of
			for (k = 1; k <= n; k++) if (pt[k] == point && !index(pair[k], "+" skip "+")) {
				of[app[k]]++
				within[app[k]] += x[k] <= x[i]
			}
			sum = v = 0
			for (a in of) { sum += within[a] / of[a]; v++ }
			if (sum >= 0.9 * v - 1e-9) best = x[i]
		}
		return best < 0 ? 0 : best
	}
	function magnitude(v) { return v < 0 ? -v : v }
	NR == 1 {
		for (i = 1; i <= NF; i++) at[$i] = i
		if (!at["pair"] || !at["high_s"]) { print FILENAME ": expected the columns pair and high_s" >"/dev/stderr"; bad = 1; exit 2 }
		next
	}
	$at["high_s"] > 0 && $at["predicted_s"] > 0 && $at["measured_s"] > 0 {
		n++
		pair[n] = "+" $at["pair"] "+"
		app[n] = $at["application"]; pt[n] = $at["point"]
		half[n] = at["alone_half"] ? $at["alone_half"] ^ 2 : log($at["high_s"] / $at["predicted_s"]) ^ 2 # its square
		e[n] = magnitude(log($at["predicted_s"] / $at["measured_s"]))
		x[n] = e[n] ^ 2 > half[n] ? sqrt(e[n] ^ 2 - half[n]) : 0
	}
	END {
		if (bad) exit 2
		nr = split("mean p50 p95 p99", order, " ")
		for (k = 1; k <= nr; k++) {
			point = order[k]
			in_ = all = 0
			delete known
			for (i = 1; i <= n; i++) if (pt[i] == point) {
				if (!(app[i] in known)) known[app[i]] = bound(point, app[i])
				all++
				in_ += e[i] ^ 2 <= half[i] + known[app[i]] ^ 2 + 1e-9
			}
			if (all) printf "%s excess %.2f left out %d of %d\n", point, bound(point, "none"), in_, all
			sum_in += in_; sum += all
		}
		if (sum) printf "all left out %d of %d = %.3f\n", sum_in, sum, sum_in / sum
	}' "$1"
