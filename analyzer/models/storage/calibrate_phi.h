/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_phi: what a mix of reads and writes does, learned over what the mix is: MARS models
 * with interactions whose parameters S3 finds on the same folds (Noorshams, Modeling and
 * Prediction of I/O Performance in Virtualized Environments, 2015, equations 7.9 and 7.11).
 *
 * The thesis's variables are the ratio of clients and, for variable sizes, of sizes. A host that
 * queues and an array that serves reads and writes by different parts do not follow ratios
 * alone, so logarithms of clients and sizes themselves are tried too; and that of the response.
 * Of the four that model is taken which misses held-out rows least.
 */
#ifndef ANALYZER_CALIBRATE_PHI_H
#define ANALYZER_CALIBRATE_PHI_H

#include "analyzer/models/regression/model.h"

enum mix_variable {
	MIX_CLIENTS_RATIO, /* reads / writes */
	MIX_SIZE_RATIO,
	MIX_CLIENTS, /* both */
	MIX_READ_BYTES,
	MIX_WRITE_BYTES,
	MIX_NR_VARIABLES,
};

extern const char *const mix_variable_names[MIX_NR_VARIABLES];

struct mix_point {
	double x[MIX_NR_VARIABLES], y; /* all above 0 */
};

/* Variables of sizes only by_size. The caller releases the model. */
int mix_fit(struct model *out, const struct mix_point *points, size_t nr, bool by_size,
	    uint64_t seed, unsigned int nr_threads, struct err *err);
/* x beyond the training range counts as its end. NaN where the model's variables are unknown. */
double mix_at(const struct model *m, const double x[MIX_NR_VARIABLES]);

#endif
