// SPDX-License-Identifier: Apache-2.0
/* neighbours: the search through the tree against a look at every row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/form/neighbours.h"
#include "tests/support/regression_data.h"
#include "tests/support/tap.h"

#define QUERIES 200

/* The distance of neighbours.h, word by word. */
static double slow_distance(const struct neighbours *n, const struct schema *s, const double *a,
			    const double *b)
{
	double sum = 0;

	for (size_t v = 0; v < s->nr; v++) {
		double off = fabs(a[v] - b[v]) * n->scale[v];

		if (s->variables[v].factor)
			sum += a[v] != b[v] ? 2.0 / (double)s->variables[v].nr_levels : 0;
		else
			sum += off < 1 ? off : 1;
	}
	return rint(sum * 16) / 16;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Holds what was found for one case against all distances. */
static bool is_nearest(const struct nearest *near, const struct neighbours *n,
		       const struct schema *s, const double *x)
{
	double *all = calloc(2 * n->nr_rows + 1, sizeof(*all)), *sorted = all + n->nr_rows;
	size_t nr = n->nr_rows < NEIGHBOURS_MAX ? n->nr_rows : NEIGHBOURS_MAX, found = 0;
	bool is_same = all && near->nr == nr;

	for (size_t i = 0; i < n->nr_rows && is_same; i++)
		all[i] = sorted[i] = slow_distance(n, s, x, n->rows + i * n->nr_vars);
	if (is_same)
		qsort(sorted, n->nr_rows, sizeof(*sorted), by_value);
	for (size_t i = 0; i < nr && is_same; i++)
		is_same = near->distance[i] == sorted[i];
	for (size_t i = 0; i < n->nr_rows && is_same; i++) {
		const struct nearest_row *r = &near->rows[found];

		if (all[i] > sorted[nr - 1])
			continue;
		is_same = found < near->nr_rows && r->row == i &&
			  near->distance[r->rank] == all[i] &&
			  (!r->rank || near->distance[r->rank - 1] < all[i]);
		found++;
	}
	is_same = is_same && found == near->nr_rows;
	free(all);
	return is_same;
}

/* Cases are training rows, and rows far outside of them. digits 0: numbers stay as they are. */
static void hold_against_all(size_t nr_rows, bool with_factor, double digits)
{
	double *none = calloc(nr_rows + 1, sizeof(*none)), x[6];
	struct nearest near = { 0 };
	struct neighbours n;
	struct dataset d;
	struct schema s;
	struct rng r;
	size_t wrong = 0;

	regression_data(&d, &s, nr_rows, with_factor, 3);
	for (size_t i = 0; i < 5 * nr_rows && digits > 0; i++)
		d.x[i] = rint(d.x[i] * digits) / digits;
	ok_int(neighbours_init(&n, &s, &d, 5, none), 0);
	rng_seed(&r, 4);
	for (size_t q = 0; q < QUERIES; q++) {
		for (size_t v = 0; v < s.nr; v++)
			x[v] = s.variables[v].factor ? (double)rng_below(&r, 3)
			       : q % 2 ? rng_uniform(&r) * (q % 7 ? 1 : 20) - (q % 5 ? 0 : 3)
				       : n.rows[rng_below(&r, nr_rows) * s.nr + v];
		if (nearest_find(&near, &n, x))
			wrong++;
		else
			wrong += !is_nearest(&near, &n, &s, x);
	}
	ok_eq(wrong, 0);
	nearest_release(&near);
	neighbours_release(&n);
	dataset_release(&d);
	schema_release(&s);
	free(none);
}

static void the_tree_finds_what_a_look_at_every_row_finds(void)
{
	hold_against_all(3000, false, 0);
	hold_against_all(3000, true, 0);
}

static void ties_are_found_as_well(void)
{
	hold_against_all(2000, true, 3);
	hold_against_all(500, false, 1);
}

static void few_rows_are_all_found(void)
{
	for (size_t nr = 1; nr < 20; nr++)
		hold_against_all(nr, true, 0);
}

static const struct tap_test tests[] = {
	{ "the tree finds what a look at every row finds",
	  the_tree_finds_what_a_look_at_every_row_finds },
	{ "ties are found as well", ties_are_found_as_well },
	{ "few rows are all found", few_rows_are_all_found },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
