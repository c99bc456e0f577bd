// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/num/parallel.h"
#include "analyzer/models/num/stats.h"

#define REQUESTS 2000
/* requests to simulate for each request that can be under way, at least */
#define PER_CLIENT    20
#define STEP	      0.05 /* of a logarithm: 5 %, for the differences */
#define MOVE_MOST     1.5  /* largest change of a logarithm in one step */
#define LARGE	      0.25 /* relative errors beyond it count by their logarithm */
#define DAMPING_FIRST 0.01
#define DAMPING_MOST  1e4
#define GAIN_LEAST    3e-4 /* a step with a smaller gain ends the search */
#define NR_VALUES     (DEVICE_NR_TYPES * DEVICE_NR_POINTS)

/* Percentiles vary more than means, so that they have smaller weights. */
static const double point_weight[DEVICE_NR_POINTS] = { 1, 0.5, 0.5, 0.25 };

static const struct {
	size_t offset;
	double low, high;
} parameters[DEVICE_NR_PARAMETERS] = {
#define AT(member) offsetof(struct device_model, member)
	[PARAMETER_BASE_READ] = { AT(base_s[0]), 1e-8, 100 },
	[PARAMETER_BASE_WRITE] = { AT(base_s[1]), 1e-8, 100 },
	[PARAMETER_BYTE_READ] = { AT(byte_s[0]), 1e-13, 1e-3 },
	[PARAMETER_BYTE_WRITE] = { AT(byte_s[1]), 1e-13, 1e-3 },
	[PARAMETER_SEEK_READ] = { AT(seek_s[0]), 1e-8, 100 },
	[PARAMETER_SEEK_WRITE] = { AT(seek_s[1]), 1e-8, 100 },
	[PARAMETER_LATENCY_READ] = { AT(latency_s[0]), 1e-8, 100 },
	[PARAMETER_LATENCY_WRITE] = { AT(latency_s[1]), 1e-8, 100 },
	[PARAMETER_LATENCY_BYTE_READ] = { AT(latency_byte_s[0]), 1e-13, 1e-3 },
	[PARAMETER_LATENCY_BYTE_WRITE] = { AT(latency_byte_s[1]), 1e-13, 1e-3 },
	[PARAMETER_SIGMA_READ] = { AT(sigma[0]), 1e-3, 3 },
	[PARAMETER_SIGMA_WRITE] = { AT(sigma[1]), 1e-3, 3 },
	[PARAMETER_WAIT_SIGMA] = { AT(wait_sigma), 1e-3, 2 },
	[PARAMETER_WAIT_WINDOW] = { AT(wait_window), 1, 4096 },
	[PARAMETER_FLUSH] = { AT(flush_s), 1e-8, 100 },
	[PARAMETER_FLUSH_BYTE] = { AT(flush_byte_s), 1e-13, 1e-3 },
	[PARAMETER_FLUSH_CLEAN] = { AT(flush_clean_ratio), 1e-3, 1 },
	[PARAMETER_FLUSH_WAIT] = { AT(flush_wait_ratio), 0.01, 10 },
	[PARAMETER_DURABLE] = { AT(durable_s), 1e-8, 100 },
	[PARAMETER_PAUSE_RATIO] = { AT(pause_ratio), 1e-5, 0.1 },
	[PARAMETER_PAUSE] = { AT(pause_s), 1e-6, 100 },
	[PARAMETER_OPS] = { AT(ops.rate_per_s), 1, 1e9 },
	[PARAMETER_OPS_WRITE] = { AT(ops.write_ratio), 0.01, 100 },
	[PARAMETER_OPS_BURST] = { AT(ops.burst), 0.1, 1e9 },
	[PARAMETER_BYTES] = { AT(bytes.rate_per_s), 1e3, 1e13 },
	[PARAMETER_BYTES_WRITE] = { AT(bytes.write_ratio), 0.01, 100 },
	[PARAMETER_BYTES_BURST] = { AT(bytes.burst), 512, 1e13 },
	[PARAMETER_CACHE] = { AT(cache.bytes), 4096, 1e13 },
	[PARAMETER_CACHE_BASE] = { AT(cache.base_s), 1e-8, 100 },
	[PARAMETER_CACHE_BYTE] = { AT(cache.byte_s), 1e-13, 1e-3 },
	[PARAMETER_DRAIN] = { AT(cache.drain_bytes_per_s), 1e3, 1e13 },
#undef AT
};

