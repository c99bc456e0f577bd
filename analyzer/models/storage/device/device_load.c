// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/sim/eventq.h"
#include "base/memory/array.h"

#define WARM_UP_RATIO 0.2
#define NO_SLOT	      UINT32_MAX
#define ARRIVAL	      UINT32_C(0x7fffffff) /* the event of an open load's next arrival */
#define SECTOR	      512u
#define RANGE_BYTES   (1024.0 * 1024 * 1024)
/* 570 years. A longer time counts as this one, because uint64_t has no number for it. */
#define RESPONSE_MAX_NS 1.8e19

struct device_client {
	unsigned int under_way, since_think, writes;
	bool flushing, thinking, flush_due;
	uint64_t next[2]; /* offset of the next sequential read, write */
};

/* This struct is a request under way. */
struct device_slot {
	struct device_request request;
	double begin_s;
	uint32_t client, next_free;
	bool again; /* the device wants it a second time */
};

/* An event is that of a slot, or of a client that ends its think time if this bit is set. */
#define THOUGHT UINT32_C(0x40000000)

struct device_run {
	const struct device_load *load;
	struct device_sim sim;
	struct device_client *clients;
	struct device_slot *slots;
	size_t nr_slots, cap_slots;
	uint32_t free_slot; /* NO_SLOT: none */
	struct eventq events;
	struct rng mix, place, think;
	uint64_t nr, left, warm_up;
	double now_s, from_s;
	struct device_times *out;
};

void device_load_init(struct device_load *l)
{
	l->clients = l->clients ? l->clients : 1;
	l->depth = l->depth ? l->depth : 1;
	l->burst = l->burst ? l->burst : 1;
	l->range_bytes = l->range_bytes > 0 ? l->range_bytes : RANGE_BYTES;
	for (int k = 0; k < 2; k++) {
		l->bytes[k] = l->bytes[k] > 0 ? l->bytes[k] : 4096;
		l->parts[k] = l->parts[k] ? l->parts[k] : 1;
	}
}

double device_load_concurrency(const struct device_load *l)
{
	return (double)l->clients * l->depth;
}

int device_times_add(struct device_times *t, enum device_type type, double response_s)
{
	double ns = response_s * 1e9;

	t->nr[type]++;
	if (ns >= RESPONSE_MAX_NS)
		return histogram_add(&t->response[type], (uint64_t)RESPONSE_MAX_NS);
	return histogram_add(&t->response[type], ns > 0 ? (uint64_t)(ns + 0.5) : 0);
}

/*
 * This is the limit for the difference of two runs: 1.645 standard deviations, times the square
 * root of 2.
 */
#define TWO_RUNS_SIGMAS 2.326

static const double times_quantiles[DEVICE_NR_POINTS] = { 0, 0.5, 0.95, 0.99 };

double device_times_at(const struct device_times *t, enum device_type type, enum device_point point)
{
	const struct histogram *h = &t->response[type];

	if (!h->nr)
		return NAN;
	return point == DEVICE_MEAN ? histogram_mean_s(h)
				    : histogram_quantile_any_s(h, times_quantiles[point]);
}

/*
 * Returns the squared coefficient of variation. One more time counts, at a distance of the mean
 * from the mean, because a few equal times do not show that all times are equal. The mean of the
 * times was taken from themselves, which the divisor corrects.
 */
