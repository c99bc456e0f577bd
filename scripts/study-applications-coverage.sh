#!/usr/bin/env bash
# Computes how wide an interval for a new application has to be, from answers about recorded ones:
#
#	scripts/study-applications-coverage.sh -t docs/studies/applications/applications.csv \
#		docs/studies/new-cases/again-{6..9}.csv
#
# The tables are those of scripts/study-applications-table.sh. For each point, the errors |ln(measured / predicted)| of
# 0.9 (n + 1) / n of the values, each of the n applications having the same weight, are at most hypot(half, excess), where
# half is the bound of held-out configurations: so many that one more application lies within with a probability of 0.9
# (split conformal prediction; Lei et al., Distribution-Free Predictive Inference for Regression, JASA 113, 2018). The excess of each point is printed; with -t, reads and writes have an excess of their own,
# and flushes, which few applications have, get the larger one of both: device_model.c has these numbers, rounded. For the
# coverage each application is left out in turn, and its values are held against the excess of all others.
#
# A value is left out of both the excess and the coverage if the runs of the application itself differ from their mean by
# more than a tenth on average. Such a value says how the application differs from itself, not what the device lacks. The
# last line of the output says how many these are.
set -euo pipefail
export LC_ALL=C
by_type=0
[ "${1:-}" != -t ] || { by_type=1 && shift; }
awk -F, -v by_type=$by_type '
	# The bound of a point, such as "mean", or "read mean" with -t.
	function bound(point, skip, reads, writes) {
		if (point !~ /^flush /) return bound_of(point, skip)
		sub(/^flush /, "", point)
		reads = bound_of("read " point, skip)
		writes = bound_of("write " point, skip)
		return reads > writes ? reads : writes
	}
	function bound_of(point, skip, i, k, v, best, sum, within, of, a) {
		best = -1
		for (i = 1; i <= n; i++) {
			if (pt[i] != point || app[i] == skip || (best >= 0 && x[i] >= best)) continue
			delete within; delete of
			for (k = 1; k <= n; k++) if (pt[k] == point && app[k] != skip) {
				of[app[k]]++
				within[app[k]] += x[k] <= x[i]
			}
			sum = v = 0
			for (a in of) { sum += within[a] / of[a]; v++ }
			if (sum >= (0.9 * (v + 1) < v ? 0.9 * (v + 1) : v) - 1e-9) best = x[i]
		}
		return best
	}
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; if (!at["half"]) { print FILENAME ": expected a column half" >"/dev/stderr"; bad = 1; exit 2 } next }
	$at["half"] > 0 && $at["predicted"] > 0 && $at["measured"] > 0 {
		n++
		key[n] = $at["application"] " " $at["type"] " " $at["point"]
		measured[n] = $at["measured"]; total[key[n]] += $at["measured"]; runs[key[n]]++
		app[n] = $at["application"]; pt[n] = (by_type ? $at["type"] " " : "") $at["point"]; half[n] = $at["half"]
		e[n] = log($at["predicted"] / $at["measured"]); if (e[n] < 0) e[n] = -e[n]
		x[n] = e[n] > half[n] ? sqrt(e[n] ^ 2 - half[n] ^ 2) : 0
	}
	END {
		if (bad) exit 2
		for (i = 1; i <= n; i++) {
			mean = total[key[i]] / runs[key[i]]
			differs[key[i]] += (measured[i] > mean ? measured[i] - mean : mean - measured[i]) / mean / runs[key[i]]
		}
		for (i = 1; i <= n; i++)
			if (differs[key[i]] > 0.1) { unsteady++; pt[i] = "" }
		nr = split(by_type ? "read mean,read p50,read p95,read p99,write mean,write p50,write p95,write p99," \
			"flush mean,flush p50,flush p95,flush p99" : "mean,p50,p95,p99", order, ",")
		for (k = 1; k <= nr; k++) {
			point = order[k]
			in_ = all = 0
			delete known
			for (i = 1; i <= n; i++) if (pt[i] == point) {
				if (!(app[i] in known)) known[app[i]] = bound(point, app[i])
				all++
				in_ += known[app[i]] >= 0 && e[i] <= sqrt(half[i] ^ 2 + known[app[i]] ^ 2) + 1e-9
			}
			if (all) printf "%s excess %.2f left out %d of %d\n", point, bound(point, ""), in_, all
			sum_in += in_; sum += all
		}
		if (sum) printf "all left out %d of %d = %.3f\n", sum_in, sum, sum_in / sum
		if (unsteady) printf "not counted %d of %d: the application differs from itself by more than 10 %%\n", unsteady, n
	}' "$@"
