// SPDX-License-Identifier: Apache-2.0
/*
 * Checks whether an open net whose modes take several tokens at once can keep up with its sources.
 *
 * If the net were stable, the flow into every slot would equal the flow out of it. These are
 * linear equations in the rates of the modes. The rates of sources and the shares of modes that
 * take the same tokens are known as well. The flows that the equations determine must fit the
 * servers of each queue; other flows are not examined. By Little's law, the tokens of each place
 * invariant must be enough for the service times of the slots that they pass. The invariants come
 * from Farkas' algorithm (Colom and Silva, Convex geometry and semiflows in P/T nets, 1990) on
 * sparse rows, which is given up if there are too many of them.
 */
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/check_flows.h"

/* limit of slots and modes, because of a dense singular value decomposition */
#define MAX_SIZE       300
#define MAX_INVARIANTS 400
#define RANK_TOLERANCE 1e-9
#define LARGEST_WEIGHT 1000000

struct flows {
	const struct net *n;
	const struct net_mode *const *modes;
	const struct net_transition *const *of;
	lapack_int nr_modes, nr_rows, max_rows;
	double *a, *b; /* rows of the equations, and their right sides */
	double *rate;  /* by mode: the solution of least norm */
	double *null;  /* nr_modes x nr_null: directions that the equations do not determine */
	lapack_int nr_null;
};

static bool same_take(const struct net_mode *x, const struct net_mode *y)
{
	if (x->nr_take != y->nr_take)
		return false;
	for (uint32_t i = 0; i < x->nr_take; i++)
		if (x->take[i].slot != y->take[i].slot || x->take[i].count != y->take[i].count)
			return false;
	return true;
}

static double *new_row(struct flows *f)
{
	return f->nr_rows < f->max_rows ? f->a + f->nr_rows++ * f->nr_modes : NULL;
}

/* Adds the equation rate[first] / weight of first = rate[second] / weight of second. */
static void check_flows_tie(struct flows *f, lapack_int first, double weight, lapack_int second,
			    double other)
{
	double *row = new_row(f);

	if (row) {
		row[first] = 1 / weight;
		row[second] = -1 / other;
	}
}

/*
 * Ties the rates of modes that take the same tokens: modes of one transition by their weights, and
 * the only modes of two transitions by the transitions' weights.
 */
static void tie_modes(struct flows *f)
{
	for (lapack_int i = 1; i < f->nr_modes; i++) {
		const struct net_transition *t = f->of[i];

		for (lapack_int k = i - 1; k >= 0; k--) {
			const struct net_transition *u = f->of[k];
			bool alone = t != u && !t->timed && !u->timed && t->nr_modes == 1 &&
				     u->nr_modes == 1 && t->priority == u->priority;

			if ((t != u && !alone) || !f->modes[i]->nr_take ||
			    !same_take(f->modes[i], f->modes[k]))
				continue;
			check_flows_tie(f, i, t == u ? f->modes[i]->weight : t->weight, k,
					t == u ? f->modes[k]->weight : u->weight);
			break;
		}
	}
}

static void check_flows_balance(struct flows *f)
{
	double *rows = f->a + f->nr_rows * f->nr_modes;

	f->nr_rows += (lapack_int)f->n->nr_slots;
	for (lapack_int m = 0; m < f->nr_modes; m++) {
		const struct net_mode *x = f->modes[m];

		for (uint32_t i = 0; i < x->nr_put; i++)
			rows[(lapack_int)x->put[i].slot * f->nr_modes + m] += x->put[i].count;
		for (uint32_t i = 0; i < x->nr_take; i++)
			rows[(lapack_int)x->take[i].slot * f->nr_modes + m] -= x->take[i].count;
	}
}

/* Adds the rates of the sources. Returns true if there are any sources. */
static bool add_sources(struct flows *f)
{
	bool any = false;

	for (lapack_int m = 0; m < f->nr_modes; m++) {
		const struct net_transition *t = f->of[m];
		double all = 0, *row;

		if (f->modes[m]->nr_take)
			continue;
		for (uint32_t k = 0; k < t->nr_modes; k++) {
			all += t->modes[k].weight;
			/*
			 * The clock stops while the other mode may not fire, so that the rate is
			 * not known.
			 */
			if (t->modes[k].nr_take)
				return false;
		}
		row = new_row(f);
		if (!row)
			return false;
		row[m] = 1;
		f->b[f->nr_rows - 1] = f->modes[m]->weight / all / t->time.mean;
		any = true;
	}
	return any;
}