static double times_variation(const struct histogram *h)
{
	double mean_s = histogram_mean_s(h), sum = 1;

	for (int b = histogram_next(h, HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX;
	     b = histogram_next(h, b + 1))
		sum += (double)histogram_count(h, b) *
		       pow(histogram_bucket_end_s(b) / mean_s - 1, 2);
	return h->nr > 1 ? sum / (double)(h->nr - 1) : sum;
}

double device_times_chance(const struct device_times *t, enum device_type type,
			   enum device_point point)
{
	const struct histogram *h = &t->response[type];
	double nr = (double)h->nr, p = times_quantiles[point];
	double at_s = device_times_at(t, type, point);
	double away, low_s, high_s;

	if (!(at_s > 0))
		return 0;
	if (point == DEVICE_MEAN)
		return TWO_RUNS_SIGMAS * sqrt(times_variation(h) / nr);
	/* The number of times below a quantile is binomial. */
	away = TWO_RUNS_SIGMAS * sqrt(p * (1 - p) / nr);
	low_s = histogram_quantile_any_s(h, fmax(p - away, 0.5 / nr));
	high_s = histogram_quantile_any_s(h, fmin(p + away, 1 - 0.5 / nr));
	return fmax(log(high_s / at_s), low_s > 0 ? log(at_s / low_s) : 0);
}

double device_times_rate(const struct device_times *t, enum device_type type)
{
	return t->elapsed_s > 0 ? (double)t->nr[type] / t->elapsed_s : NAN;
}

void device_times_release(struct device_times *t)
{
	for (int i = 0; i < DEVICE_NR_TYPES; i++)
		histogram_release(&t->response[i]);
}

/*
 * Submits the parts of a read or a write at the same time. Returns false if the flush of a forced
 * write remains to be done, which is one for all parts.
 */
static bool device_run_parts(struct device_run *r, struct device_request *whole, unsigned int parts,
			     double *end_s)
{
	struct device_request q = *whole;
	uint32_t left = whole->bytes;
	bool done = true;

	*end_s = whole->at_s;
	for (unsigned int i = 0; i < parts; i++) {
		double part_s;

		q.bytes = left / (parts - i);
		q.written = false;
		done = device_sim_submit(&r->sim, &q, &part_s);
		*end_s = fmax(*end_s, part_s);
		q.offset += q.bytes;
		left -= q.bytes;
	}
	whole->written = q.written;
	return done;
}

/* Gives a slot to the device, for the first or the second time. */
static int device_run_serve(struct device_run *r, uint32_t slot)
{
	struct device_slot *s = &r->slots[slot];
	enum device_type type = s->request.type;
	double end_s;
	int ret = 0;

	s->request.at_s = r->now_s;
	s->again = !(type != DEVICE_FLUSH && r->load->parts[type] > 1 && !s->request.written
			     ? device_run_parts(r, &s->request, r->load->parts[type], &end_s)
			     : device_sim_submit(&r->sim, &s->request, &end_s));
	if (!s->again && r->nr > r->warm_up)
		ret = device_times_add(r->out, type, end_s - s->begin_s);
	return ret ? ret : eventq_push(&r->events, end_s, slot);
}

static int device_run_slot(struct device_run *r, uint32_t *slot)
{
	*slot = r->free_slot;
	if (*slot != NO_SLOT) {
		r->free_slot = r->slots[*slot].next_free;
		return 0;
	}
	if (array_grow(&r->slots, &r->cap_slots, r->nr_slots + 1, sizeof(*r->slots)))
		return -ENOMEM;
	*slot = (uint32_t)r->nr_slots++;
	return 0;
}

/* Submits one request of a client at the present time. */
static int device_run_submit(struct device_run *r, uint32_t client, enum device_type type)
{
	const struct device_load *l = r->load;
	struct device_client *c = &r->clients[client];
	struct device_request q = { .type = type };
	uint32_t slot;
	int ret = device_run_slot(r, &slot);

	if (ret)
		return ret;
	if (type != DEVICE_FLUSH) {
		uint64_t sectors = (uint64_t)(l->range_bytes / SECTOR);

		q.bytes = (uint32_t)l->bytes[type];
		q.durable = l->durable && type == DEVICE_WRITE;
		q.offset = rng_below(&r->place, sectors ? sectors : 1) * SECTOR;
		if (l->sequential)
			q.offset = c->next[type];
		c->next[type] = q.offset + q.bytes;
	}
	r->slots[slot] = (struct device_slot){ q, r->now_s, client, NO_SLOT, false };
	r->left--;
	r->nr++;
	if (r->nr <= r->warm_up)
		r->from_s = r->now_s;
	return device_run_serve(r, slot);
}

static double device_run_think_s(struct device_run *r)
{
	return r->load->think_s * (r->load->think_random ? rng_exponential(&r->think) : 1);
}

/*
 * A client submits what it may submit now: it stops at a flush, a think time, or the number of
 * requests that it may keep under way.
 */
static int device_run_client(struct device_run *r, uint32_t client)
{
	const struct device_load *l = r->load;
	struct device_client *c = &r->clients[client];
	int ret = 0;

	while (!ret && r->left && !c->flushing && !c->thinking && c->under_way < l->depth) {
		enum device_type type;

		if (l->think_s > 0 && c->since_think >= l->burst) {
			if (c->under_way)
				return 0;
			c->thinking = true;
			c->since_think = 0;
			return eventq_push(&r->events, r->now_s + device_run_think_s(r),
					   client | THOUGHT);
		}
		if (c->flush_due || (l->flush_every && c->writes >= l->flush_every)) {
			c->flush_due = false;
			c->writes = c->writes < l->flush_every ? c->writes : 0;
			c->flushing = true;
			return device_run_submit(r, client, DEVICE_FLUSH);
		}
		type = rng_uniform(&r->mix) < l->read_ratio ? DEVICE_READ : DEVICE_WRITE;
		c->writes += type == DEVICE_WRITE;
		c->flush_due = type == DEVICE_READ && l->flush_read_ratio > 0 &&
			       rng_uniform(&r->mix) < l->flush_read_ratio;
		c->since_think++;
		c->under_way++;
		ret = device_run_submit(r, client, type);
	}
	return ret;
}

static int device_run_arrival(struct device_run *r)
{
	const struct device_load *l = r->load;
	int ret;

	if (!r->left)
		return 0;
	ret = device_run_submit(r, 0,
				rng_uniform(&r->mix) < l->read_ratio ? DEVICE_READ : DEVICE_WRITE);
	if (ret)
		return ret;
	return eventq_push(&r->events, r->now_s + rng_exponential(&r->think) / l->rate_per_s,
			   ARRIVAL);
}

static int device_run_event(struct device_run *r, uint32_t id)
{
	struct device_slot *s;
	uint32_t client = id & ~THOUGHT;

	if (id == ARRIVAL)
		return device_run_arrival(r);
	if (id & THOUGHT) {
		r->clients[client].thinking = false;
		return device_run_client(r, client);
	}
	s = &r->slots[id];
	if (s->again)
		return device_run_serve(r, id);
	client = s->client;
	s->next_free = r->free_slot;
	r->free_slot = id;
	if (r->load->rate_per_s > 0)
		return 0; /* no client waits for a completion */
	if (s->request.type == DEVICE_FLUSH)
		r->clients[client].flushing = false;
	else
		r->clients[client].under_way--;
	return device_run_client(r, client);
}

/* Lets the clients of a sequential load begin at different offsets. */
static int device_run_begin(struct device_run *r)
{
	const struct device_load *l = r->load;
	int ret = 0;

	if (l->rate_per_s > 0)
		return eventq_push(&r->events, rng_exponential(&r->think) / l->rate_per_s, ARRIVAL);
	for (uint32_t i = 0; i < l->clients && !ret; i++) {
		uint64_t part = (uint64_t)(l->range_bytes / l->clients / 2 / SECTOR) * SECTOR;

		r->clients[i].next[0] = 2 * i * part;
		r->clients[i].next[1] = (2 * i + 1) * part;
		ret = device_run_client(r, i);
	}
	return ret;
}

static int device_run_go(struct device_run *r)
{
	int ret = device_run_begin(r);

	while (!ret && r->left) {
		const struct event *e = eventq_first(&r->events);
		uint32_t id;

		if (!e)
			return -EINVAL;
		r->now_s = e->time;
		id = e->id;
		eventq_pop(&r->events);
		ret = device_run_event(r, id);
	}
	return ret;
}

int device_load_run(const struct device_load *l, const struct device_model *m, uint64_t nr,
		    uint64_t seed, struct device_times *out)
{
	struct device_run r = { .load = l, .left = nr, .out = out, .free_slot = NO_SLOT };
	int ret = -ENOMEM;

	memset(out, 0, sizeof(*out));
	if (!nr || l->clients > DEVICE_CLIENTS_MAX ||
	    device_load_concurrency(l) > DEVICE_CLIENTS_MAX * 16.0)
		return -EINVAL;
	r.warm_up = (uint64_t)(WARM_UP_RATIO * (double)nr);
	r.clients = calloc(l->clients, sizeof(*r.clients));
	rng_stream(&r.mix, seed, 100);
	rng_stream(&r.place, seed, 101);
	rng_stream(&r.think, seed, 102);
	if (device_sim_init(&r.sim, m, seed) || eventq_init(&r.events, 0) || !r.clients)
		goto out;
	ret = device_run_go(&r);
	out->elapsed_s = r.now_s - r.from_s;
	device_sim_busy(&r.sim, out->busy_ratio);
	out->limit = device_sim_limit(&r.sim);
out:
	free(r.clients);
	free(r.slots);
	eventq_release(&r.events);
	device_sim_release(&r.sim);
	return ret;
}

/* Buckets that are received are added to an empty histogram, before its exact values. */
static int device_histogram_pieces(struct histogram *h, struct parallel_bytes *b)
{
	uint64_t *const exact[] = { &h->min_ns, &h->max_ns, &h->sum_ns, &h->sum_high };
	uint32_t nr = (uint32_t)histogram_nr_used(h);
	int bucket = HISTOGRAM_BUCKET_MIN - 1, ret = parallel_piece(b, &nr, sizeof(nr));

	for (uint32_t i = 0; i < nr && !ret; i++) {
		struct histogram_bucket_count at = { 0 };
		bool sends;

		bucket = histogram_next(h, bucket + 1);
		sends = bucket <= HISTOGRAM_BUCKET_MAX;
		if (sends)
			at = (struct histogram_bucket_count){ histogram_count(h, bucket), bucket };
		ret = parallel_piece(b, &at, sizeof(at));
		bucket = at.bucket;
		if (!ret && !sends)
			ret = histogram_add_bucket(h, bucket, at.count);
	}
	for (size_t i = 0; i < sizeof(exact) / sizeof(*exact) && !ret; i++)
		ret = parallel_piece(b, exact[i], sizeof(*exact[i]));
	return ret;
}

int device_times_pieces(struct device_times *t, struct parallel_bytes *b)
{
	int ret;

	for (int type = 0; type < DEVICE_NR_TYPES; type++) {
		ret = device_histogram_pieces(&t->response[type], b);
		if (ret)
			return ret;
	}
	ret = parallel_piece(b, t->nr, sizeof(t->nr));
	if (ret)
		return ret;
	ret = parallel_piece(b, &t->elapsed_s, sizeof(t->elapsed_s));
	if (ret)
		return ret;
	ret = parallel_piece(b, t->busy_ratio, sizeof(t->busy_ratio));
	return ret ? ret : parallel_piece(b, &t->limit, sizeof(t->limit));
}
