/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Gaussian process against the same formulas, solved by Gaussian elimination without any
 * library.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/technique.h"
#include "tests/support/regression_data.h"
#include "tests/support/tap.h"

#define NR 40

/* What the literal solution needs of a process with given hyperparameters. */
struct literal {
	size_t n;
	double a[NR * NR], mean;
	const struct gp *gp;
	const struct schema *schema;
	const struct dataset *data;
};

static double cell(const struct dataset *d, size_t row, size_t v)
{
	return d->x[v * d->nr_rows + row];
}

/* Matern 5/2 of two rows, from their values as they stand in the table. */
static double literal_kernel(const struct literal *l, const double *x, const double *z)
{
	double squared = 0, r;

	for (size_t v = 0; v < l->schema->nr; v++) {
		double a = x[v], b = z[v], e;

		if (l->schema->variables[v].factor)
			e = a != b ? 1 : 0;
		else
			e = l->gp->logarithm[v] ? log(a / b) : a - b;
		squared += e * e / (l->gp->length[v] * l->gp->length[v]);
	}
	r = sqrt(squared);
	return (1 + sqrt(5) * r + 5 * squared / 3) * exp(-sqrt(5) * r);
}

static void literal_row(const struct literal *l, size_t i, double *x)
{
	for (size_t v = 0; v < l->schema->nr; v++)
		x[v] = cell(l->data, i, v);
}

/* Solves the system for b by elimination with pivots; the logarithm of its determinant. */
static double literal_solve(const struct literal *l, double *b)
{
	double *m = calloc(NR * NR, sizeof(*m)), determinant = 0;
	size_t n = l->n;

	memcpy(m, l->a, sizeof(l->a));
	for (size_t k = 0; k < n; k++) {
		size_t pivot = k;

		for (size_t i = k; i < n; i++)
			if (fabs(m[i * NR + k]) > fabs(m[pivot * NR + k]))
				pivot = i;
		for (size_t j = 0; j < n; j++) {
			double swap = m[k * NR + j];

			m[k * NR + j] = m[pivot * NR + j];
			m[pivot * NR + j] = swap;
		}
		double swap = b[k];

		b[k] = b[pivot];
		b[pivot] = swap;
		determinant += log(fabs(m[k * NR + k]));
		for (size_t i = k + 1; i < n; i++) {
			double f = m[i * NR + k] / m[k * NR + k];

			for (size_t j = k; j < n; j++)
				m[i * NR + j] -= f * m[k * NR + j];
			b[i] -= f * b[k];
		}
	}
	for (size_t k = n; k-- > 0;) {
		for (size_t j = k + 1; j < n; j++)
			b[k] -= m[k * NR + j] * b[j];
		b[k] /= m[k * NR + k];
	}
	free(m);
	return determinant;
}

static void literal_init(struct literal *l, const struct gp *g, const struct schema *s,
			 const struct dataset *d)
{
	double x[16], z[16], sum = 0, weights = 0;

	*l = (struct literal){ .n = d->nr_rows, .gp = g, .schema = s, .data = d };
	for (size_t i = 0; i < l->n; i++) {
		double w = d->weight ? d->weight[i] : 1;

		sum += w * d->y[i];
		weights += w;
		literal_row(l, i, x);
		for (size_t j = 0; j < l->n; j++) {
			literal_row(l, j, z);
			l->a[i * NR + j] =
				literal_kernel(l, x, z) + (i == j ? g->noise_ratio / w : 0);
		}
	}
	l->mean = sum / weights;
}

static void set_hyperparameters(struct gp *g, const struct schema *s, bool logarithms)
{
	for (size_t v = 0; v < s->nr; v++) {
		g->length[v] = 0.4 + 0.2 * (double)v;
		g->logarithm[v] = logarithms && !s->variables[v].factor && s->variables[v].low > 0;
	}
	g->noise_ratio = 0.03;
}

