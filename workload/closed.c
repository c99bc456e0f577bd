/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/block_hash.h"
#include "workload/closed.h"

#define OVERFLOW_BITS  (1u << 15)
#define OVERFLOW_BYTES (OVERFLOW_BITS / 8)
/* If a larger share of the completions is unknown, the integral is unknown as well. */
#define UNTIMED_MAX_RATIO 0.01

struct closed_client {
	uint64_t first_arrival_ns; /* of this period */
	uint64_t last_completion_ns;
	uint64_t second_gap_ns; /* think time before the period's second request, see has_second */
	uint32_t tid;
	uint32_t interval; /* the interval in which the client was last seen */
	uint32_t period;   /* the period in which the client was last seen */
	bool alone;	   /* nothing else was outstanding since the last request's arrival */
	bool carried;	   /* the period's first request was compared with the period before */
	bool has_second;   /* second_gap_ns is a sample of think time */
	bool is_single;	   /* the client has sent one request in this period so far */
};

void closed_init(struct closed *c, uint64_t begin_ns, uint64_t interval_ns)
{
	memset(c, 0, sizeof(*c));
	c->begin_ns = begin_ns;
	c->interval_ns = interval_ns;
	c->interval_begin_ns = begin_ns;
	c->interval = 1;
	c->period = 1;
}

void closed_release(struct closed *c)
{
	free(c->overflow);
	free(c->clients);
	u64map_release(&c->index);
	closed_init(c, c->begin_ns, c->interval_ns);
}

static void next_interval(struct closed *c)
{
	c->interval++;
	c->seen = 0;
	if (c->overflowed)
		memset(c->overflow, 0, OVERFLOW_BYTES);
	c->overflowed = false;
}

void closed_forget_completions(struct closed *c)
{
	for (size_t i = 0; i < c->index.nr; i++)
		c->clients[i].alone = false;
}

void closed_clear(struct closed *c, uint64_t begin_ns)
{
	next_interval(c);
	c->period++;
	c->begin_ns = begin_ns;
	c->interval_begin_ns = begin_ns;
	c->client_area = 0;
	c->flight_ns = 0;
	c->nr = 0;
	c->nr_timed = 0;
	c->nr_kernel = 0;
	c->nr_unknown = 0;
	c->think_ns = 0;
	c->nr_think = 0;
}

/*
 * Linear counting (Whang, Vander-Zanden and Taylor, A Linear-Time Probabilistic Counting Algorithm
 * for Database Applications, 1990): the estimate is -m ln(share of clear bits).
 */
static double overflow_clients(const struct closed *c)
{
	unsigned int nr_set = 0;

	if (!c->overflowed)
		return 0;
	for (size_t i = 0; i < OVERFLOW_BYTES / sizeof(*c->overflow); i++)
		nr_set += (unsigned int)__builtin_popcountll(c->overflow[i]);
	if (nr_set == OVERFLOW_BITS)
		nr_set--;
	return -(double)OVERFLOW_BITS * log1p(-(double)nr_set / OVERFLOW_BITS);
}

/* Returns clients times ns of the interval being filled, up to the end of the period. */
static double open_area(const struct closed *c, uint64_t end_ns)
{
	uint64_t length_ns = end_ns > c->interval_begin_ns ? end_ns - c->interval_begin_ns : 0;

	if (length_ns > c->interval_ns)
		length_ns = c->interval_ns;
	return ((double)c->seen + overflow_clients(c)) * (double)length_ns;
}

static void move_to(struct closed *c, uint64_t arrival_ns)
{
	c->client_area += open_area(c, c->interval_begin_ns + c->interval_ns);
	c->interval_begin_ns +=
		(arrival_ns - c->interval_begin_ns) / c->interval_ns * c->interval_ns;
	next_interval(c);
}

static int grow_clients(struct closed *c)
{
	size_t cap = c->cap_clients ? 2 * c->cap_clients : 16;
	struct closed_client *clients = realloc(c->clients, cap * sizeof(*clients));

	if (!clients)
		return -ENOMEM;
	c->clients = clients;
	c->cap_clients = cap;
	return 0;
}

/* Removes the clients that were not seen in this interval. It runs at most once per interval. */
static int closed_sweep(struct closed *c)
{
	size_t kept = 0, nr = c->index.nr;
	int ret = 0;

	c->swept = c->interval;
	u64map_clear(&c->index);
	for (size_t i = 0; i < nr; i++) {
		if (c->clients[i].interval != c->interval)
			continue;
		c->clients[kept] = c->clients[i];
		ret |= u64map_put(&c->index, c->clients[kept].tid, (uint32_t)kept);
		kept++;
	}
	return ret;
}

