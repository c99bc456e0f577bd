// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A part that is busy for less than this share of the time is not reported as the limit.
 * docs/studies compares this value with no other.
 */
#define LIMITS_RATIO 0.8
#define DEFER_MOST_S 5.0 /* FLUSH_PENDING_TIMEOUT of Linux' block/blk-flush.c */

const char *const device_part_names[] = {
	"none",	       "operations per second", "bytes per second",
	"parallelism", "write-back cache",	"flushes"
};

int device_sim_init(struct device_sim *d, const struct device_model *m, uint64_t seed)
{
	*d = (struct device_sim){ .model = m };
	d->free_s = calloc(m->servers, sizeof(*d->free_s));
	d->ends = calloc(DEVICE_STREAMS, sizeof(*d->ends));
	d->begins_s = calloc(DEVICE_WAITERS, sizeof(*d->begins_s));
	d->done_s = calloc(DEVICE_WAITERS, sizeof(*d->done_s));
	if (!d->free_s || !d->ends || !d->begins_s || !d->done_s)
		return -ENOMEM;
	for (uint64_t i = 0; i < DEVICE_NR_TYPES; i++)
		rng_stream(&d->service[i], seed, i);
	rng_stream(&d->pause, seed, DEVICE_NR_TYPES);
	rng_stream(&d->overtake, seed, DEVICE_NR_TYPES + 1);
	rng_stream(&d->pass, seed, DEVICE_NR_TYPES + 2);
	d->ops.tokens = m->ops.burst;
	d->bytes.tokens = m->bytes.burst;
	d->flush_begin_s = d->flush_end_s = d->forced_s = -INFINITY;
	d->deferred_s = INFINITY;
	return 0;
}

void device_sim_release(struct device_sim *d)
{
	free(d->free_s);
	free(d->ends);
	free(d->begins_s);
	free(d->done_s);
	d->begins_s = d->done_s = NULL;
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
	if (!(sigma > 0))
		return 1;
	return exp(sigma * rng_normal(r) - sigma * sigma / 2);
}

static double device_pause(struct device_sim *d)
{
	const struct device_model *m = d->model;
	double draw, length;

	if (!(m->pause_ratio > 0))
		return 0;
	draw = rng_uniform(&d->pause);
	length = rng_exponential(&d->pause);
	return draw < m->pause_ratio ? length * m->pause_s : 0;
}

static double device_serve(struct device_sim *d, double at_s, double service_s)
{
	double end_s = device_server_begin(d, at_s) + service_s;

	d->busy_s += service_s;
	device_server_end(d, end_s);
	return end_s;
}

/* This struct is a request's place in the queue of the servers, in the order of arrival. */
struct device_place {
	double wait_s, head_s; /* until its service begins; until the next request's begins */
	size_t nr;	       /* earlier requests that wait */
};

/* Forgets the requests whose service has begun. */
static void device_wait_forget(struct device_sim *d, double at_s)
{
	while (d->nr_begins && d->begins_s[d->first_begin] <= at_s) {
		d->first_begin = (d->first_begin + 1) & (DEVICE_WAITERS - 1);
		d->nr_begins--;
	}
}

/*
 * Finds the place of a request that arrives at at_s, and remembers when its service begins. The
 * oldest waiting request is forgotten if the ring is full.
 */
static struct device_place device_wait(struct device_sim *d, double at_s, double begin_s)
{
	struct device_place p = { .wait_s = begin_s - at_s, .head_s = begin_s - at_s };
	size_t mask = DEVICE_WAITERS - 1;

	device_wait_forget(d, at_s);
	p.nr = d->nr_begins;
	if (p.nr && d->begins_s[d->first_begin] < begin_s)
		p.head_s = d->begins_s[d->first_begin] - at_s;
	if (d->nr_begins == DEVICE_WAITERS) {
		d->first_begin = (d->first_begin + 1) & mask;
		d->nr_begins--;
	}
	d->begins_s[(d->first_begin + d->nr_begins++) & mask] = begin_s;
	return p;
}

/*
 * Returns for how long a request waits that is overtaken by or overtakes others that wait. Only
 * requests in service are waited for in any case. ratio is the share of the wait behind waiting
 * requests that remains on average.
 */
