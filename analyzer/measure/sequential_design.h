/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequential_design: chooses which configuration to measure next. Models of different kinds learn
 * from what was measured so far, and the candidate on which their predictions disagree most is
 * chosen. This is query by committee (Seung, Opper and Sompolinsky, Query by Committee, COLT 1992),
 * with the variance as disagreement for regression (Burbidge, Rowland and King, Active Learning for
 * Regression Based on Query by Committee, IDEAL 2007).
 *
 * The committee consists of mars-ia, cart, m5 and cubist with standard parameters, but for cart,
 * whose minsplit is 4. The disagreement is the standard deviation of the predictions divided by the
 * mean of their magnitudes. A level that was never measured counts as infinite disagreement. The
 * choice depends only on the content of the store, so it is the same after an interruption.
 */
#ifndef ANALYZER_MEASURE_SEQUENTIAL_DESIGN_H
#define ANALYZER_MEASURE_SEQUENTIAL_DESIGN_H

#include "analyzer/measure/factors.h"
#include "base/data/table.h"

/*
 * measured is a table with the factors and the response. tried holds configurations that are not
 * chosen again. cells has nr_factors elements and receives the choice. Returns -ENOENT where every
 * candidate was tried, and -EINVAL where nothing can be learned from the table.
 */
int sequential_next(const struct factors *f, const struct table *measured, const char *response,
		    const struct configurations *candidates, const struct configurations *tried,
		    double *cells, struct err *err);

#endif
