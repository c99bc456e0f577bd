// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/load_model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/params.h"

/* the share of the requests that may lie outside the training range */
#define OUTSIDE_SHARE 0.05
/* the share of the training range by which sizes may leave it, see load_rows_outside() */
#define SIZE_SLACK 0.1

enum fact {
	FACT_CLIENTS,
	FACT_DEPTH,
	FACT_RATE,
	FACT_SIZE,
	FACT_SIZE_KB,
	FACT_READ_SIZE,
	FACT_WRITE_SIZE,
	FACT_READ,
	FACT_RANGE,
	FACT_PATTERN,
	FACT_READ_PATTERN,
	FACT_WRITE_PATTERN,
	FACT_UNKNOWN,
};

static enum fact fact_named(const char *name)
{
	static const struct {
		const char *name;
		enum fact fact;
	} names[] = {
		{ "clients", FACT_CLIENTS },
		{ "threads", FACT_CLIENTS },
		{ "numjobs", FACT_CLIENTS },
		{ "jobs", FACT_CLIENTS },
		{ "iodepth", FACT_DEPTH },
		{ "depth", FACT_DEPTH },
		{ "queue_depth", FACT_DEPTH },
		{ "rate", FACT_RATE },
		{ "rate_per_s", FACT_RATE },
		{ "rate_iops", FACT_RATE },
		{ "size", FACT_SIZE },
		{ "request_size", FACT_SIZE },
		{ "size_bytes", FACT_SIZE },
		{ "block_size", FACT_SIZE },
		{ "bs", FACT_SIZE },
		{ "request_kb", FACT_SIZE_KB },
		{ "size_kb", FACT_SIZE_KB },
		{ "read_size", FACT_READ_SIZE },
		{ "write_size", FACT_WRITE_SIZE },
		{ "read", FACT_READ },
		{ "mix", FACT_READ },
		{ "rwmixread", FACT_READ },
		{ "read_share", FACT_READ },
		{ "file_set", FACT_RANGE },
		{ "file_set_size", FACT_RANGE },
		{ "footprint", FACT_RANGE },
		{ "pattern", FACT_PATTERN },
		{ "rw", FACT_PATTERN },
		{ "read_pattern", FACT_READ_PATTERN },
		{ "write_pattern", FACT_WRITE_PATTERN },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].fact;
	return FACT_UNKNOWN;
}

/* This struct is one query: a load and a direction, with what the caller has set. */
struct question {
	const struct model *model;
	const struct load_facts *facts;
	int side;
	const char *const *set;
	size_t nr_set;
	bool own; /* sizes and patterns are those of the direction alone */
};

static bool is_sequential_level(const char *level)
{
	return strstr(level, "seq") || (!strstr(level, "rand"));
}

static double pattern_value(const struct variable *v, double sequential_ratio)
{
	if (!v->factor)
		return sequential_ratio * (v->high > 1 ? 100 : 1);
	for (size_t i = 0; i < v->nr_levels; i++)
		if (is_sequential_level(v->levels[i]) == (sequential_ratio >= 0.5))
			return (double)i;
	return NAN;
}

/*
 * Returns the direction's own value, or that of the whole load if the load has no requests of the
 * direction.
 */
static double own_or_all(const double own[2], int side, double all)
{
	return isfinite(own[side]) ? own[side] : all;
}

/* Returns the value that the caller set, or NULL. */
static const char *set_value(const char *name, const char *const *set, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(set[i], name, strlen(name)) && set[i][strlen(name)] == '=')
			return set[i] + strlen(name) + 1;
	return NULL;
}

static int variable_of(const struct model *m, enum fact fact)
{
	for (size_t i = 0; i < m->schema.nr; i++)
		if (fact_named(m->schema.variables[i].name) == fact &&
		    !m->schema.variables[i].factor)
			return (int)i;
	return -1;
}

int load_model_clients(const struct model *m)
{
	return variable_of(m, FACT_CLIENTS);
}

int load_model_depth(const struct model *m)
{
	return variable_of(m, FACT_DEPTH);
}

int load_model_rate(const struct model *m)
{
	return variable_of(m, FACT_RATE);
}

int load_model_size(const struct model *m, double *unit_bytes)
{
	int v = variable_of(m, FACT_SIZE);

	*unit_bytes = v < 0 ? 1024 : 1;
	return v < 0 ? variable_of(m, FACT_SIZE_KB) : v;
}

/*
 * Returns what the caller set a fact's variable to; NaN if the model lacks the variable or the
 * caller has not set it.
 */
static double set_number(const struct question *q, enum fact fact)
{
	int v = variable_of(q->model, fact);
	const char *given =
		v < 0 ? NULL : set_value(q->model->schema.variables[v].name, q->set, q->nr_set);
	double value;

	return given && param_number(given, &value) ? value : NAN;
}

