/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds: bounds of the throughput of a closed product-form net, computed without solving the net.
 *
 * A chain has N tokens, demands D_k (with the sum D, the largest demand D_max, and the mean over
 * queues D_avg), and delays Z. Its throughput X has two pairs of bounds. The asymptotic bounds are
 * (Denning and Buzen, The operational analysis of queueing network models, 1978)
 *	N / (N D + Z) <= X <= min(m_k / D_k, N / (D + Z)),
 * where queue k has m_k servers. The balanced job bounds are (Zahorjan et al., Balanced job bound
 * analysis of queueing networks, 1982; Lazowska et al., Quantitative System Performance, 1984,
 * section 5.4)
 *	N / (D + Z + (N - 1) D_max / (1 + Z / (N D))) <= X
 *	X <= N / (D + Z + (N - 1) D_avg / (1 + Z / D)).
 * The balanced job bounds hold for queues of one server. The lower bounds hold for nets of one
 * chain. If a balanced job bound does not hold, the asymptotic bound is used, or NaN if that does
 * not hold either.
 */
#ifndef ANALYZER_BOUNDS_H
#define ANALYZER_BOUNDS_H

#include <stdint.h>

#include "analyzer/models/solve/mva.h"

struct bound {
	double low, high; /* throughput per visit ratio 1; NaN means not known */
};

struct chain_bounds {
	struct bound asymptotic, balanced;
};

/*
 * Computes the bounds of every chain. out has room for nr_chains. The cost is O(chains x
 * stations).
 */
void bounds_make(struct chain_bounds *out, const struct product_form *p);

#endif
