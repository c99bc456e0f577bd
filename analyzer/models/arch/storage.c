// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/arch/storage.h"

#define PATTERN_THRESHOLD 0.5

/* This struct holds sums over the requests of one type in the list. */
struct tally {
	double nr, size, sequential;
};

struct storage_state {
	const struct arch_storage_model *model; /* borrowed */
	double list_length, concurrency;
	struct storage_request list[STORAGE_MAX_LIST]; /* a ring, oldest first */
	uint32_t first, nr;
	struct tally reads, writes;
	uint64_t in_service, arrivals, outside;
	double first_arrival, response; /* sum of response times */
};

struct storage_state *storage_state_new(const struct arch_storage_model *m, double list_length,
					double concurrency)
{
	struct storage_state *s = calloc(1, sizeof(*s));

	if (s) {
		s->model = m;
		s->list_length = list_length;
		s->concurrency = concurrency > 0 ? concurrency : 1;
	}
	return s;
}

void storage_state_free(struct storage_state *s)
{
	free(s);
}

/* Adds a request to the sums (by = 1) or subtracts it from them (by = -1). */
static void storage_count(struct storage_state *s, const struct storage_request *r, double by)
{
	struct tally *t = r->read ? &s->reads : &s->writes;

	t->nr += by;
	t->size += by * r->size;
	t->sequential += by * r->sequential;
}

/*
 * Computes the sums anew when the ring wraps, because differences accumulate rounding errors if
 * sizes are not whole numbers.
 */
static void storage_recount(struct storage_state *s)
{
	s->reads = s->writes = (struct tally){ 0 };
	for (uint32_t i = 0; i < s->nr; i++)
		storage_count(s, &s->list[(s->first + i) % STORAGE_MAX_LIST], 1);
}

/* Equation 8.1: mean response time times arrival rate; one request until both are known. */
static uint32_t wanted_length(const struct storage_state *s, double now)
{
	double n = s->list_length, time = now - s->first_arrival;

	if (!(n > 0))
		n = s->arrivals > 1 && time > 0 ? s->response / time : 1;
	n = round(n);
	return n < 1 ? 1 : n > STORAGE_MAX_LIST ? STORAGE_MAX_LIST : (uint32_t)n;
}

static void storage_remember(struct storage_state *s, double now, const struct storage_request *r)
{
	uint32_t most = wanted_length(s, now);

	while (s->nr && s->nr >= most) {
		storage_count(s, &s->list[s->first], -1);
		s->first = (s->first + 1) % STORAGE_MAX_LIST;
		s->nr--;
		if (!s->first)
			storage_recount(s);
	}
	s->list[(s->first + s->nr++) % STORAGE_MAX_LIST] = *r;
	storage_count(s, r, 1);
}

static struct arch_storage_input storage_input(const struct storage_state *s,
					       const struct storage_request *r)
{
	const struct tally *in = &s->reads, *out = &s->writes;
	struct arch_storage_input x = {
		.in_service = fmax(1, (double)s->in_service * s->concurrency),
		.read = r->read,
		.read_share = in->nr / (in->nr + out->nr),
		.file_set = r->file_set,
	};

	if (in->nr > 0) {
		x.read_size = in->size / in->nr;
		x.read_sequential = in->sequential / in->nr >= PATTERN_THRESHOLD;
	}
	if (out->nr > 0) {
		x.write_size = out->size / out->nr;
		x.write_sequential = out->sequential / out->nr >= PATTERN_THRESHOLD;
	}
	return x;
}

double storage_arrive(struct storage_state *s, double now, const struct storage_request *r)
{
	struct arch_storage_input x;
	bool outside = false;
	double time;

	if (!s->arrivals++)
		s->first_arrival = now;
	s->in_service++;
	storage_remember(s, now, r);
	x = storage_input(s, r);
	time = s->model->respond(s->model, &x, &outside);
	/* A regression may predict a negative time at the edge of its training range. */
	if (!(time >= 0)) {
		time = 0;
		outside = true;
	}
	s->outside += outside;
	s->response += time;
	return time;
}

void storage_leave(struct storage_state *s)
{
	s->in_service--;
}

void storage_state_outside(const struct storage_state *s, uint64_t *outside, uint64_t *all)
{
	*outside = s->outside;
	*all = s->arrivals;
}