/* Returns the part of the concurrency that the variable of clients, or of depth, stands for. */
static double share_of_concurrency(const struct question *q, enum fact fact)
{
	enum fact other = fact == FACT_CLIENTS ? FACT_DEPTH : FACT_CLIENTS;
	double all = fmax(1, q->facts->concurrency), beside = set_number(q, other);
	double clients = q->facts->clients >= 1 ? fmin(q->facts->clients, all) : all;

	if (variable_of(q->model, other) < 0)
		return all;
	if (beside > 0)
		return fmax(1, all / beside);
	return fact == FACT_CLIENTS ? clients : fmax(1, all / clients);
}

static double fact_value(const struct question *q, const struct variable *v, double size)
{
	const struct load_facts *f = q->facts;
	enum fact fact = fact_named(v->name);

	switch (fact) {
	case FACT_CLIENTS:
	case FACT_DEPTH:
		return share_of_concurrency(q, fact);
	case FACT_RATE:
		return f->rate_per_s;
	case FACT_SIZE:
		return size;
	case FACT_SIZE_KB:
		return size / 1024;
	case FACT_READ_SIZE:
		return q->side == 0 ? size : own_or_all(f->side_bytes, 0, f->size_bytes);
	case FACT_WRITE_SIZE:
		return q->side == 1 ? size : own_or_all(f->side_bytes, 1, f->size_bytes);
	case FACT_READ:
		return f->read_ratio * (v->high > 1 ? 100 : 1);
	case FACT_RANGE:
		return f->range_bytes;
	case FACT_PATTERN:
		return pattern_value(v, q->own ? own_or_all(f->side_sequential, q->side,
							    f->sequential_ratio)
					       : f->sequential_ratio);
	case FACT_READ_PATTERN:
		return pattern_value(v, own_or_all(f->side_sequential, 0, f->sequential_ratio));
	case FACT_WRITE_PATTERN:
		return pattern_value(v, own_or_all(f->side_sequential, 1, f->sequential_ratio));
	default:
		return NAN;
	}
}

static int check_set(const struct question *q, struct err *err)
{
	const struct model *m = q->model;

	for (size_t i = 0; i < q->nr_set; i++) {
		size_t v = 0;

		while (v < m->schema.nr && !set_value(m->schema.variables[v].name, &q->set[i], 1))
			v++;
		if (v == m->schema.nr)
			return err_set(err, EINVAL, "%.60s: the model of %s has no such variable",
				       q->set[i], m->schema.response);
	}
	return 0;
}

static double unknown_end(const struct variable *v, bool high)
{
	if (v->factor)
		return high ? (double)v->nr_levels - 1 : 0;
	return high ? v->high : v->low;
}

/*
 * Marks a variable that the profile does not contain as unknown; false if the variable does not
 * describe loads.
 */
static bool take_unknown(struct load_rows *rows, size_t variable, double *x)
{
	const struct variable *v = &rows->model->schema.variables[variable];
	size_t i = 0;

	if (fact_named(v->name) == FACT_UNKNOWN)
		return false;
	while (i < rows->nr_unknown && rows->unknown[i] != variable)
		i++;
	if (i == LOAD_UNKNOWN_MAX)
		return false;
	rows->unknown[i] = variable;
	rows->nr_unknown = i == rows->nr_unknown ? i + 1 : rows->nr_unknown;
	*x = unknown_end(v, false);
	return true;
}

/* Fills the model's variables for requests of the direction with that size. */
static int fill_row(const struct question *q, double size, struct load_rows *rows, double *x,
		    struct err *err)
{
	const struct model *m = q->model;

	for (size_t i = 0; i < m->schema.nr; i++) {
		const struct variable *v = &m->schema.variables[i];
		const char *given = set_value(v->name, q->set, q->nr_set);
		long level;

		if (!given) {
			x[i] = fact_value(q, v, size);
		} else if (v->factor) {
			level = variable_level(v, given);
			x[i] = level < 0 ? NAN : (double)level;
		} else if (!param_number(given, &x[i])) {
			x[i] = NAN;
		}
		if (isnan(x[i]) && (given || !take_unknown(rows, i, &x[i])))
			return err_set(err, given ? EINVAL : ENOKEY,
				       given ? "%s=%.40s: the model of %s knows no such value"
					     : "'%s' is not in the profile%.0s, and the model of "
					       "%s needs it",
				       v->name, given ? given : "", m->schema.response);
	}
	return 0;
}

static bool has_variable(const struct question *q, enum fact fact)
{
	for (size_t i = 0; i < q->model->schema.nr; i++) {
		const char *name = q->model->schema.variables[i].name;

		if (fact_named(name) == fact && !set_value(name, q->set, q->nr_set))
			return true;
	}
	return false;
}