static void hold_against_literal(bool weighted, bool logarithms)
{
	double left[NR], k[NR], solved[NR], x[16], row[16], explained = 0, likelihood, expected;
	double predicted, determinant;
	struct dataset d;
	struct schema s;
	struct literal l;
	struct gp g;

	regression_data(&d, &s, NR, true, 8);
	schema_take_ranges(&s, &d);
	if (weighted) {
		d.weight = calloc(NR, sizeof(*d.weight));
		for (size_t i = 0; i < NR; i++)
			d.weight[i] = 0.5 + (double)(i % 3);
	}
	ok_int(gp_alloc(&g, NR, s.nr), 0);
	set_hyperparameters(&g, &s, logarithms);
	ok_int(gp_condition(&g, &s, &d, &likelihood), 0);
	literal_init(&l, &g, &s, &d);
	for (size_t i = 0; i < NR; i++)
		left[i] = d.y[i] - l.mean;
	memcpy(solved, left, sizeof(left));
	determinant = literal_solve(&l, solved);
	for (size_t i = 0; i < NR; i++)
		explained += left[i] * solved[i];
	ok_near(g.mean, l.mean, 1e-12);
	ok_ratio(g.variance, explained / NR, 1e-9);
	expected = -0.5 * explained / g.variance - 0.5 * (determinant + NR * log(g.variance)) -
		   0.5 * NR * log(2 * M_PI);
	ok_near(likelihood, expected, 1e-8 * fabs(expected));
	for (size_t v = 0; v < s.nr; v++)
		row[v] = s.variables[v].factor ? 1 : 0.3 + 0.05 * (double)v;
	expected = l.mean;
	for (size_t i = 0; i < NR; i++) {
		literal_row(&l, i, x);
		k[i] = literal_kernel(&l, x, row);
		expected += k[i] * solved[i];
	}
	gp_predict(&g, &s, row, 1, &predicted);
	ok_near(predicted, expected, 1e-9);
	gp_release(&g);
	dataset_release(&d);
	schema_release(&s);
}

static void equals_literal(void)
{
	hold_against_literal(false, false);
	hold_against_literal(true, false);
	hold_against_literal(false, true);
}

/* No hyperparameter of what was found can be moved a little and gain likelihood. */
static void likelihood_is_largest(void)
{
	struct dataset d;
	struct schema s;
	struct gp g, other;
	double best, moved;

	regression_data(&d, &s, 120, true, 5);
	schema_take_ranges(&s, &d);
	ok_int(gp_fit(&g, &s, &d), 0);
	ok_int(gp_condition(&g, &s, &d, &best), 0);
	ok_int(gp_alloc(&other, d.nr_rows, s.nr), 0);
	for (size_t k = 0; k <= s.nr; k++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			memcpy(other.length, g.length, s.nr * sizeof(*g.length));
			memcpy(other.logarithm, g.logarithm, s.nr * sizeof(*g.logarithm));
			other.noise_ratio = g.noise_ratio;
			*(k < s.nr ? &other.length[k] : &other.noise_ratio) *= 1 + 0.3 * sign;
			ok_int(gp_condition(&other, &s, &d, &moved), 0);
			if (!ok(moved < best + 0.05))
				tap_note("parameter %zu: %g against %g", k, moved, best);
		}
	}
	gp_release(&g);
	gp_release(&other);
	dataset_release(&d);
	schema_release(&s);
}

/*
 * Over smooth data a Gaussian process errs less than the best other technique of standard
 * parameters.
 */
static void smooth_is_learned(void)
{
	double p[PARAMETERS_MAX] = { 0 }, squares = 0, spread = 0;
	struct dataset d, unseen;
	struct schema s, same;
	struct model m;
	double *rows, out[200];

	regression_data(&d, &s, 200, false, 1);
	regression_data(&unseen, &same, 200, false, 2);
	ok_int(model_fit(&m, &technique_gp, p, &s, &d), 0);
	rows = dataset_rows(&unseen);
	ok_int(model_predict(&m, rows, 200, out), 0);
	for (size_t i = 0; i < 200; i++) {
		squares += pow(out[i] - unseen.y[i], 2);
		spread += pow(unseen.y[i] - 14.4, 2);
	}
	/* The noise of these data has a variance of 1, their response one of about 24. */
	if (!ok(squares / 200 < 2))
		tap_note("mean square %g of %g", squares / 200, spread / 200);
	free(rows);
	model_release(&m);
	dataset_release(&d);
	dataset_release(&unseen);
	schema_release(&s);
	schema_release(&same);
}

static void large_tables_are_refused(void)
{
	struct dataset d;
	struct schema s;
	struct gp g;

	regression_data(&d, &s, GP_ROWS_MAX + 1, false, 1);
	ok_int(gp_fit(&g, &s, &d), -EFBIG);
	dataset_release(&d);
	schema_release(&s);
}

static const struct tap_test tests[] = {
	{ "prediction and likelihood equal those of a literal solution", equals_literal },
	{ "no hyperparameter can be moved and gain likelihood", likelihood_is_largest },
	{ "smooth data are learned down to their noise", smooth_is_learned },
	{ "a table of too many rows is refused", large_tables_are_refused },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
