// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/load_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/params.h"

enum fact {
	FACT_CLIENTS,
	FACT_DEPTH,
	FACT_RATE,
	FACT_SIZE,
	FACT_SIZE_KB,
	FACT_READ,
	FACT_RANGE,
	FACT_PATTERN,
	FACT_UNKNOWN,
};

static enum fact fact_named(const char *name)
{
	static const struct {
		const char *name;
		enum fact fact;
	} names[] = {
		{ "clients", FACT_CLIENTS },	{ "threads", FACT_CLIENTS },
		{ "numjobs", FACT_CLIENTS },	{ "jobs", FACT_CLIENTS },
		{ "iodepth", FACT_DEPTH },	{ "depth", FACT_DEPTH },
		{ "queue_depth", FACT_DEPTH },	{ "rate", FACT_RATE },
		{ "rate_per_s", FACT_RATE },	{ "rate_iops", FACT_RATE },
		{ "size", FACT_SIZE },		{ "request_size", FACT_SIZE },
		{ "block_size", FACT_SIZE },	{ "bs", FACT_SIZE },
		{ "request_kb", FACT_SIZE_KB }, { "size_kb", FACT_SIZE_KB },
		{ "read", FACT_READ },		{ "mix", FACT_READ },
		{ "rwmixread", FACT_READ },	{ "read_share", FACT_READ },
		{ "file_set", FACT_RANGE },	{ "file_set_size", FACT_RANGE },
		{ "footprint", FACT_RANGE },	{ "pattern", FACT_PATTERN },
		{ "rw", FACT_PATTERN },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].fact;
	return FACT_UNKNOWN;
}

/* By the sum of bytes, which profiles of others may lack. */
static double mean_bytes(uint64_t bytes, double requests, const struct direction_profile *d)
{
	if (!(requests > 0))
		return NAN;
	return bytes ? (double)bytes / requests : d->size_mean_bytes;
}

void load_facts_of(const struct profile *p, struct load_facts *out)
{
	double reads = (double)p->requests[OPERATION_READ];
	double writes = (double)p->requests[OPERATION_WRITE], all = reads + writes;
	double range = (double)p->locality.distribution.nr_regions *
		       (double)p->locality.distribution.region_bytes;

	out->clients = p->closed.clients_mean;
	out->in_flight = p->closed.in_flight_mean;
	out->rate_per_s = all / (p->end_s - p->begin_s);
	out->read_ratio = all > 0 ? reads / all : NAN;
	out->side_bytes[0] = mean_bytes(p->bytes[OPERATION_READ], reads, &p->read);
	out->side_bytes[1] = mean_bytes(p->bytes[OPERATION_WRITE], writes, &p->write);
	out->size_bytes = ((reads > 0 ? reads * out->side_bytes[0] : 0) +
			   (writes > 0 ? writes * out->side_bytes[1] : 0)) /
			  all;
	out->sequential_ratio = p->all_sequential_ratio;
	/* where each direction is in order by itself, neighbours of both are not */
	if (reads > 0 && isfinite(p->read.sequential_ratio))
		out->sequential_ratio = p->read.sequential_ratio * reads / all +
					(writes > 0 ? p->write.sequential_ratio * writes / all : 0);
	out->range_bytes = range > 0 ? range : p->locality.footprint_bytes;
	out->think_s = p->closed.think_time_mean_s;
	out->side_sequential[0] = p->read.sequential_ratio;
	out->side_sequential[1] = p->write.sequential_ratio;
}

struct load_facts load_facts_scaled(const struct load_facts *f, double factor)
{
	struct load_facts out = *f;

	out.clients *= factor;
	out.in_flight *= factor;
	out.rate_per_s *= factor;
	return out;
}

static double side_rate(const struct load_facts *f, int side)
{
	return f->rate_per_s * (side ? 1 - f->read_ratio : f->read_ratio);
}

/* Sizes and patterns of one direction, over the loads that have it. */
static void join_side(const struct load_facts *f, size_t nr, int side, struct load_facts *out)
{
	double rate = 0, bytes = 0, sequential = 0;

	for (size_t i = 0; i < nr; i++) {
		double r = side_rate(&f[i], side);

		if (!(r > 0))
			continue;
		rate += r;
		bytes += r * f[i].side_bytes[side];
		sequential +=
			r * (isfinite(f[i].side_sequential[side]) ? f[i].side_sequential[side] : 0);
	}
	out->side_bytes[side] = bytes / rate;
	out->side_sequential[side] = sequential / rate;
}

