// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/capacity/capacity_device.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/storage/device/device_load.h"

/*
 * Each throughput is simulated with this many requests, and with at least PER_CLIENT of each
 * client. The first fifth warms up.
 */
#define REQUESTS   20000
#define PER_CLIENT 5
/* Sizes are this factor apart; capacity.h interpolates between them. */
#define SIZE_FACTOR 4
#define BYTES_MOST  1073741824.0 /* larger requests are asked of no capacity */
/* Half the width of a 90 % interval of a normal distribution is this many standard deviations. */
#define HALF_SIGMAS 1.6449

/* This struct is a storage that is asked for response times of one size and direction. */
struct capacity_source {
	const struct device_model *device; /* or the predictor */
	struct predictor *predictor;
	double low_bytes, high_bytes, most_clients, threads;
	struct capacity_limits *limits;
};

/*
 * This struct is the answer of the device to requests of one size and direction with a fixed number
 * under way.
 */
struct capacity_reply {
	double per_s, relative_error;
	double at_s; /* the time that an objective is about */
};

/* Returns the device's point of an objective, or -1. */
static int capacity_device_point(const char *point)
{
	for (int at = DEVICE_MEAN; *point && device_point_names[at]; at++)
		if (!strcmp(device_point_names[at], point))
			return at;
	return *point ? -1 : DEVICE_MEAN;
}

static int capacity_ask_device(const struct device_model *m, uint64_t bytes, int side,
			       double clients, const char *point, struct capacity_reply *out)
{
	struct device_load load = { .clients = (unsigned int)clients,
				    .read_ratio = side == DEVICE_READ,
				    .bytes = { (double)bytes, (double)bytes } };
	struct device_times times = { 0 };
	int at = capacity_device_point(point), ret;

	device_load_init(&load);
	ret = device_load_run(&load, m, (uint64_t)fmax(REQUESTS, PER_CLIENT * clients), 1, &times);
	if (!ret)
		*out = (struct capacity_reply){ device_times_rate(&times, (enum device_type)side),
						m->errors[side][DEVICE_MEAN].log_half / HALF_SIGMAS,
						device_times_at(&times, (enum device_type)side,
								(enum device_point)at) };
	device_times_release(&times);
	return ret;
}

/*
 * Asks models. By Little's law, clients that never think get clients / (mean time) requests per
 * second.
 */
static int capacity_ask_models(const struct capacity_source *s, uint64_t bytes, int side,
			       double clients, const char *point, struct capacity_reply *out,
			       struct err *err)
{
	struct load_facts f = { .clients = fmin(clients, s->threads),
				.in_flight = clients,
				.concurrency = clients,
				.rate_per_s = NAN,
				.read_ratio = !side,
				.size_bytes = (double)bytes,
				.range_bytes = NAN,
				.flush_s = NAN,
				.given_think_s = NAN,
				.side_bytes = { (double)bytes, (double)bytes } };
	struct predictor_ask ask = { .point = "", .sides = { !side, side } };
	struct predicted mean, at;
	double half;
	int ret;

	load_facts_set_size(&f, side, (double)bytes);
	ret = predictor_ask(s->predictor, &ask, &f, 1, &mean, NULL, err);
	if (ret)
		return ret;
	at = mean;
	ask.point = point;
	if (*point)
		ret = predictor_ask(s->predictor, &ask, &f, 1, &at, NULL, err);
	if (ret)
		return ret;
	if (!(mean.s[side] > 0) || isnan(at.s[side]))
		return err_set(err, EINVAL, "no model of the %s of %ss is given",
			       *point ? point : "mean", side ? "write" : "read");
	half = log(mean.high[side] / mean.low[side]) / 2;
	*out = (struct capacity_reply){ clients / mean.s[side], half / HALF_SIGMAS, at.s[side] };
	return 0;
}

static int capacity_ask(const struct capacity_source *s, uint64_t bytes, int side, double clients,
			const char *point, struct capacity_reply *out, struct err *err)
{
	return s->device ? capacity_ask_device(s->device, bytes, side, clients, point, out)
			 : capacity_ask_models(s, bytes, side, clients, point, out, err);
}