static bool is_met(const struct flows *f)
{
	double most = 0, worst = 0;

	for (lapack_int k = 0; k < f->nr_rows; k++) {
		double left = f->b[k];

		for (lapack_int m = 0; m < f->nr_modes; m++)
			left -= f->a[k * f->nr_modes + m] * f->rate[m];
		most = fmax(most, fabs(f->b[k]));
		worst = fmax(worst, fabs(left));
	}
	return worst <= 1e-6 * most;
}

/*
 * Solves for the rates by the pseudo-inverse, and computes a basis of what is not determined.
 * Returns -EINVAL without a solution.
 */
static int check_flows_solve(struct flows *f)
{
	lapack_int rows = f->nr_rows, nr = f->nr_modes, least = rows < nr ? rows : nr;
	double *a = malloc(sizeof(double) * (size_t)(rows * nr));
	double *u = malloc(sizeof(double) * (size_t)(rows * rows));
	double *s = malloc(sizeof(double) * (size_t)(2 * least + 1));
	double *vt = malloc(sizeof(double) * (size_t)(nr * nr));
	int ret = a && u && s && vt ? 0 : -ENOMEM;

	if (ret)
		goto out;
	ret = -EINVAL;
	memcpy(a, f->a, sizeof(double) * (size_t)(rows * nr));
	if (LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'A', rows, nr, a, nr, s, u, rows, vt, nr,
			   s + least))
		goto out;
	for (lapack_int i = 0; i < nr; i++) {
		double part = 0;

		if (i >= least || s[i] <= RANK_TOLERANCE * s[0]) {
			memcpy(f->null + f->nr_null++ * nr, vt + i * nr,
			       sizeof(double) * (size_t)nr);
			continue;
		}
		for (lapack_int k = 0; k < rows; k++)
			part += u[k * rows + i] * f->b[k];
		for (lapack_int m = 0; m < nr; m++)
			f->rate[m] += vt[i * nr + m] * part / s[i];
	}
	ret = is_met(f) ? 0 : -EINVAL;
out:
	free(a);
	free(u);
	free(s);
	free(vt);
	return ret;
}

/*
 * Returns the work per time, if each token of slot i brings weight[i]; NaN if it is not
 * determined.
 */
static double check_flows_work(const struct flows *f, const double *weight)
{
	double sum = 0, size = 0;

	for (lapack_int k = -1; k < f->nr_null; k++) {
		const double *rate = k < 0 ? f->rate : f->null + k * f->nr_modes;
		double part = 0;

		for (lapack_int m = 0; m < f->nr_modes; m++)
			for (uint32_t i = 0; i < f->modes[m]->nr_put; i++) {
				double w = weight[f->modes[m]->put[i].slot] *
					   f->modes[m]->put[i].count;

				part += rate[m] * w;
				size = fmax(size, fabs(w));
			}
		if (k < 0)
			sum = part;
		else if (fabs(part) > 1e-7 * size)
			return NAN;
	}
	return sum;
}

static double check_flows_service(const struct net *n, uint32_t slot)
{
	return n->slots[slot].service.kind == DIST_NONE ? 0 : n->slots[slot].service.mean;
}

static void check_queues(const struct flows *f, double *weight, flow_finding say, void *ctx)
{
	for (uint32_t q = 0; q < f->n->nr_queues; q++) {
		uint32_t first = NET_NONE;
		double load;

		if (f->n->queues[q].immediate || f->n->queues[q].strategy == NET_IS)
			continue;
		for (uint32_t i = 0; i < f->n->nr_slots; i++) {
			bool here = f->n->places[f->n->slots[i].place].queue == q;

			weight[i] = here ? check_flows_service(f->n, i) : 0;
			first = here && first == NET_NONE ? i : first;
		}
		load = check_flows_work(f, weight);
		if (first != NET_NONE && load >= f->n->queues[q].servers)
			say(ctx, first, load, f->n->queues[q].servers, false);
	}
}

/* This struct is a row of Farkas' table: the rest of C' y, and y. */
struct invariant {
	int64_t *left, *y;
};

static int64_t check_flows_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/*
 * Computes p |b| + q |a|, where a and b are the entries of their column. Returns false if a value
 * gets too large.
 */
static bool check_flows_combine(int64_t *out, const int64_t *p, const int64_t *q, size_t column,
				size_t nr)
{
	int64_t a = llabs(p[column]), b = llabs(q[column]), all = 0;

	for (size_t i = 0; i < nr; i++) {
		out[i] = p[i] * b + q[i] * a;
		all = check_flows_divisor(all, out[i]);
	}
	for (size_t i = 0; i < nr; i++) {
		out[i] /= all ? all : 1;
		if (llabs(out[i]) > LARGEST_WEIGHT)
			return false;
	}
	return true;
}