double *device_parameter_at(struct device_model *m, enum device_parameter p)
{
	return (double *)((char *)m + parameters[p].offset);
}

void device_parameter_set(struct device_model *m, enum device_parameter p, double log_value)
{
	/* The bound is set after exp(), which would round exp(log(10)) to more than 10. */
	*device_parameter_at(m, p) =
		fmin(fmax(exp(log_value), parameters[p].low), parameters[p].high);
}

static double device_parameter_log(const struct device_model *m, size_t p)
{
	double v = *device_parameter_at((struct device_model *)m, (enum device_parameter)p);

	return log(v > parameters[p].low ? v : parameters[p].low);
}

struct device_work {
	const struct device_fit *fit;
	const struct device_model *model;
	bool others;
	struct device_held_out *out;
};

static int device_fit_row(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct device_work *w = ctx;
	const struct device_row *row = &w->fit->table->rows[begin];
	struct device_held_out *out = &w->out[begin];
	bool used = !w->fit->use || w->fit->use[begin];
	uint64_t nr = w->fit->task->nr_requests ? w->fit->task->nr_requests : REQUESTS;
	uint64_t least = (uint64_t)(PER_CLIENT * device_load_concurrency(&row->load));
	struct device_times times;
	int ret;

	(void)chunk;
	(void)end;
	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++)
			out->simulated_s[t][p] = NAN;
	if (used == w->others)
		return 0;
	ret = device_load_run(&row->load, w->model, nr > least ? nr : least,
			      w->fit->task->seed + begin, &times);
	for (int t = 0; t < DEVICE_NR_TYPES && !ret; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++)
			out->simulated_s[t][p] =
				device_times_at(&times, (enum device_type)t, (enum device_point)p);
	device_times_release(&times);
	return ret;
}

static int device_fit_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct device_work *w = ctx;

	return parallel_piece(b, &w->out[chunk], sizeof(*w->out));
}

int device_fit_simulate(const struct device_fit *f, const struct device_model *m, bool others,
			struct device_held_out *out)
{
	struct device_work w = { f, m, others, out };
	const struct parallel p = {
		.nr_items = f->table->nr,
		.chunk = 1,
		.nr_threads = f->task->nr_threads,
		.work = device_fit_row,
		.pieces = device_fit_pieces,
		.ctx = &w,
	};

	return parallel_run(&p);
}

/* Computes the logarithms of simulated over measured times; 0 where there is nothing to compare. */
static int device_fit_residuals(const struct device_fit *f, const struct device_model *m,
				struct device_held_out *scratch, double *out)
{
	int ret = device_fit_simulate(f, m, false, scratch);

	for (size_t i = 0; i < f->table->nr && !ret; i++)
		for (int k = 0; k < NR_VALUES; k++) {
			int t = k / DEVICE_NR_POINTS, p = k % DEVICE_NR_POINTS;
			double r = log(scratch[i].simulated_s[t][p] /
				       f->table->rows[i].measured_s[t][p]);

			out[i * NR_VALUES + (size_t)k] = isfinite(r) ? r : 0;
		}
	return ret;
}

/*
 * Returns the loss of all residuals. The loss is quadratic for small residuals, and grows with the
 * logarithm of large ones: a configuration that no device of this kind can give back must not bend
 * all others (a redescending M-estimator: Huber and Ronchetti, Robust Statistics, 2009, section
 * 4.8).
 */