/*
 * Finds the most requests under way with which an objective holds, by bisection. Returns 1 where a
 * single request breaks it.
 */
static int capacity_limit(const struct capacity_source *s, uint64_t bytes,
			  const struct headroom_objective *o, double *clients, struct err *err)
{
	double holds = 0, breaks = *clients + 1;
	struct capacity_reply reply;

	while (breaks - holds > 1) {
		double at = breaks > *clients ? *clients : floor((holds + breaks) / 2);
		int ret = capacity_ask(s, bytes, o->side, at, o->point, &reply, err);

		if (ret)
			return ret;
		*(reply.at_s <= o->limit_s ? &holds : &breaks) = at;
	}
	*clients = holds;
	return holds < 1;
}

/* Adds the capacity of a size and direction. Returns 1 if a single request breaks an objective. */
static int capacity_source_add(struct capacity *c, const struct capacity_source *s, uint64_t bytes,
			       int side, struct err *err)
{
	struct capacity_limits *limits = s->limits;
	double clients = s->most_clients;
	struct capacity_reply reply;
	int ret;

	for (size_t i = 0; i < limits->nr; i++) {
		if (limits->objectives[i].side != side)
			continue;
		ret = capacity_limit(s, bytes, &limits->objectives[i], &clients, err);
		if (ret > 0) {
			limits->broken_objective = i;
			limits->broken_bytes = bytes;
		}
		if (ret)
			return ret;
	}
	ret = capacity_ask(s, bytes, side, clients, "", &reply, err);
	return ret ? ret : capacity_add(c, bytes, !side, reply.per_s, reply.relative_error, err);
}

/* Narrows the sizes to those that the caller asks for, as far as they were measured. */
static void capacity_source_narrow(struct capacity_source *s)
{
	double low = s->low_bytes, high = s->high_bytes;

	if (!(s->limits->high_bytes > 0))
		return;
	s->low_bytes = fmin(fmax(s->limits->low_bytes, low), high);
	s->high_bytes = fmin(fmax(s->limits->high_bytes, low), high);
}

/*
 * Ends the sizes where a single request breaks an objective, because larger requests take longer.
 * The measurements of this size are dropped. Returns 1 if no capacity is left.
 */
static int capacity_source_end(struct capacity *c, const struct capacity_source *s, size_t nr,
			       uint64_t bytes)
{
	struct capacity_limits *limits = s->limits;

	c->nr_samples = nr;
	if (nr && !(limits->high_bytes > 0)) {
		limits->left_out_bytes = bytes;
		return 0;
	}
	limits->broken = true;
	return 1;
}

static int capacity_of_source(struct capacity *c, struct capacity_source *s, struct err *err)
{
	capacity_source_narrow(s);
	for (double bytes = s->low_bytes;; bytes = fmin(bytes * SIZE_FACTOR, s->high_bytes)) {
		size_t nr = c->nr_samples;

		for (int side = 0; side < 2; side++) {
			int ret = capacity_source_add(c, s, (uint64_t)bytes, side, err);

			if (ret > 0)
				return capacity_source_end(c, s, nr, (uint64_t)bytes);
			if (ret)
				return ret;
		}
		if (bytes >= s->high_bytes)
			return 0;
	}
}

int capacity_of_device(struct capacity *c, const struct device_model *m,
		       struct capacity_limits *limits, struct err *err)
{
	const struct device_domain *d = &m->domain;
	struct capacity_source s = {
		.device = m,
		.low_bytes = fmax(d->low_bytes[0], d->low_bytes[1]),
		.high_bytes = fmin(fmin(d->high_bytes[0], d->high_bytes[1]), BYTES_MOST),
		.most_clients = floor(fmin(fmax(1, d->concurrency), DEVICE_CLIENTS_MAX)),
		.limits = limits
	};

	if (!d->has[DEVICE_READ] || !d->has[DEVICE_WRITE] ||
	    !(s.low_bytes >= 1 && s.low_bytes <= s.high_bytes))
		return err_set(err, EINVAL,
			       "the campaign of the device measured no reads and writes of the "
			       "same size, which a capacity needs");
	for (size_t i = 0; i < limits->nr; i++)
		if (capacity_device_point(limits->objectives[i].point) < 0)
			return err_set(
				err, EINVAL,
				"objectives: a simulated device tells mean, p50, p95 and p99, "
				"and no %s",
				limits->objectives[i].point);
	return capacity_of_source(c, &s, err);
}

