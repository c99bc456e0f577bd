// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "tests/literal/slow_storage.h"

#define MOST_CLIENTS 1024

/* This struct is a ring of clients in order of arrival. */
struct line {
	unsigned items[MOST_CLIENTS];
	unsigned first, nr;
};

static void join(struct line *l, unsigned client)
{
	l->items[(l->first + l->nr++) % MOST_CLIENTS] = client;
}

static unsigned leave(struct line *l)
{
	unsigned client = l->items[l->first];

	l->first = (l->first + 1) % MOST_CLIENTS;
	l->nr--;
	return client;
}

static double serve(struct slow_server s, struct rng *r)
{
	double shape = s.mean_s * s.mean_s / (s.sd_s * s.sd_s);

	return rng_gamma(r, shape) * s.mean_s / shape;
}

void slow_tandem(struct histogram *h, unsigned clients, struct slow_server cache,
		 struct slow_server array, double miss, size_t nr_requests, uint64_t seed)
{
	struct line lines[2] = { 0 };
	double begun[MOST_CLIENTS] = { 0 }, end[2] = { INFINITY, INFINITY };
	struct slow_server servers[2] = { cache, array };
	size_t done = 0;
	struct rng r;

	rng_seed(&r, seed);
	for (unsigned i = 0; i < clients; i++)
		join(&lines[0], i);
	end[0] = serve(cache, &r);
	while (done < nr_requests) {
		int at = end[1] < end[0];
		double now = end[at];
		unsigned client = leave(&lines[at]);
		int to = at == 0 && rng_uniform(&r) < miss;

		if (!to) {
			/* the first tenth is warm-up */
			if (done++ >= nr_requests / 10)
				histogram_add(h, (uint64_t)((now - begun[client]) * 1e9 + 0.5));
			begun[client] = now;
		}
		join(&lines[to], client);
		for (int i = 0; i < 2; i++)
			if (i == at || (i == to && lines[i].nr == 1 && !(end[i] < INFINITY)))
				end[i] = lines[i].nr ? now + serve(servers[i], &r) : INFINITY;
	}
}

/*
 * Chooses the class that is served next, by weight among the classes that wait. Returns nr where
 * none waits.
 */
static size_t draw_class(const struct slow_class *classes, const struct line *lines, size_t nr,
			 struct rng *r)
{
	double sum = 0, draw;
	size_t c = nr;

	for (size_t i = 0; i < nr; i++)
		sum += lines[i].nr ? classes[i].weight : 0;
	draw = rng_uniform(r) * sum;
	for (size_t i = 0; i < nr; i++) {
		if (!lines[i].nr)
			continue;
		c = i;
		draw -= classes[i].weight;
		if (draw < 0)
			break;
	}
	return c;
}

void slow_mix(struct slow_class *classes, size_t nr, size_t nr_requests, uint64_t seed)
{
	struct line *lines = calloc(nr, sizeof(*lines));
	double *begun = calloc(MOST_CLIENTS * nr, sizeof(*begun)), now = 0;
	size_t *counted = calloc(nr, sizeof(*counted)), last = nr;
	unsigned client = 0;
	struct rng r;

	rng_seed(&r, seed);
	for (size_t c = 0; c < nr; c++) {
		classes[c].mean_s = 0;
		for (unsigned i = 0; i < classes[c].clients; i++)
			join(&lines[c], i);
	}
	for (size_t done = 0; done < nr_requests; done++) {
		size_t c = draw_class(classes, lines, nr, &r);

		/*
		 * The client that was just answered asks again only after the next one was taken.
		 */
		if (last < nr)
			join(&lines[last], client);
		if (c == nr)
			c = last;
		last = c;
		client = leave(&lines[c]);
		now += serve(classes[c].service, &r);
		if (done >= nr_requests / 10) {
			classes[c].mean_s += now - begun[c * MOST_CLIENTS + client];
			counted[c]++;
		}
		begun[c * MOST_CLIENTS + client] = now;
	}
	for (size_t c = 0; c < nr; c++)
		classes[c].mean_s /= (double)counted[c];
	free(lines);
	free(begun);
	free(counted);
}