static double device_overtake(struct device_sim *d, struct device_place p, double ratio)
{
	double sigma = d->model->wait_sigma, window = d->model->wait_window;
	double behind_s = ratio * (p.wait_s - p.head_s), moved_s = behind_s;

	if (!(sigma > 0))
		return p.head_s + behind_s;
	if (window > 0 && (double)p.nr > window)
		moved_s *= window / (double)p.nr;
	return p.head_s + behind_s +
	       moved_s * (exp(sigma * rng_normal(&d->overtake) - sigma * sigma / 2) - 1);
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

static double device_flush_service_s(struct device_sim *d)
{
	const struct device_model *m = d->model;
	double service_s = m->flush_s + m->flush_byte_s * (double)d->dirty_bytes;

	if (!d->dirty_bytes)
		service_s *= m->flush_clean_ratio;
	d->dirty_bytes = 0;
	return service_s * device_factor(d, DEVICE_FLUSH, m->sigma[DEVICE_WRITE]);
}

/*
 * Returns the end of the latest request that holds a flush back at at_s, or at_s if none does. Each
 * request that is under way does so with the probability wait_ratio, so that the number of requests
 * between the last one and the one that holds the flush back has a geometric distribution.
 */
static double device_flush_held(struct device_sim *d, double at_s)
{
	double ratio = d->model->flush_wait_ratio, drawn = rng_uniform(&d->pass), later, end_s;

	if (!(ratio > 0))
		return at_s;
	later = ratio < 1 ? floor(log1p(-drawn) / log1p(-ratio)) : 0;
	if (!(later < fmin((double)d->nr_done, DEVICE_WAITERS)))
		return at_s;
	end_s = d->done_s[(d->nr_done - 1 - (size_t)later) & (DEVICE_WAITERS - 1)];
	return fmax(at_s, end_s);
}

/*
 * Returns when at most flush_window of the requests that wait at at_s still wait. A flush that does
 * not wait for that may be held back by those that are under way.
 */
static double device_flush_passes(struct device_sim *d, double at_s)
{
	size_t passed = (size_t)d->model->flush_window, last;

	device_wait_forget(d, at_s);
	if (d->nr_begins <= passed)
		return device_flush_held(d, at_s);
	last = d->first_begin + d->nr_begins - 1 - passed;
	return d->begins_s[last & (DEVICE_WAITERS - 1)];
}

/* The flush that has begun joins the queue of the servers, or passes it. */
static void device_flush_serve(struct device_sim *d, double at_s)
{
	double service_s = d->flush_service_s, begin_s;

	d->draining = false;
	d->flush_busy_s += service_s;
	if (d->model->flush_window > 0) {
		d->flush_end_s = device_flush_passes(d, at_s) + service_s;
		return;
	}
	begin_s = device_serve(d, at_s, service_s) - service_s;
	d->flush_end_s =
		at_s + service_s +
		device_overtake(d, device_wait(d, at_s, begin_s), d->model->flush_wait_ratio);
}

/*
 * Returns true if a flush must wait until the data of forced writes are complete, as the block
 * layer has it.
 */
static bool device_flush_deferred(struct device_sim *d, double at_s)
{
	d->deferred_s = fmin(d->deferred_s, at_s);
	if (at_s < d->forced_s && at_s - d->deferred_s < DEFER_MOST_S)
		return true;
	d->deferred_s = INFINITY;
	return false;
}

/* Each flush waits for what the cache holds when it arrives, and is then served by itself. */
static bool device_flush_alone(struct device_sim *d, struct device_request *r, double *end_s)
{
	if (!r->drained && d->model->cache.bytes > 0 && d->drained_s > r->at_s) {
		r->drained = true;
		*end_s = d->drained_s;
		return false;
	}
	d->flush_service_s = device_flush_service_s(d);
	device_flush_serve(d, r->at_s);
	*end_s = d->flush_end_s;
	return true;
}

/*
 * A flush that finds another one under way waits for its end. Those that have waited are submitted
 * again at one and the same time: the first of them begins a flush, which the others share.
 *
 * A flush behind a cache is submitted again when the cache has drained. Until then it takes no
 * part in the queue of the servers, which serve other requests meanwhile.
 */
static bool device_flush(struct device_sim *d, struct device_request *r, double *end_s)
{
	double at_s = r->at_s;

	if (d->model->flush_alone)
		return device_flush_alone(d, r, end_s);
	if (!d->draining && !r->drained && at_s >= d->flush_end_s) {
		if (device_flush_deferred(d, at_s)) {
			*end_s = fmin(d->forced_s, d->deferred_s + DEFER_MOST_S);
			return false;
		}
		d->flush_service_s = device_flush_service_s(d);
		d->flush_begin_s = at_s;
		d->draining = d->model->cache.bytes > 0 && d->drained_s > at_s;
		if (d->draining)
			d->flush_end_s = d->drained_s;
		else
			device_flush_serve(d, at_s);
	} else if (d->draining && r->drained) {
		device_flush_serve(d, at_s);
	}
	*end_s = d->flush_end_s;
	if (d->draining) {
		r->drained = at_s <= d->flush_begin_s;
		return false;
	}
	return r->drained || at_s <= d->flush_begin_s;
}

/* Returns the time at which a request has passed both limits. */
static double device_limits_pass(struct device_sim *d, const struct device_request *r, double units)
{
	const struct device_model *m = d->model;
	bool write = r->type == DEVICE_WRITE;
	double at_s = device_bucket_pass(&d->ops, &m->ops, r->at_s,
					 units * (write ? m->ops.write_ratio : 1));

	return device_bucket_pass(&d->bytes, &m->bytes, at_s,
				  r->bytes * (write ? m->bytes.write_ratio : 1));
}

/*
 * Serves one operation of a request. more_s is what it takes beside its base and its bytes. Returns
 * its end.
 */
static double device_operation(struct device_sim *d, const struct device_request *r, double more_s)
{
	const struct device_model *m = d->model;
	int side = r->type == DEVICE_WRITE;
	double at_s = device_limits_pass(d, r, 1), service_s, begin_s;

	service_s = m->base_s[side] + m->byte_s[side] * r->bytes + more_s;
	service_s *= device_factor(d, r->type, m->sigma[side]);
	service_s += device_pause(d);
	begin_s = device_serve(d, at_s, service_s) - service_s;
	return r->at_s + device_overtake(d, device_wait(d, r->at_s, begin_s), 1) + service_s +
	       m->latency_s[side] + m->latency_byte_s[side] * r->bytes;
}

/* Returns the end of the last operation of a request. */
static double device_data(struct device_sim *d, const struct device_request *r)
{
	const struct device_model *m = d->model;
	struct device_request part = *r;
	int side = r->type == DEVICE_WRITE;
	double unit = m->unit_bytes > 0 ? m->unit_bytes : r->bytes;
	double more_s = device_follows(d, r) ? 0 : m->seek_s[side], end_s = r->at_s;

	d->dirty_bytes += side ? r->bytes : 0;
	if (side && m->cache.bytes > 0 && !r->durable)
		return device_cache_write(
			d, device_limits_pass(d, r, fmax(1, ceil(r->bytes / unit))), r);
	more_s += side && r->durable ? m->durable_s : 0;
	for (double left = r->bytes;; left -= unit, more_s = 0) {
		part.bytes = (uint32_t)fmin(left, unit);
		end_s = fmax(end_s, device_operation(d, &part, more_s));
		if (!(left > unit))
			return end_s;
	}
}

bool device_sim_submit(struct device_sim *d, struct device_request *r, double *end_s)
{
	bool done = true;

	if (r->type == DEVICE_FLUSH || r->written)
		done = device_flush(d, r, end_s);
	else
		d->done_s[d->nr_done++ & (DEVICE_WAITERS - 1)] = *end_s = device_data(d, r);
	if (r->type == DEVICE_WRITE && !r->written) {
		bool flushes = r->durable && d->model->durable_flush;

		if (flushes || r->preflush)
			d->forced_s = fmax(d->forced_s, *end_s);
		r->written = flushes;
		done = !flushes;
	}
	d->nr += done;
	d->end_s = *end_s > d->end_s ? *end_s : d->end_s;
	return done;
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
	/* Flushes that neither wait for each other nor share are under way on all servers. */
	ratio[DEVICE_PART_FLUSHES] = d->flush_busy_s / (m->flush_alone ? m->servers : 1) / whole_s;
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
