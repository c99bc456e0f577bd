// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/curve/mars_candidate.h"
#include "base/memory/array.h"

/*
 * A new bx must keep this share of its squared length after projection; otherwise it counts as
 * dependent.
 */
#define LINEAR_SHARE 1e-7
/*
 * This is the share of a hinge's squared length around the mean that must be new, as in R's earth.
 * The share is stricter while the model is small, so that its knots lie apart.
 */
#define NEW_SHARE_FEW 0.01
#define NEW_SHARE     1e-5
#define FEW_SLOTS     15

/*
 * Computes the distances between knots and from the ends that keep the model from following a run
 * of noise (Friedman, Multivariate Adaptive Regression Splines, 1991, equations 43 and 45, alpha
 * 0.05). A term of higher degree stays two more spans away from the ends, as in R's earth.
 */
static void mars_candidate_spans(const struct forward *f, size_t nr_rows, size_t degree,
				 size_t *least, size_t *end)
{
	double p = (double)f->nr_columns;
	size_t most = f->n / 2 > 1 ? f->n / 2 - 1 : 1;

	*least = (size_t)((2.9702 + log(p * (double)nr_rows)) / 1.7329);
	*least = *least > 1 ? *least : 1;
	*end = (size_t)(7.32193 + log(p) / 0.69315);
	if (degree)
		*end += 2 * *end;
	*end = *end < most ? *end : most;
	*end = *end > 1 ? *end : 1;
}

/* Returns the number of rows until the first knot, chosen so that the knots are centred. */
static size_t first_span(size_t n, size_t least, size_t end)
{
	size_t room = n > 2 * end ? n - 2 * end : 0, start = room / 2;

	if (room > least) {
		size_t parts = room / least;

		start = parts * least == room ? least / 2 : (room - parts * least) / 2;
	}
	start += end;
	return start > 1 ? start : 1;
}

static void place_knots(const struct forward *f, struct forward_candidate *c, size_t degree)
{
	const double *b = f->b + c->parent * f->n, *x = f->x + c->column * f->n;
	const uint32_t *order = f->order + c->column * f->n;
	size_t nr_rows = 0, least, end, span, nr_above = 0;
	/* true if a row above t has b other than 0, so that a hinge at t is a new function */
	bool open = false;

	for (size_t i = 0; i < f->n; i++)
		nr_rows += b[i] > 0;
	mars_candidate_spans(f, nr_rows, degree, &least, &end);
	span = first_span(f->n, least, end);
	for (size_t i = f->n; i-- > 0;) {
		double t = x[order[i]];

		/* rows[0 .. nr_above) are the rows after i here. */
		open = open || (nr_above && x[c->rows[0]] > t);
		if (i + 1 < f->n && i >= end && b[order[i + 1]] > 0 && open && --span == 0) {
			span = least;
			if (!c->nr_knots || t < c->knots[c->nr_knots - 1]) {
				c->knots[c->nr_knots] = t;
				c->raw[c->nr_knots] = f->design.x[c->column * f->n + order[i]];
				c->ends[c->nr_knots++] = (uint32_t)nr_above;
			}
		}
		if (b[order[i]] != 0)
			c->rows[nr_above++] = order[i];
	}
	c->nr_rows = nr_above;
	if (f->design.columns[c->column].level >= 0)
		c->nr_knots = 0; /* for 0/1 columns a hinge equals the column itself */
}

