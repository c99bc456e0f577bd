/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_phi: the preference of reads, phi = alpha / beta, over the ratio of clients and, by_size,
 * of request sizes (seed 004, equations 7.9 and 7.11): a MARS model whose parameters S3 finds on the
 * same folds, with interactions by_size. phi or its logarithm is learned, whichever misses held-out
 * rows less.
 */
#ifndef ANALYZER_CALIBRATE_PHI_H
#define ANALYZER_CALIBRATE_PHI_H

#include "analyzer/regression/model.h"

struct phi_point {
	double clients_ratio, size_ratio, phi; /* reads / writes; above 0 */
};

/* Variables clients_ratio and, by_size, size_ratio. The caller releases the model. */
int phi_fit(struct model *out, const struct phi_point *points, size_t nr, bool by_size,
	    uint64_t seed, unsigned int nr_threads, struct err *err);

#endif