/* This struct is a request of slow_parts(): where it is, and when it reaches the next server. */
struct part_request {
	size_t class;
	enum { WAITS, TO_SHARED, TO_OWN, ENDS } to;
	double at, begun;
};

/* Returns the request of a class that has waited longest, or nr where none waits. */
static size_t longest(const struct part_request *requests, size_t nr, size_t class)
{
	size_t at = nr;

	for (size_t i = 0; i < nr; i++)
		if (requests[i].class == class && requests[i].to == WAITS &&
		    (at == nr || requests[i].begun < requests[at].begun))
			at = i;
	return at;
}

/*
 * Admits requests of a VM while there is room. Among the waiting requests the class is chosen by
 * weight. Returns how many were admitted.
 */
static unsigned let_on(struct part_request *requests, size_t nr_requests,
		       const struct slow_part_class *classes, size_t nr, unsigned vm, unsigned room,
		       double now, struct rng *r)
{
	unsigned on = 0;

	for (; on < room; on++) {
		double sum = 0, draw;
		size_t chosen = nr_requests;

		for (int pass = 0; pass < 2; pass++) {
			draw = rng_uniform(r) * sum;
			for (size_t c = 0; c < nr; c++) {
				size_t i = longest(requests, nr_requests, c);

				if (i == nr_requests || classes[c].vm != vm)
					continue;
				if (!pass)
					sum += classes[c].weight;
				else if (draw >= 0)
					chosen = i;
				draw -= pass ? classes[c].weight : 0;
			}
		}
		if (chosen == nr_requests)
			break;
		requests[chosen].to = TO_SHARED;
		requests[chosen].at = now + classes[requests[chosen].class].latency_s;
	}
	return on;
}

/*
 * Passes a request through a server that serves in order of arrival and gets its requests in that
 * order.
 */
static double pass(double *free_at, double now, struct slow_server s, struct rng *r)
{
	*free_at = fmax(*free_at, now) + serve(s, r);
	return *free_at;
}

void slow_parts(struct slow_part_class *classes, size_t nr, unsigned depth, size_t nr_requests,
		uint64_t seed)
{
	struct part_request *q = calloc(nr * MOST_CLIENTS, sizeof(*q));
	size_t *counted = calloc(nr, sizeof(*counted)), n = 0, done = 0;
	double free_at[3] = { 0, 0, 0 };
	struct rng r;

	rng_seed(&r, seed);
	for (size_t c = 0; c < nr; c++) {
		classes[c].mean_s = 0;
		for (unsigned i = 0; i < classes[c].clients; i++)
			q[n++] = (struct part_request){ .class = c };
	}
	for (size_t c = 0; c < nr; c++)
		if (!c || classes[c].vm != classes[c - 1].vm)
			let_on(q, n, classes, nr, classes[c].vm, depth, 0, &r);
	while (done < nr_requests) {
		size_t i = n;
		unsigned room;
		struct slow_part_class *c;

		for (size_t k = 0; k < n; k++)
			if (q[k].to != WAITS && (i == n || q[k].at < q[i].at))
				i = k;
		c = &classes[q[i].class];
		if (q[i].to == ENDS) {
			if (done++ >= nr_requests / 10) {
				c->mean_s += q[i].at - q[i].begun;
				counted[q[i].class]++;
			}
			/*
			 * The client that was just answered asks again only after the next one was
			 * taken.
			 */
			room = let_on(q, n, classes, nr, c->vm, 1, q[i].at, &r) ? 0 : 1;
			q[i].begun = q[i].at;
			q[i].to = WAITS;
			let_on(q, n, classes, nr, c->vm, room, q[i].at, &r);
			continue;
		}
		if (q[i].to == TO_SHARED)
			q[i].at = pass(&free_at[2], q[i].at, c->shared, &r);
		else
			q[i].at = pass(&free_at[c->write], q[i].at, c->own, &r);
		q[i].to++;
	}
	for (size_t c = 0; c < nr; c++)
		classes[c].mean_s /= (double)counted[c];
	free(q);
	free(counted);
}