/* Computes the products before any part of the basis is removed. */
static void first_products(const struct forward *f, struct forward_candidate *c)
{
	const double *b = f->b + c->parent * f->n, *x = f->x + c->column * f->n;
	double s = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
	size_t i = 0;

	for (size_t k = 0; k <= c->nr_knots; k++) {
		size_t stop = k < c->nr_knots ? c->ends[k] : c->nr_rows;
		double t;

		for (; i < stop; i++) {
			uint32_t row = c->rows[i];
			double bx = b[row] * x[row];

			s += b[row] * b[row];
			sx += b[row] * bx;
			sxx += bx * bx;
			sy += b[row] * f->y[row];
			sxy += bx * f->y[row];
		}
		if (k == c->nr_knots)
			break;
		t = c->knots[k];
		c->length[k] = c->left[k] = fmax(0, sxx - 2 * t * sx + t * t * s);
		c->with_y[k] = sxy - t * sy;
		c->with_linear[k] = sxx - t * sx;
	}
	c->linear_length = c->linear_left = sxx;
	c->linear_y = sxy;
}

/*
 * Adds sums of bq and bq x over rows [i, end) to *s and *sx. There are four independent sums,
 * because in a single sum each addition would wait for the one before.
 */
static void mars_candidate_gather(const uint32_t *rows, size_t i, size_t end, const double *bq,
				  const double *x, double *s, double *sx)
{
	double a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;

	for (; i + 4 <= end; i += 4) {
		double v0 = bq[rows[i]], v1 = bq[rows[i + 1]];
		double v2 = bq[rows[i + 2]], v3 = bq[rows[i + 3]];

		a0 += v0;
		a1 += v1;
		a2 += v2;
		a3 += v3;
		b0 += v0 * x[rows[i]];
		b1 += v1 * x[rows[i + 1]];
		b2 += v2 * x[rows[i + 2]];
		b3 += v3 * x[rows[i + 3]];
	}
	for (; i < end; i++) {
		a0 += bq[rows[i]];
		b0 += bq[rows[i]] * x[rows[i]];
	}
	*s += (a0 + a1) + (a2 + a3);
	*sx += (b0 + b1) + (b2 + b3);
}

/* Removes q from one candidate. bq is b times q by row, and h is scratch memory for the knots. */
static void take_out(const struct forward *f, struct forward_candidate *c, const double *bq,
		     double qy, double *h)
{
	const double *x = f->x + c->column * f->n;
	double s = 0, sx = 0;
	size_t i = 0;

	for (size_t k = 0; k < c->nr_knots; k++) {
		mars_candidate_gather(c->rows, i, c->ends[k], bq, x, &s, &sx);
		i = c->ends[k];
		h[k] = sx - c->knots[k] * s;
	}
	mars_candidate_gather(c->rows, i, c->nr_rows, bq, x, &s, &sx);
	for (size_t k = 0; k < c->nr_knots; k++) {
		c->left[k] -= h[k] * h[k];
		c->with_y[k] -= h[k] * qy;
		c->with_linear[k] -= h[k] * sx;
	}
	c->linear_left -= sx * sx;
	c->linear_y -= sx * qy;
}

/*
 * Computes b times q where b is not 0. No other rows are ever read for the candidates of the term.
 */
static void mars_candidate_multiply(const struct forward *f, const struct forward_candidate *c,
				    size_t j, double *bq)
{
	const double *b = f->b + c->parent * f->n, *q = f->q + j * f->n;

	for (size_t i = 0; i < c->nr_rows; i++)
		bq[c->rows[i]] = b[c->rows[i]] * q[c->rows[i]];
}

/* Removes the basis column j from the candidates from `from` on. */
static void take_out_of_all(struct forward *f, size_t from, size_t j)
{
	double *bq = f->scratch, *h = f->scratch + f->n;

	for (size_t i = from; i < f->nr_candidates; i++) {
		struct forward_candidate *c = &f->candidates[i];

		if (i == from || c->parent != c[-1].parent)
			mars_candidate_multiply(f, c, j, bq);
		take_out(f, c, bq, f->qy[j], h);
	}
}

void forward_candidates_update(struct forward *f, size_t j)
{
	take_out_of_all(f, 0, j);
}