/*
 * Combines rows of nr_modes + nr_slots numbers until the first part of each remaining row is 0.
 * Returns the number of rows, or 0 if there are too many rows at some step.
 */
static size_t check_flows_annul(int64_t *rows, size_t nr, size_t nr_modes, size_t width)
{
	for (size_t c = 0; c < nr_modes; c++) {
		size_t old = nr, kept = 0;

		for (size_t i = 0; i < old; i++)
			for (size_t k = i + 1; k < old; k++) {
				const int64_t *p = rows + i * width, *q = rows + k * width;

				if ((p[c] < 0) == (q[c] < 0) || !p[c] || !q[c])
					continue;
				if (nr == MAX_INVARIANTS)
					return 0;
				if (check_flows_combine(rows + nr * width, p, q, c, width))
					nr++;
			}
		for (size_t i = 0; i < nr; i++) {
			if (rows[i * width + c])
				continue;
			memmove(rows + kept++ * width, rows + i * width, width * sizeof(*rows));
		}
		nr = kept;
	}
	return nr;
}

static void check_pool(const struct flows *f, const int64_t *y, double *weight, flow_finding say,
		       void *ctx)
{
	double tokens = 0, needed;
	uint32_t first = NET_NONE;

	for (uint32_t i = 0; i < f->n->nr_slots; i++) {
		weight[i] = (double)y[i] * check_flows_service(f->n, i);
		tokens += (double)y[i] * (double)f->n->slots[i].tokens;
		if (y[i] && f->n->slots[i].tokens && first == NET_NONE)
			first = i;
	}
	needed = check_flows_work(f, weight);
	if (first != NET_NONE && needed >= tokens)
		say(ctx, first, needed, tokens, true);
}

static int check_pools(const struct flows *f, double *weight, flow_finding say, void *ctx)
{
	size_t nr_modes = (size_t)f->nr_modes, width = nr_modes + f->n->nr_slots, nr;
	int64_t *rows = calloc(MAX_INVARIANTS * width, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < f->n->nr_slots; i++)
		rows[i * width + nr_modes + i] = 1;
	for (size_t m = 0; m < nr_modes; m++) {
		for (uint32_t i = 0; i < f->modes[m]->nr_put; i++)
			rows[f->modes[m]->put[i].slot * width + m] += f->modes[m]->put[i].count;
		for (uint32_t i = 0; i < f->modes[m]->nr_take; i++)
			rows[f->modes[m]->take[i].slot * width + m] -= f->modes[m]->take[i].count;
	}
	nr = check_flows_annul(rows, f->n->nr_slots, nr_modes, width);
	for (size_t i = 0; i < nr; i++)
		check_pool(f, rows + i * width + nr_modes, weight, say, ctx);
	free(rows);
	return 0;
}

static bool is_bounded(const struct net *n)
{
	for (uint32_t i = 0; i < n->nr_slots; i++)
		if (n->slots[i].capacity || n->places[n->slots[i].place].capacity)
			return true;
	return false;
}

int check_flows(const struct net *n, const struct net_mode *const *modes,
		const struct net_transition *const *of, uint32_t nr_modes, flow_finding say,
		void *ctx)
{
	struct flows f = { .n = n, .modes = modes, .of = of, .nr_modes = (lapack_int)nr_modes };
	double *weight = NULL;
	int ret = -ENOMEM;

	if (n->nr_slots > MAX_SIZE || nr_modes > MAX_SIZE || !nr_modes || is_bounded(n))
		return 0;
	f.max_rows = (lapack_int)(n->nr_slots + 2 * nr_modes);
	f.a = calloc((size_t)(f.max_rows * f.nr_modes), sizeof(double));
	f.b = calloc((size_t)f.max_rows, sizeof(double));
	f.rate = calloc(nr_modes, sizeof(double));
	f.null = calloc((size_t)nr_modes * nr_modes, sizeof(double));
	weight = calloc((size_t)n->nr_slots + 1, sizeof(*weight));
	if (!f.a || !f.b || !f.rate || !f.null || !weight)
		goto out;
	check_flows_balance(&f);
	tie_modes(&f);
	ret = add_sources(&f) ? check_flows_solve(&f) : -EINVAL;
	if (ret)
		goto out;
	check_queues(&f, weight, say, ctx);
	ret = check_pools(&f, weight, say, ctx);
out:
	free(f.a);
	free(f.b);
	free(f.rate);
	free(f.null);
	free(weight);
	return ret == -EINVAL ? 0 : ret;
}