static int count_overflow(struct closed *c, uint32_t tid)
{
	/*
	 * The mixer is needed because a plain multiplication would spread consecutive ids more
	 * evenly than random ids, which linear counting assumes.
	 */
	uint32_t bit = (uint32_t)(block_hash_mix(tid) >> 49);

	if (!c->overflow)
		c->overflow = calloc(1, OVERFLOW_BYTES);
	if (!c->overflow)
		return -ENOMEM;
	c->overflowed = true;
	c->overflow[bit / 64] |= 1ull << bit % 64;
	return 0;
}

/*
 * Returns a new client, or NULL where memory ran out or the table is full. *err is 0 for a full
 * table.
 */
static struct closed_client *new_client(struct closed *c, uint32_t tid, int *err)
{
	struct closed_client *client;

	*err = 0;
	if (c->index.nr == CLOSED_MAX_CLIENTS && c->swept != c->interval)
		*err = closed_sweep(c);
	if (!*err && c->index.nr == CLOSED_MAX_CLIENTS) {
		*err = count_overflow(c, tid);
		return NULL;
	}
	if (!*err && c->index.nr == c->cap_clients)
		*err = grow_clients(c);
	if (!*err)
		*err = u64map_put(&c->index, tid, (uint32_t)c->index.nr);
	if (*err)
		return NULL;
	client = &c->clients[c->index.nr - 1];
	*client = (struct closed_client){ .tid = tid };
	return client;
}

/*
 * Handles a request that follows another one of its thread. The gap is a think time, or the
 * requests overlap.
 */
static void closed_follow(struct closed *c, struct closed_client *client, uint64_t arrival_ns)
{
	uint64_t gap;

	if (arrival_ns < client->last_completion_ns) {
		client->alone = false;
		return;
	}
	if (client->alone) {
		gap = arrival_ns - client->last_completion_ns;
		c->think_ns += gap;
		c->nr_think++;
		if (client->is_single && client->period == c->period) {
			client->has_second = true;
			client->second_gap_ns = gap;
		}
	}
	client->alone = true;
}

static void closed_submit(struct closed *c, struct closed_client *client, const struct request *r)
{
	bool is_new = !client->period, is_first = client->period != c->period;

	if (is_new)
		client->alone = true;
	else
		closed_follow(c, client, r->arrival_ns);
	client->is_single = is_first;
	if (is_first) {
		client->period = c->period;
		client->first_arrival_ns = r->arrival_ns;
		client->carried = !is_new;
		client->has_second = false;
	}
	if (r->completion_ns > client->last_completion_ns)
		client->last_completion_ns = r->completion_ns;
	if (r->flags & REQUEST_NO_COMPLETION)
		client->alone = false;
	if (client->interval != c->interval) {
		client->interval = c->interval;
		c->seen++;
	}
}

static int add_client(struct closed *c, const struct request *r)
{
	uint32_t at = u64map_find(&c->index, r->tid);
	struct closed_client *client;
	int ret;

	if (r->arrival_ns >= c->interval_begin_ns + c->interval_ns)
		move_to(c, r->arrival_ns);
	if (at != U64MAP_NONE) {
		closed_submit(c, &c->clients[at], r);
		return 0;
	}
	client = new_client(c, r->tid, &ret);
	if (client)
		closed_submit(c, client, r);
	return ret;
}

int closed_add_many(struct closed *c, const struct request *r, size_t nr)
{
	int ret = 0;

	c->nr += nr;
	for (size_t i = 0; i < nr; i++) {
		if (!(r[i].flags & REQUEST_NO_COMPLETION)) {
			if (!(r[i].flags & REQUEST_PAUSED))
				c->flight_ns += r[i].completion_ns - r[i].arrival_ns;
			c->nr_timed++;
		}
		if (r[i].flags & REQUEST_KERNEL_THREAD)
			c->nr_kernel++;
		else if (r[i].flags & REQUEST_NO_ISSUER)
			c->nr_unknown++;
		else
			ret |= add_client(c, &r[i]);
	}
	return ret ? -ENOMEM : 0;
}

double closed_clients_mean(const struct closed *c, uint64_t end_ns)
{
	if (end_ns <= c->begin_ns ||
	    (c->nr && c->nr_unknown + c->nr_kernel == c->nr && c->nr_unknown))
		return NAN;
	return (c->client_area + open_area(c, end_ns)) / (double)(end_ns - c->begin_ns);
}

double closed_in_flight_mean(const struct closed *c, uint64_t end_ns)
{
	if (end_ns <= c->begin_ns ||
	    (double)(c->nr - c->nr_timed) > UNTIMED_MAX_RATIO * (double)c->nr)
		return NAN;
	return (double)c->flight_ns / (double)(end_ns - c->begin_ns);
}

double closed_think_time_mean_s(const struct closed *c)
{
	return c->nr_think ? (double)c->think_ns / (double)c->nr_think / 1e9 : NAN;
}

size_t closed_memory(const struct closed *c)
{
	return c->cap_clients * sizeof(*c->clients) + u64map_memory(&c->index) +
	       (c->overflow ? OVERFLOW_BYTES : 0);
}