/*
 * Gives the sizes from which the rows are made: a single one if no free variable of the model
 * depends on the size.
 */
static void sizes_of(const struct question *q, struct load_sizes *out)
{
	const struct load_facts *f = q->facts;
	bool one_size = has_variable(q, FACT_SIZE) || has_variable(q, FACT_SIZE_KB);
	bool own_size = has_variable(q, q->side ? FACT_WRITE_SIZE : FACT_READ_SIZE);

	if (one_size && !q->own)
		load_facts_all_sizes(f, out);
	else
		*out = f->sizes[q->side];
	if (out->nr && (one_size || own_size))
		return;
	out->nr = 1;
	out->at[0].share = 1;
	out->at[0].bytes = one_size && !q->own ? f->size_bytes
					       : own_or_all(f->side_bytes, q->side, f->size_bytes);
}

int load_rows_make(struct load_rows *rows, const struct model *m, const struct load_facts *f,
		   int side, bool own, const char *const *set, size_t nr_set, struct err *err)
{
	const struct question q = { m, f, side, set, nr_set, own };
	struct load_sizes sizes;
	int ret;

	sizes_of(&q, &sizes);
	*rows = (struct load_rows){ .model = m, .nr = sizes.nr };
	ret = check_set(&q, err);
	if (ret)
		return ret;
	rows->x = calloc(rows->nr * m->schema.nr + 1, sizeof(*rows->x));
	if (!rows->x)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < rows->nr; i++) {
		rows->share[i] = sizes.at[i].share;
		ret = fill_row(&q, sizes.at[i].bytes, rows, &rows->x[i * m->schema.nr], err);
		if (ret)
			return ret;
	}
	return 0;
}

void load_rows_release(struct load_rows *rows)
{
	free(rows->x);
	*rows = (struct load_rows){ 0 };
}

void load_rows_set(struct load_rows *rows, size_t v, double value)
{
	for (size_t i = 0; i < rows->nr; i++)
		rows->x[i * rows->model->schema.nr + v] = value;
}

static int load_rows_ask_once(const struct load_rows *rows, double level, double *out, double *low,
			      double *high)
{
	const struct model *m = rows->model;
	double at[LOAD_SIZES_MAX];
	int ret = model_predict(m, rows->x, rows->nr, at);

	if (ret)
		return ret;
	*out = 0;
	*low = *high = 0;
	for (size_t i = 0; i < rows->nr; i++) {
		double from, to;

		model_interval(m, level, rows->x + i * m->schema.nr, at[i], &from, &to);
		*out += rows->share[i] * at[i];
		*low += rows->share[i] * from;
		*high += rows->share[i] * to;
	}
	return 0;
}

/*
 * Sets each unknown variable to an end of its range: bit i of `ends` selects the end for
 * unknown[i].
 */
static void load_rows_at_ends(const struct load_rows *rows, unsigned int ends)
{
	const struct schema *s = &rows->model->schema;

	for (size_t u = 0; u < rows->nr_unknown; u++)
		for (size_t i = 0; i < rows->nr; i++)
			rows->x[i * s->nr + rows->unknown[u]] =
				unknown_end(&s->variables[rows->unknown[u]], ends >> u & 1);
}

/* Gives the mean over both ends of each unknown variable, and what contains all intervals. */
static int load_rows_ask_ends(const struct load_rows *rows, double level, double *out, double *low,
			      double *high)
{
	unsigned int nr = 1u << rows->nr_unknown;
	double sum = 0, least = INFINITY, most = -INFINITY;
	int ret = 0;

	for (unsigned int ends = 0; ends < nr; ends++) {
		load_rows_at_ends(rows, ends);
		ret = load_rows_ask_once(rows, level, out, low, high);
		if (ret)
			break;
		sum += *out;
		least = fmin(least, isnan(*low) ? *out : *low);
		most = fmax(most, isnan(*high) ? *out : *high);
	}
	load_rows_at_ends(rows, 0);
	*out = sum / nr;
	*low = least;
	*high = most;
	return ret;
}

int load_rows_ask(const struct load_rows *rows, double level, double *out, double *low,
		  double *high)
{
	int ret = rows->nr_unknown ? load_rows_ask_ends(rows, level, out, low, high)
				   : load_rows_ask_once(rows, level, out, low, high);

	/* A model without a logarithm does not know that times are not below 0. */
	if (!ret && *low < 0)
		*low = fmin(0, *out);
	return ret;
}

static bool is_size(enum fact fact)
{
	return fact == FACT_SIZE || fact == FACT_SIZE_KB || fact == FACT_READ_SIZE ||
	       fact == FACT_WRITE_SIZE;
}