static double device_fit_sum(const struct device_fit *f, const double *residuals)
{
	double sum = 0;

	for (size_t i = 0; i < f->table->nr * NR_VALUES; i++) {
		double r = fabs(residuals[i]), w = point_weight[i % DEVICE_NR_POINTS];

		sum += w * (r < LARGE ? r * r / 2 : LARGE * LARGE * (0.5 + log(r / LARGE)));
	}
	return sum;
}

/* This struct is the memory of a fit, allocated as one block for each array. */
struct device_buffers {
	struct device_held_out *scratch;
	double *residuals, *moved, *x, *y;
	size_t nr_rows; /* rows of x: the residuals, and one row per parameter for the damping */
};

static int device_buffers_init(struct device_buffers *b, size_t nr)
{
	size_t values = nr * NR_VALUES;

	*b = (struct device_buffers){ .nr_rows = values + DEVICE_NR_PARAMETERS };
	b->scratch = calloc(nr + 1, sizeof(*b->scratch));
	b->residuals = calloc(values + 1, sizeof(double));
	b->moved = calloc(values + 1, sizeof(double));
	b->x = calloc(b->nr_rows * DEVICE_NR_PARAMETERS, sizeof(double));
	b->y = calloc(b->nr_rows, sizeof(double));
	return b->scratch && b->residuals && b->moved && b->x && b->y ? 0 : -ENOMEM;
}

static void device_buffers_release(struct device_buffers *b)
{
	free(b->scratch);
	free(b->residuals);
	free(b->moved);
	free(b->x);
	free(b->y);
}

/* Returns the weight of a residual in the least squares that makes them minimize the loss. */
static double device_fit_weight(size_t i, double r)
{
	double w = point_weight[i % DEVICE_NR_POINTS];

	r = fabs(r);
	return sqrt(w) * (r > LARGE ? LARGE / r : 1);
}

/* Computes the derivatives of all residuals, one column per free parameter. */
static int device_fit_derive(const struct device_fit *f, const struct device_model *m,
			     struct device_buffers *b, size_t *nr_columns)
{
	size_t nr = f->table->nr * NR_VALUES;

	*nr_columns = 0;
	for (size_t p = 0; p < DEVICE_NR_PARAMETERS; p++) {
		struct device_model near = *m;
		double *x = b->x + *nr_columns * b->nr_rows;
		double at = device_parameter_log(m, p), step = STEP;
		int ret;

		if (!f->free[p])
			continue;
		if (at + STEP > log(parameters[p].high))
			step = -STEP;
		device_parameter_set(&near, p, at + step);
		ret = device_fit_residuals(f, &near, b->scratch, b->moved);
		if (ret)
			return ret;
		for (size_t i = 0; i < nr; i++)
			x[i] = (b->moved[i] - b->residuals[i]) / step *
			       device_fit_weight(i, b->residuals[i]);
		(*nr_columns)++;
	}
	return 0;
}

/* Computes where one step with this damping leads. The derivatives do not change. */
static int device_fit_move(const struct device_fit *f, struct device_model *m,
			   struct device_buffers *b, size_t nr_columns, double damping)
{
	double move[DEVICE_NR_PARAMETERS];
	size_t nr = f->table->nr * NR_VALUES, column = 0;
	struct lsq_problem problem = { b->nr_rows, nr_columns, b->x, b->y, NULL, false };
	struct lsq_result result = { .coefficients = move };
	int ret;

