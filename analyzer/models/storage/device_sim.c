// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device_sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part that is busy for less of the time than this is not reported as the limit. */
#define LIMITS_RATIO 0.8

const char *const device_part_names[] = {
	"none",	       "operations per second", "bytes per second",
	"parallelism", "write-back cache",	"flushes"
};

int device_sim_init(struct device_sim *d, const struct device_model *m, uint64_t seed)
{
	*d = (struct device_sim){ .model = m };
	d->free_s = calloc(m->servers, sizeof(*d->free_s));
	d->ends = calloc(DEVICE_STREAMS, sizeof(*d->ends));
	if (!d->free_s || !d->ends)
		return -ENOMEM;
	for (uint64_t i = 0; i < DEVICE_NR_TYPES; i++)
		rng_stream(&d->service[i], seed, i);
	rng_stream(&d->pause, seed, DEVICE_NR_TYPES);
	rng_stream(&d->overtake, seed, DEVICE_NR_TYPES + 1);
	d->ops.tokens = m->ops.burst;
	d->bytes.tokens = m->bytes.burst;
	d->running.end_s = d->pending.end_s = -INFINITY;
	return 0;
}

void device_sim_release(struct device_sim *d)
{
	free(d->free_s);
	free(d->ends);
	d->free_s = NULL;
	d->ends = NULL;
}

/*
 * Returns the time at which a request passes a limit. The request waits until the bucket holds its
 * tokens or, if the bucket is too small for them, until the bucket is full. Then it takes its
 * tokens, which may leave the bucket in debt.
 */
static double device_bucket_pass(struct device_bucket *b, const struct device_limit *l, double at_s,
				 double cost)
{
	double need = cost < l->burst ? cost : l->burst, tokens, wait_s;

	if (!(l->rate_per_s > 0))
		return at_s;
	at_s = at_s > b->at_s ? at_s : b->at_s;
	tokens = b->tokens + (at_s - b->at_s) * l->rate_per_s;
	tokens = tokens < l->burst ? tokens : l->burst;
	wait_s = tokens < need ? (need - tokens) / l->rate_per_s : 0;
	b->at_s = at_s + wait_s;
	b->tokens = (wait_s > 0 ? need : tokens) - cost;
	b->used += cost;
	return b->at_s;
}

/*
 * Gives a request the server that becomes free first, and returns the time at which service
 * begins. The caller must then set the end of the service.
 */
static double device_server_begin(const struct device_sim *d, double at_s)
{
	return d->free_s[0] > at_s ? d->free_s[0] : at_s;
}

/* Records that the first server of the heap is free again at end_s. */
static void device_server_end(struct device_sim *d, double end_s)
{
	size_t nr = d->model->servers, i = 0, child;

	while ((child = 2 * i + 1) < nr) {
		if (child + 1 < nr && d->free_s[child + 1] < d->free_s[child])
			child++;
		if (d->free_s[child] >= end_s)
			break;
		d->free_s[i] = d->free_s[child];
		i = child;
	}
	d->free_s[i] = end_s;
}

/* Requests of the same offset share one slot of the table, so that one lookup is enough. */
static size_t device_ends_place(uint64_t offset)
{
	return (size_t)((offset >> 9) * 0x9e3779b97f4a7c15ull >> 54) & (DEVICE_STREAMS - 1);
}

/*
 * Returns true if a request follows an earlier one, and remembers the offset at which the request
 * ends.
 */
static bool device_follows(struct device_sim *d, const struct device_request *r)
{
	uint64_t *at = &d->ends[device_ends_place(r->offset)], end = r->offset + r->bytes;
	bool follows = *at == r->offset + 1;

	if (follows)
		*at = 0;
	d->ends[device_ends_place(end)] = end + 1;
	return follows;
}

/* Draws the random factor, whose mean is 1. */
static double device_factor(struct device_sim *d, enum device_type type, double sigma)
{
	struct rng *r = &d->service[type];

	if (d->model->law == DEVICE_EXPONENTIAL)
		return rng_exponential(r);
	if (!(sigma > 0)) {
		rng_u64(r); /* the streams of other types must not depend on this one */
		return 1;
	}
	return exp(sigma * rng_normal(r) - sigma * sigma / 2);
}

static double device_pause(struct device_sim *d)
{
	const struct device_model *m = d->model;
	double draw = rng_uniform(&d->pause), length = rng_exponential(&d->pause);

	return draw < m->pause_ratio ? length * m->pause_s : 0;
}

static double device_serve(struct device_sim *d, double at_s, double service_s)
{
	double end_s = device_server_begin(d, at_s) + service_s;

	d->busy_s += service_s;
	device_server_end(d, end_s);
	return end_s;
}

/*
 * Returns the completion time of a request that was overtaken, or has overtaken others, while it
 * waited.
 */
static double device_overtake(struct device_sim *d, double arrived_s, double service_s,
			      double end_s)
{
	double sigma = d->model->wait_sigma, wait_s = end_s - service_s - arrived_s;

	if (!(sigma > 0))
		return end_s;
	return arrived_s + service_s +
	       wait_s * exp(sigma * rng_normal(&d->overtake) - sigma * sigma / 2);
}

