/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequential_design: which configuration to measure next: the one of which models of different
 * kinds, learned from what was measured, disagree most (query by committee: Seung, Opper,
 * Sompolinsky, COLT 1992; by variance for regression: Burbidge, Rowland, King, IDEAL 2007).
 *
 * The committee: mars-ia, cart, m5 and cubist with standard parameters (cart:
 * minsplit 4). Disagreement is the
 * standard deviation of their predictions over the mean of their magnitudes. A level that was
 * never measured is the greatest disagreement. A function of the store's content: the same after
 * a kill.
 */
#ifndef ANALYZER_MEASURE_SEQUENTIAL_DESIGN_H
#define ANALYZER_MEASURE_SEQUENTIAL_DESIGN_H

#include "analyzer/measure/factors.h"
#include "base/table.h"

/*
 * measured: a table with the factors and the response; tried: configurations that are not asked
 * for again. cells: nr_factors places. -ENOENT where every candidate was tried; -EINVAL where the
 * table cannot be learned from.
 */
int sequential_next(const struct factors *f, const struct table *measured, const char *response,
		    const struct configurations *candidates, const struct configurations *tried,
		    double *cells, struct err *err);

#endif