	for (size_t i = 0; i < nr; i++)
		b->y[i] = -b->residuals[i] * device_fit_weight(i, b->residuals[i]);
	for (size_t c = 0; c < nr_columns; c++) {
		double *x = b->x + c * b->nr_rows, sum = 0;

		for (size_t i = 0; i < nr; i++)
			sum += x[i] * x[i];
		for (size_t k = 0; k < DEVICE_NR_PARAMETERS; k++) {
			x[nr + k] = k == c ? sqrt(damping * (sum + 1e-6)) : 0;
			b->y[nr + k] = 0;
		}
	}
	ret = lsq_solve(&problem, &result);
	if (ret)
		return ret == -ERANGE ? 0 : ret;
	for (size_t p = 0; p < DEVICE_NR_PARAMETERS; p++) {
		double by;

		if (!f->free[p])
			continue;
		by = move[column++];
		by = by > MOVE_MOST ? MOVE_MOST : by < -MOVE_MOST ? -MOVE_MOST : by;
		if (isfinite(by))
			device_parameter_set(m, p, device_parameter_log(m, p) + by);
	}
	return 0;
}

/*
 * Tries one step with more and more damping until it gains. *gained becomes false if no step does.
 */
static int device_fit_step(const struct device_fit *f, struct device_model *m,
			   struct device_buffers *b, double *damping, double *loss, bool *gained)
{
	size_t nr_columns;
	int ret = device_fit_derive(f, m, b, &nr_columns);

	*gained = false;
	for (; !ret && nr_columns && *damping < DAMPING_MOST; *damping *= 8) {
		struct device_model next = *m;
		double sum;

		ret = device_fit_move(f, &next, b, nr_columns, *damping);
		if (!ret)
			ret = device_fit_residuals(f, &next, b->scratch, b->moved);
		if (ret)
			return ret;
		sum = device_fit_sum(f, b->moved);
		if (!(sum < *loss))
			continue;
		*gained = *loss - sum > GAIN_LEAST * *loss;
		*m = next;
		*loss = sum;
		*damping = fmax(*damping / 4, 1e-6);
		memcpy(b->residuals, b->moved, f->table->nr * NR_VALUES * sizeof(double));
		return 0;
	}
	return ret;
}

int device_fit_run(const struct device_fit *f, struct device_model *m, unsigned int nr_steps,
		   double *loss)
{
	struct device_buffers b;
	double damping = DAMPING_FIRST;
	bool gained = true;
	int ret = device_buffers_init(&b, f->table->nr);

	*loss = INFINITY;
	if (!ret)
		ret = device_fit_residuals(f, m, b.scratch, b.residuals);
	if (ret)
		goto out;
	*loss = device_fit_sum(f, b.residuals);
	for (unsigned int i = 0; i < nr_steps && gained && !ret; i++)
		ret = device_fit_step(f, m, &b, &damping, loss, &gained);
out:
	device_buffers_release(&b);
	return ret;
}

/* ---- held-out rows ---- */

void device_fit_errors(struct device_model *m, const struct device_table *d,
		       const struct device_held_out *held, double *scratch)
{
	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++) {
			struct device_error *e = &m->errors[t][p];
			double sum = 0;
			size_t nr = 0, rank;

			for (size_t i = 0; i < d->nr; i++) {
				double ratio =
					held[i].simulated_s[t][p] / d->rows[i].measured_s[t][p];

				if (!isfinite(ratio) || !(ratio > 0))
					continue;
				scratch[nr++] = fabs(log(ratio));
				sum += fabs(ratio - 1);
			}
			*e = (struct device_error){ nr, nr ? sum / (double)nr : NAN, NAN };
			stats_sort(scratch, nr);
			/*
			 * Split conformal prediction: the rank of which a further error stays
			 * below in 90 % of all cases (Lei, G'Sell, Rinaldo, Tibshirani and
			 * Wasserman, Distribution-Free Predictive Inference for Regression, 2018,
			 * section 2.2).
			 */
			rank = (size_t)ceil(DEVICE_LEVEL * (double)(nr + 1));
			if (nr && rank <= nr)
				e->log_half = scratch[rank - 1];
		}
}

void device_fit_folds(const struct device_table *d, size_t *fold)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nr; i++) {
		size_t k = 0;

		while (k < i && d->rows[k].configuration != d->rows[i].configuration)
			k++;
		fold[i] = k < i ? fold[k] : nr++ % DEVICE_FOLDS;
	}
}
