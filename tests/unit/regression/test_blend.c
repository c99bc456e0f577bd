// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/choice/blend.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "tests/support/tap.h"

#define ROWS  300
#define FOLDS 10
#define GRID  100 /* steps of the literal search */

static struct dataset data;
static double predictions[3][ROWS];

/* Three models with errors of their own, of which the first two are alike. */
static void make(double first, double second, double third)
{
	struct rng r;

	rng_seed(&r, 5);
	ok_int(dataset_alloc(&data, ROWS, 1, false), 0);
	for (size_t i = 0; i < ROWS; i++) {
		double shared = rng_normal(&r);

		data.y[i] = 3 * rng_normal(&r);
		predictions[0][i] = data.y[i] + first * (shared + 0.5 * rng_normal(&r));
		predictions[1][i] = data.y[i] + second * (shared + 0.5 * rng_normal(&r));
		predictions[2][i] = data.y[i] + third * rng_normal(&r);
	}
	ok_int(dataset_make_folds(&data, FOLDS, 1, NULL), 0);
}

static double squares(const double *w, uint32_t without)
{
	double sum = 0;

	for (size_t i = 0; i < ROWS; i++) {
		double e = data.y[i];

		if (data.fold[i] == without)
			continue;
		for (size_t k = 0; k < 3; k++)
			e -= w[k] * predictions[k][i];
		sum += e * e;
	}
	return sum;
}

/* No point of a grid over all shares has a smaller error. */
static void check_least(uint32_t without)
{
	const double *held_out[] = { predictions[0], predictions[1], predictions[2] };
	double w[3], least = INFINITY;

	blend_shares(&data, held_out, 3, without, w);
	ok_near(w[0] + w[1] + w[2], 1, 1e-9);
	ok(w[0] >= 0 && w[1] >= 0 && w[2] >= 0);
	for (int a = 0; a <= GRID; a++)
		for (int b = 0; a + b <= GRID; b++) {
			const double at[3] = { (double)a / GRID, (double)b / GRID,
					       (double)(GRID - a - b) / GRID };

			least = fmin(least, squares(at, without));
		}
	ok(squares(w, without) <= least * (1 + 1e-7));
	ok(squares(w, without) > least * 0.99);
}

static void shares_have_the_least_error(void)
{
	make(1, 1.2, 0.8);
	check_least(UINT32_MAX);
	check_least(3);
	dataset_release(&data);
	/* The second model would need a negative share, and gets none. */
	make(0.5, 2, 5);
	check_least(UINT32_MAX);
	dataset_release(&data);
}

static void equal_models_share(void)
{
	const double *held_out[] = { predictions[0], predictions[0], predictions[0] };
	double w[3];

	make(1, 1, 1);
	blend_shares(&data, held_out, 3, UINT32_MAX, w);
	ok_near(w[0] + w[1] + w[2], 1, 1e-9);
	ok(isfinite(squares((double[]){ w[0] + w[1] + w[2], 0, 0 }, UINT32_MAX)));
	dataset_release(&data);
}

/* The prediction of a row does not change with the response of the row, nor with its fold. */
static void rows_have_no_part_in_their_own_prediction(void)
{
	const double *held_out[] = { predictions[0], predictions[1], predictions[2] };
	double before[ROWS], after[ROWS];
	size_t changed = 0;

	make(1, 1.2, 0.8);
	blend_predict(&data, held_out, 3, before);
	for (size_t i = 0; i < ROWS; i++)
		data.y[i] += data.fold[i] == 4 ? 10 : 0;
	blend_predict(&data, held_out, 3, after);
	for (size_t i = 0; i < ROWS; i++) {
		if (data.fold[i] == 4)
			changed += before[i] != after[i];
	}
	ok_eq(changed, 0);
	dataset_release(&data);
}

static const struct tap_test tests[] = {
	{ "shares have the least error that shares can have", shares_have_the_least_error },
	{ "equal models share", equal_models_share },
	{ "rows have no part in their own prediction", rows_have_no_part_in_their_own_prediction },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
