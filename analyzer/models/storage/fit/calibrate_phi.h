/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_phi: learns a property of mixes of reads and writes from the variables that describe
 * the mix. The models are MARS models with interactions, and S3 finds their parameters on the same
 * folds (Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments, 2015,
 * equations 7.9 and 7.11).
 *
 * The variables of the thesis are the ratio of clients and, for variable sizes, the ratio of
 * sizes. Ratios are not enough for a host that queues requests, or for an array whose reads and
 * writes use different parts. Therefore models of the logarithms of clients and sizes themselves
 * are fitted too, each of the response and of its logarithm. Of these four models the one with the
 * smallest error on held-out rows is kept.
 */
#ifndef ANALYZER_CALIBRATE_PHI_H
#define ANALYZER_CALIBRATE_PHI_H

#include "analyzer/models/regression/model.h"

enum mix_variable {
	MIX_CLIENTS_RATIO, /* clients that read divided by clients that write */
	MIX_SIZE_RATIO,
	MIX_CLIENTS, /* readers and writers together */
	MIX_READ_BYTES,
	MIX_WRITE_BYTES,
	MIX_NR_VARIABLES,
};

extern const char *const mix_variable_names[MIX_NR_VARIABLES];

struct mix_point {
	double x[MIX_NR_VARIABLES], y; /* all values are above 0 */
};

/*
 * Fits the model. Variables of sizes are used only if by_size is true. The caller releases the
 * model.
 */
int mix_fit(struct model *out, const struct mix_point *points, size_t nr, bool by_size,
	    uint64_t seed, unsigned int nr_threads, struct err *err);
/*
 * Evaluates the model. A value of x beyond the training range is moved to the end of that range.
 * Returns NaN if the model has a variable that is not known here.
 */
double mix_at(const struct model *m, const double x[MIX_NR_VARIABLES]);

#endif