/*
 * Refuses a model of which the caller has set what a capacity varies: a time of other clients or
 * sizes than those that it is asked for is no throughput.
 */
static int capacity_model_check(const struct predictor *p, const struct model *m,
				const int varied[3], struct err *err)
{
	for (int i = 0; i < 3; i++)
		if (varied[i] >= 0 && load_model_is_set(m, (size_t)varied[i], p->set, p->nr_set))
			return err_set(err, EINVAL,
				       "%s: a capacity varies it, over all that was measured",
				       m->schema.variables[varied[i]].name);
	return 0;
}

/* Narrows the sizes and the requests under way to those that the model of a response knows. */
static int capacity_model_range(struct capacity_source *s, const char *response, struct err *err)
{
	const struct model *m;
	double unit_bytes, threads = 1, depth = 1;
	int ret = predictor_model(s->predictor, response, &m, err), size, clients, deep;

	if (ret)
		return ret;
	if (!m)
		return err_set(err, EINVAL,
			       "a capacity needs models of read_s and write_s; there "
			       "is none of %s",
			       response);
	size = load_model_size(m, &unit_bytes);
	clients = load_model_clients(m);
	deep = load_model_depth(m);
	if (size < 0 || (clients < 0 && deep < 0))
		return err_set(err, EINVAL,
			       "the model of %s has no variable of %s, which a capacity needs",
			       response, size < 0 ? "sizes" : "clients or depth");
	ret = capacity_model_check(s->predictor, m, (int[]){ size, clients, deep }, err);
	if (ret)
		return ret;
	if (clients >= 0)
		threads = m->schema.variables[clients].high;
	if (deep >= 0)
		depth = m->schema.variables[deep].high;
	s->low_bytes = fmax(s->low_bytes, unit_bytes * m->schema.variables[size].low);
	s->high_bytes = fmin(s->high_bytes, unit_bytes * m->schema.variables[size].high);
	s->threads = fmin(s->threads, clients < 0 ? INFINITY : floor(threads));
	s->most_clients = fmin(s->most_clients, floor(threads * depth));
	return 0;
}

/* Narrows the sizes and the requests under way to those that a calibrated net knows. */
static void capacity_narrow(struct capacity_source *s, const struct storage_range *size,
			    const struct storage_range *clients)
{
	s->low_bytes = fmax(s->low_bytes, size->low);
	s->high_bytes = fmin(s->high_bytes, size->high);
	s->most_clients = fmin(s->most_clients, floor(clients->high));
}

static void capacity_net_range(struct capacity_source *s, const struct storage_model *net)
{
	for (int c = 0; c < STORAGE_NR_CLASSES && net->kind < STORAGE_MIXED; c++)
		if (net->classes[c].present)
			capacity_narrow(s, &net->classes[c].size, &net->classes[c].clients);
	for (int side = 0; side < 2 && net->kind >= STORAGE_MIXED; side++)
		capacity_narrow(s, &net->mix.size[side], &net->mix.clients);
}

int capacity_of_models(struct capacity *c, struct predictor *p, struct capacity_limits *limits,
		       struct err *err)
{
	struct capacity_source s = { .predictor = p,
				     .low_bytes = 1,
				     .high_bytes = BYTES_MOST,
				     .most_clients = INFINITY,
				     .threads = INFINITY,
				     .limits = limits };
	int ret = 0;

	if (p->net)
		capacity_net_range(&s, p->net);
	for (int side = 0; side < 2 && !p->net && !ret; side++)
		ret = capacity_model_range(&s, side ? "write_s" : "read_s", err);
	if (ret)
		return ret;
	if (!(s.low_bytes <= s.high_bytes) || !(s.most_clients >= 1))
		return err_set(err, EINVAL,
			       "the models of reads and of writes were measured at no common "
			       "size");
	return capacity_of_source(c, &s, err);
}
