/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds: what a closed product-form net can do at most and does at least, without solving it.
 *
 * With N tokens, demands D_k (sum D, largest D_max, mean over queues D_avg) and delays Z of a chain:
 * asymptotic (Denning, Buzen 1978)   N / (N D + Z) <= X <= min(m_k / D_k, N / (D + Z)),
 * balanced job (Zahorjan et al. 1982; Lazowska et al. 1984, 5.4)
 *   N / (D + Z + (N - 1) D_max / (1 + Z / (N D))) <= X <= N / (D + Z + (N - 1) D_avg / (1 + Z / D)).
 * The balanced ones hold for queues of one server; the lower ones for nets of one chain. Where they
 * do not, the asymptotic one stands, or NaN.
 */
#ifndef ANALYZER_BOUNDS_H
#define ANALYZER_BOUNDS_H

#include <stdint.h>

#include "analyzer/models/solve/mva.h"

struct bound {
	double low, high; /* throughput per visit ratio 1; NaN: not known */
};

struct chain_bounds {
	struct bound asymptotic, balanced;
};

/* Of every chain, O(chains x stations). out has room for nr_chains. */
void bounds_make(struct chain_bounds *out, const struct product_form *p);

#endif