void forward_candidates_settle(struct forward *f, size_t from)
{
	/* Lengths are measured around the mean, without the constant, as in R's earth. */
	take_out_of_all(f, from, 0);
	for (size_t i = from; i < f->nr_candidates; i++) {
		struct forward_candidate *c = &f->candidates[i];

		memcpy(c->length, c->left, c->nr_knots * sizeof(*c->left));
	}
	for (size_t j = 1; j < f->nr_terms; j++)
		take_out_of_all(f, from, j);
}

/* Releases the part of the per-row memory that the knots do not need. */
static int mars_candidate_allocate(struct forward_candidate *c, size_t n)
{
	c->rows = reallocarray(NULL, n + 1, sizeof(*c->rows));
	c->ends = reallocarray(NULL, n + 1, sizeof(*c->ends));
	c->knots = reallocarray(NULL, n + 1, sizeof(*c->knots));
	c->raw = reallocarray(NULL, n + 1, sizeof(*c->raw));
	return c->rows && c->ends && c->knots && c->raw ? 0 : -ENOMEM;
}

static void mars_candidate_shrink(void *array, size_t nr, size_t size)
{
	void **at = array, *smaller = reallocarray(*at, nr + 1, size);

	if (smaller)
		*at = smaller;
}

static int mars_candidate_finish(struct forward *f, struct forward_candidate *c)
{
	size_t nr = c->nr_knots;

	mars_candidate_shrink(&c->rows, c->nr_rows, sizeof(*c->rows));
	mars_candidate_shrink(&c->ends, nr, sizeof(*c->ends));
	mars_candidate_shrink(&c->knots, nr, sizeof(*c->knots));
	mars_candidate_shrink(&c->raw, nr, sizeof(*c->raw));
	c->left = calloc(4 * nr + 1, sizeof(*c->left));
	if (!c->left)
		return -ENOMEM;
	c->with_y = c->left + nr;
	c->with_linear = c->left + 2 * nr;
	c->length = c->left + 3 * nr;
	first_products(f, c);
	return 0;
}

int forward_candidate_add(struct forward *f, size_t parent, size_t column, size_t degree)
{
	struct forward_candidate *c;
	int ret;

	ret = array_grow(&f->candidates, &f->cap_candidates, f->nr_candidates + 1, sizeof(*c));
	if (ret)
		return ret;
	c = &f->candidates[f->nr_candidates++];
	*c = (struct forward_candidate){ .parent = parent, .column = column };
	ret = mars_candidate_allocate(c, f->n);
	if (ret)
		return ret;
	place_knots(f, c, degree);
	return mars_candidate_finish(f, c);
}

void forward_candidate_release(struct forward_candidate *c)
{
	free(c->rows);
	free(c->ends);
	free(c->knots);
	free(c->raw);
	free(c->left);
	memset(c, 0, sizeof(*c));
}

void forward_candidate_best(const struct forward *f, const struct forward_candidate *c,
			    struct forward_choice *best)
{
	bool new_linear = c->linear_left > LINEAR_SHARE * c->linear_length;
	double new_share = best->nr_slots + new_linear < FEW_SLOTS ? NEW_SHARE_FEW : NEW_SHARE;
	double slope = new_linear ? c->linear_y / c->linear_left : 0;
	double base = slope * c->linear_y, most = base, knot = 0;
	bool linear = true;

	(void)f;
	for (size_t k = 0; k < c->nr_knots; k++) {
		double left = c->left[k], with_y = c->with_y[k], gain;

		if (new_linear) {
			left -= c->with_linear[k] * c->with_linear[k] / c->linear_left;
			with_y -= c->with_linear[k] * slope;
		}
		if (!(left > new_share * c->length[k]) || !(left > 1e-12 * c->linear_length))
			continue;
		gain = base + with_y * with_y / left;
		if (gain > most && gain < best->limit) {
			most = gain;
			knot = c->raw[k];
			linear = false;
		}
	}
	if (most > best->gain) {
		best->gain = most;
		best->candidate = c;
		best->knot = knot;
		best->linear = linear;
		best->pair = new_linear;
	}
}