void load_facts_join(const struct load_facts *f, size_t nr, struct load_facts *out)
{
	struct load_facts sum = { 0 };

	for (size_t i = 0; i < nr; i++) {
		sum.clients += f[i].clients;
		sum.in_flight += f[i].in_flight;
		sum.rate_per_s += f[i].rate_per_s;
		sum.read_ratio += f[i].read_ratio * f[i].rate_per_s;
		sum.size_bytes += f[i].size_bytes * f[i].rate_per_s;
		sum.sequential_ratio += f[i].sequential_ratio * f[i].rate_per_s;
		sum.range_bytes += f[i].range_bytes;
		sum.think_s += f[i].think_s * f[i].clients;
	}
	sum.think_s /= sum.clients;
	sum.read_ratio /= sum.rate_per_s;
	sum.size_bytes /= sum.rate_per_s;
	sum.sequential_ratio /= sum.rate_per_s;
	join_side(f, nr, 0, &sum);
	join_side(f, nr, 1, &sum);
	*out = sum;
}

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

static double fact_value(const struct variable *v, const struct load_facts *f)
{
	double clients = f->clients >= 1 ? f->clients : fmax(1, f->in_flight);

	switch (fact_named(v->name)) {
	case FACT_CLIENTS:
		return clients;
	case FACT_DEPTH:
		return fmax(1, f->in_flight / clients);
	case FACT_RATE:
		return f->rate_per_s;
	case FACT_SIZE:
		return f->size_bytes;
	case FACT_SIZE_KB:
		return f->size_bytes / 1024;
	case FACT_READ:
		return f->read_ratio * (v->high > 1 ? 100 : 1);
	case FACT_RANGE:
		return f->range_bytes;
	case FACT_PATTERN:
		return pattern_value(v, f->sequential_ratio);
	default:
		return NAN;
	}
}

/* The value that the caller set, or NULL. */
static const char *set_value(const char *name, const char *const *set, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(set[i], name, strlen(name)) && set[i][strlen(name)] == '=')
			return set[i] + strlen(name) + 1;
	return NULL;
}

static int check_set(const struct model *m, const char *const *set, size_t nr, struct err *err)
{
	for (size_t i = 0; i < nr; i++) {
		size_t v = 0;

		while (v < m->schema.nr && !set_value(m->schema.variables[v].name, &set[i], 1))
			v++;
		if (v == m->schema.nr)
			return err_set(err, EINVAL,
				       "--set %.60s: the model of %s has no such variable", set[i],
				       m->schema.response);
	}
	return 0;
}

int load_model_row(const struct model *m, const struct load_facts *f, const char *const *set,
		   size_t nr_set, double *x, struct err *err)
{
	int status = check_set(m, set, nr_set, err);

	for (size_t i = 0; i < m->schema.nr && !status; i++) {
		const struct variable *v = &m->schema.variables[i];
		const char *given = set_value(v->name, set, nr_set);
		long level;

		if (!given) {
			x[i] = fact_value(v, f);
		} else if (!v->factor && !param_number(given, &x[i])) {
			x[i] = NAN;
		} else if (v->factor) {
			level = variable_level(v, given);
			x[i] = level < 0 ? NAN : (double)level;
		}
		if (isnan(x[i]))
			status = err_set(
				err, EINVAL,
				given ? "--set %s=%.40s: the model of %s knows no such value"
				      : "'%s' is not in the profile%.0s; --set it for the "
					"model of %s",
				v->name, given ? given : "", m->schema.response);
	}
	return status;
}

int load_model_clients(const struct model *m)
{
	for (size_t i = 0; i < m->schema.nr; i++)
		if (fact_named(m->schema.variables[i].name) == FACT_CLIENTS &&
		    !m->schema.variables[i].factor)
			return (int)i;
	return -1;
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
	return err_set(err, EINVAL,
		       "the model of %s has no number %.60s that says how much load "
		       "there is; --load names it",
		       m->schema.response, name ? name : "such as clients, rate or depth");
}

const char *load_model_outside(const struct model *m, const double *x)
{
	for (size_t i = 0; i < m->schema.nr; i++)
		if (variable_outside(&m->schema.variables[i], x[i]))
			return m->schema.variables[i].name;
	return NULL;
}