/*
 * Returns the time at which a write is in the cache. Writes wait, in order, until the draining has
 * made room for them.
 */
static double device_cache_write(struct device_sim *d, double at_s, const struct device_request *r)
{
	const struct device_cache *c = &d->model->cache;
	double room = c->bytes > r->bytes ? c->bytes : r->bytes, begin_s, from_s;

	/* The fill level at time t is (drained_s - t) x rate, as long as this is above 0. */
	from_s = d->drained_s - (room - r->bytes) / c->drain_bytes_per_s;
	begin_s = at_s > d->admitted_s ? at_s : d->admitted_s;
	begin_s = begin_s > from_s ? begin_s : from_s;
	d->cache_wait_s +=
		begin_s > at_s ? begin_s - (at_s > d->admitted_s ? at_s : d->admitted_s) : 0;
	d->admitted_s = begin_s;
	d->drained_s =
		(d->drained_s > begin_s ? d->drained_s : begin_s) + r->bytes / c->drain_bytes_per_s;
	return begin_s +
	       (c->base_s + c->byte_s * r->bytes) *
		       device_factor(d, DEVICE_WRITE, d->model->sigma[DEVICE_WRITE]) +
	       device_pause(d);
}

/* Returns the end of a flush that begins at at_s at the earliest. */
static double device_flush_at(struct device_sim *d, double at_s)
{
	const struct device_model *m = d->model;
	double service_s = m->flush_s * device_factor(d, DEVICE_FLUSH, m->sigma[DEVICE_WRITE]);
	double from_s = m->cache.bytes > 0 && d->drained_s > at_s ? d->drained_s : at_s;

	d->flush_busy_s += service_s;
	return device_serve(d, from_s, service_s);
}

static double device_flush(struct device_sim *d, double at_s)
{
	if (d->has_pending && at_s >= d->running.end_s) {
		d->running = d->pending;
		d->has_pending = false;
	}
	if (at_s >= d->running.end_s) {
		d->running.begin_s = at_s;
		d->running.end_s = device_flush_at(d, at_s);
		return d->running.end_s;
	}
	if (!d->has_pending) {
		d->pending.begin_s = d->running.end_s;
		d->pending.end_s = device_flush_at(d, d->running.end_s);
		d->has_pending = true;
	}
	return d->pending.end_s;
}

static double device_data(struct device_sim *d, const struct device_request *r)
{
	const struct device_model *m = d->model;
	int side = r->type == DEVICE_WRITE;
	bool follows = device_follows(d, r);
	double at_s = r->at_s, service_s;

	at_s = device_bucket_pass(&d->ops, &m->ops, at_s, side ? m->ops.write_ratio : 1);
	at_s = device_bucket_pass(&d->bytes, &m->bytes, at_s,
				  r->bytes * (side ? m->bytes.write_ratio : 1));
	if (side && m->cache.bytes > 0 && !r->durable)
		return device_cache_write(d, at_s, r);
	service_s = m->base_s[side] + m->byte_s[side] * r->bytes;
	service_s += follows ? 0 : m->seek_s[side];
	service_s += side && r->durable ? m->durable_s : 0;
	service_s *= device_factor(d, r->type, m->sigma[side]);
	service_s += device_pause(d);
	return m->latency_s[side] +
	       device_overtake(d, r->at_s, service_s, device_serve(d, at_s, service_s));
}

double device_sim_submit(struct device_sim *d, const struct device_request *r)
{
	double end_s = r->type == DEVICE_FLUSH ? device_flush(d, r->at_s) : device_data(d, r);

	d->nr++;
	d->end_s = end_s > d->end_s ? end_s : d->end_s;
	return end_s;
}

void device_sim_busy(const struct device_sim *d, double ratio[DEVICE_NR_PARTS])
{
	const struct device_model *m = d->model;
	double whole_s = d->end_s > 0 ? d->end_s : 1;

	memset(ratio, 0, DEVICE_NR_PARTS * sizeof(*ratio));
	if (m->ops.rate_per_s > 0)
		ratio[DEVICE_PART_OPERATIONS] = d->ops.used / m->ops.rate_per_s / whole_s;
	if (m->bytes.rate_per_s > 0)
		ratio[DEVICE_PART_BYTES] = d->bytes.used / m->bytes.rate_per_s / whole_s;
	ratio[DEVICE_PART_SERVERS] = d->busy_s / m->servers / whole_s;
	ratio[DEVICE_PART_CACHE] = d->cache_wait_s / whole_s;
	ratio[DEVICE_PART_FLUSHES] = d->flush_busy_s / whole_s;
	for (int i = 0; i < DEVICE_NR_PARTS; i++)
		ratio[i] = ratio[i] < 1 ? ratio[i] : 1;
}

enum device_part device_sim_limit(const struct device_sim *d)
{
	double ratio[DEVICE_NR_PARTS];
	enum device_part most = DEVICE_PART_NONE;

	device_sim_busy(d, ratio);
	for (int i = 1; i < DEVICE_NR_PARTS; i++)
		if (ratio[i] > ratio[most])
			most = (enum device_part)i;
	return ratio[most] >= LIMITS_RATIO ? most : DEVICE_PART_NONE;
}