/* Moves sizes that are outside the training range by no more than the slack onto its end. */
static void load_row_within_slack(const struct schema *s, double *row)
{
	for (size_t v = 0; v < s->nr; v++) {
		const struct variable *var = &s->variables[v];
		double slack = SIZE_SLACK * (var->high - var->low);

		if (var->factor || !is_size(fact_named(var->name)))
			continue;
		if (row[v] > var->high && row[v] <= var->high + slack)
			row[v] = var->high;
		if (row[v] < var->low && row[v] >= var->low - slack)
			row[v] = var->low;
	}
}

const char *load_rows_outside(const struct load_rows *rows)
{
	const struct schema *s = &rows->model->schema;
	const char *first = NULL;
	double row[DATASET_VARIABLES_MAX], share = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		struct reach_finding f;

		memcpy(row, rows->x + i * s->nr, s->nr * sizeof(*row));
		load_row_within_slack(s, row);
		f = model_look(rows->model, row);
		if (f.verdict == REACH_INSIDE)
			continue;
		share += rows->share[i];
		if (!first)
			first = f.variable ? f.variable->name : "the combination of its variables";
	}
	return share > OUTSIDE_SHARE ? first : NULL;
}

/*
 * Predicts the service time: at the smallest load that the model covers, unless the caller has set
 * the load.
 */
static int ask_unloaded(const struct model *m, const struct load_facts *f, int side, bool own,
			const char *const *set, size_t nr_set, double *out, struct err *err)
{
	struct load_rows rows;
	double low, high;
	int ret = load_rows_make(&rows, m, f, side, own, set, nr_set, err);

	if (ret)
		goto out;
	for (size_t v = 0; v < m->schema.nr; v++) {
		const struct variable *var = &m->schema.variables[v];

		if (!var->factor && fact_named(var->name) <= FACT_RATE &&
		    !load_model_is_set(m, v, set, nr_set))
			load_rows_set(&rows, v, var->low);
	}
	ret = load_rows_ask(&rows, 0, out, &low, &high);
out:
	load_rows_release(&rows);
	return ret;
}

int load_model_own(struct load_own *out, const struct model *m, const struct load_facts *own,
		   const struct load_facts *all, int side, const char *const *set, size_t nr_set,
		   struct err *err)
{
	/* The mix and the range are those of all loads on the target. */
	struct load_facts mine = *all;
	int ret;

	mine.sizes[side] = own->sizes[side];
	mine.side_bytes[side] = own->side_bytes[side];
	mine.side_sequential[side] = own->side_sequential[side];
	ret = ask_unloaded(m, all, side, false, set, nr_set, &out->all_s, err);
	if (ret)
		return ret;
	return ask_unloaded(m, &mine, side, true, set, nr_set, &out->own_s, err);
}

double load_own_factor(const struct load_own *o, double all_s)
{
	double changed = all_s + o->own_s - o->all_s;

	if (o->own_s == o->all_s || !(all_s > 0) || !(o->own_s > 0))
		return 1;
	/* A model that is not monotone in the load could make the sum too small, or negative. */
	return fmax(changed, fmin(all_s, o->own_s)) / all_s;
}

bool load_model_is_set(const struct model *m, size_t v, const char *const *set, size_t nr_set)
{
	return set_value(m->schema.variables[v].name, set, nr_set) != NULL;
}

bool load_model_is_busy(const struct model *m)
{
	for (size_t i = 0; i < m->schema.nr; i++)
		if (strstr(m->schema.variables[i].name, "think"))
			return false;
	return load_model_clients(m) >= 0;
}

int load_model_scaled(const struct model *m, const char *name, struct err *err)
{
	for (size_t i = 0; i < m->schema.nr; i++) {
		const struct variable *v = &m->schema.variables[i];
		enum fact fact = fact_named(v->name);

		if (name ? !strcmp(v->name, name) && !v->factor
			 : fact <= FACT_RATE && v->high > v->low)
			return (int)i;
	}
	return err_set(err, ENOTUNIQ,
		       "the model of %s has no number %.60s that says how much load "
		       "there is",
		       m->schema.response, name ? name : "such as clients, rate or depth");
}

void load_model_amount(const struct model *m, int v, double amount, char out[64])
{
	const char *name = m->schema.variables[v].name;

	switch (fact_named(name)) {
	case FACT_CLIENTS:
		snprintf(out, 64, "%.3g client%s", amount, amount == 1 ? "" : "s");
		break;
	case FACT_DEPTH:
		snprintf(out, 64, "%.3g request%s in flight", amount, amount == 1 ? "" : "s");
		break;
	case FACT_RATE:
		snprintf(out, 64, "%.4g requests/s", amount);
		break;
	default:
		snprintf(out, 64, "%.40s = %.4g", name, amount);
	}
}
