/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blend: shares of models in a weighted mean, from their predictions of rows that they had not
 * seen (Breiman, Stacked regressions, Machine Learning 24, 1996). The shares are at least 0, sum to
 * 1, and give the least sum of squared errors. Models that err in different places get shares that
 * let the errors cancel; a model that adds nothing gets none.
 *
 * The shares of a set of models are known in closed form if none may be negative there: the
 * solution of E w = 1, scaled to the sum 1, where E has the sums of products of errors. With so few
 * models every set is tried, so that the result is exact.
 */
#ifndef ANALYZER_REGRESSION_BLEND_H
#define ANALYZER_REGRESSION_BLEND_H

#include "analyzer/models/regression/table/dataset.h"

#define BLEND_MAX 4 /* most models of a mean */

/*
 * held_out[k] has the predictions of model k for all rows of d. Rows of the fold `without` are left
 * out (UINT32_MAX: none). Fills shares[nr].
 */
void blend_shares(const struct dataset *d, const double *const *held_out, size_t nr,
		  uint32_t without, double *shares);
/*
 * Predicts every row with the shares that the other folds give, so that no row has a part in its
 * own prediction. d must have folds.
 */
void blend_predict(const struct dataset *d, const double *const *held_out, size_t nr, double *out);

#endif
