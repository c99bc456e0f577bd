// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system-under-study/host.h"
#include "tests/system-under-study/measure.h"
#include "tests/system-under-study/sus.h"

#define WARM_REQUESTS 1000000u
#define WARM_LAPS     3u /* of the destaging clock */

/* The request of one client; events of the front end carry its number. */
struct request {
	struct client client;
	double issued;
	uint64_t sector;
	uint32_t waits;
	enum { AT_CHANNEL, AT_PROCESSOR, IN_ARRAY, RETURNED } stage;
};

struct sus {
	const struct sus_params *p;
	const struct load *l;
	struct eventq events;
	struct array array;
	struct host hosts[LOAD_VMS];
	struct request *requests; /* owned */
	uint32_t nr_requests;
	double channel_free, out_free, in_free, processor_free[16];
	struct rng rng;
	struct measure measure;
	int error; /* of a callback */
};

static const struct load_class *class_of(const struct sus *s, uint32_t request)
{
	return &s->l->classes[s->requests[request].client.class];
}

/* When a first-come server ends what comes now. */
static double serve(double *free_at, double now, double time)
{
	*free_at = (*free_at > now ? *free_at : now) + time;
	return *free_at;
}

static double processor(struct sus *s, double now, double time)
{
	unsigned best = 0;
	double shape = 1 / (s->p->spread * s->p->spread);

	for (unsigned i = 1; i < s->p->processors; i++)
		if (s->processor_free[i] < s->processor_free[best])
			best = i;
	return serve(&s->processor_free[best], now, time / shape * rng_gamma(&s->rng, shape));
}

static int dispatch(struct sus *s, unsigned vm, double now)
{
	uint32_t r;
	int error = 0;

	while (!error && host_dispatch(&s->hosts[vm], now, &r)) {
		s->requests[r].stage = AT_CHANNEL;
		error = eventq_push(&s->events, now + s->p->path_s / 2, r);
	}
	return error;
}

static void issue(struct sus *s, uint32_t r, double now)
{
	struct request *q = &s->requests[r];
	const struct load_class *c = class_of(s, r);

	q->sector = client_next(&q->client, s->l);
	q->issued = now;
	host_add(&s->hosts[c->vm], r, c->write, q->sector, now);
}

static int at_channel(struct sus *s, uint32_t r, double now)
{
	const struct load_class *c = class_of(s, r);
	double done = serve(&s->channel_free, now, s->p->channel_s);

	if (c->write)
		done = serve(&s->out_free, done, c->size_bytes / s->p->link_bytes_per_s);
	s->requests[r].stage = AT_PROCESSOR;
	return eventq_push(&s->events, done, r);
}

static int at_processor(struct sus *s, uint32_t r, double now)
{
	const struct load_class *c = class_of(s, r);
	double pages = ceil((double)c->size_bytes / SUS_PAGE);
	double time = c->write ? s->p->write_s + pages * s->p->write_page_s
			       : s->p->read_s + pages * s->p->read_page_s;

	s->requests[r].stage = IN_ARRAY;
	return eventq_push(&s->events, processor(s, now, time), r);
}

static int leave_array(struct sus *s, uint32_t r, double now)
{
	const struct load_class *c = class_of(s, r);

	if (!c->write)
		now = serve(&s->in_free, now, c->size_bytes / s->p->link_bytes_per_s);
	s->requests[r].stage = RETURNED;
	return eventq_push(&s->events, now + s->p->path_s / 2, r);
}

/* array_ready: one of the transfers a request waits for has ended. */
static void ready(void *ctx, uint32_t r, double now)
{
	struct sus *s = ctx;

	if (!--s->requests[r].waits && leave_array(s, r, now))
		s->error = -ENOMEM;
}

static int in_array(struct sus *s, uint32_t r, double now)
{
	struct request *q = &s->requests[r];
	const struct load_class *c = class_of(s, r);
	int error = (c->write ? array_write : array_read)(&s->array, r, q->sector,
							  c->size_bytes / 512, now, &q->waits);

	return error || q->waits ? error : leave_array(s, r, now);
}

static int returned(struct sus *s, uint32_t r, double now)
{
	unsigned vm = class_of(s, r)->vm;
	int error = measure_add(&s->measure, s->requests[r].client.class,
				now - s->requests[r].issued, now);

	host_done(&s->hosts[vm]);
	issue(s, r, now);
	return error ? error : dispatch(s, vm, now);
}

static int happen(struct sus *s, uint32_t event, double now)
{
	if (event & ARRAY_KIND) {
		int error = array_end(&s->array, event, now, ready, s);

		return error ? error : s->error;
	}
	switch (s->requests[event].stage) {
	case AT_CHANNEL:
		return at_channel(s, event, now);
	case AT_PROCESSOR:
		return at_processor(s, event, now);
	case IN_ARRAY:
		return in_array(s, event, now);
	default:
		return returned(s, event, now);
	}
}

/* The files are made one by one, by all virtual machines in turn. */
static void make_files(struct sus *s)
{
	uint64_t left = load_bytes(s->l) / SUS_PAGE;
	uint64_t kept = (uint64_t)(s->p->destage_low * (double)s->array.nvs.capacity);
	uint32_t most = 0;

	for (unsigned v = 0; v < s->l->nr_vms; v++)
		most = s->l->files[v] > most ? s->l->files[v] : most;
	for (uint32_t f = 0; f < most; f++) {
		for (unsigned v = 0; v < s->l->nr_vms; v++) {
			uint64_t page = load_base(s->l, v) / SUS_PAGE + f * (SUS_FILE / SUS_PAGE);

			if (f >= s->l->files[v])
				continue;
			array_make(&s->array, page, SUS_FILE / SUS_PAGE, left <= kept);
			left -= SUS_FILE / SUS_PAGE;
		}
	}
}

/* Writes without time until the destaging clock has seen all stripes often enough. */
static int warm(struct sus *s, uint64_t seed)
{
	struct client *clients;
	uint32_t nr = 0, i;
	bool writes = false;

	for (unsigned c = 0; c < s->l->nr_classes; c++)
		writes |= s->l->classes[c].write;
	if (!writes || (double)load_bytes(s->l) <= s->p->destage_low * s->p->nonvolatile_bytes)
		return 0;
	clients = calloc(s->nr_requests, sizeof(*clients));
	if (!clients)
		return -ENOMEM;
	for (i = 0; i < s->nr_requests; i++)
		client_init(&clients[i], s->requests[i].client.class, ~seed, i);
	for (i = 0; nr < WARM_REQUESTS && s->array.nvs.laps < WARM_LAPS;
	     i = i + 1 < s->nr_requests ? i + 1 : 0) {
		const struct load_class *c = &s->l->classes[clients[i].class];

		nr++;
		if (c->write)
			array_warm_write(&s->array, client_next(&clients[i], s->l),
					 c->size_bytes / 512);
	}
	free(clients);
	return 0;
}

static int start(struct sus *s, const struct sus_options *o)
{
	uint32_t nr = load_clients(s->l), r = 0;
	int error = eventq_init(&s->events, 0);

	rng_stream(&s->rng, o->seed, UINT32_MAX);
	s->requests = calloc(nr, sizeof(*s->requests));
	if (error || !s->requests || array_init(&s->array, s->p, &s->events, load_bytes(s->l)))
		return -ENOMEM;
	s->nr_requests = nr;
	for (unsigned v = 0; v < s->l->nr_vms; v++)
		if (host_init(&s->hosts[v], s->p, nr))
			return -ENOMEM;
	for (unsigned c = 0; c < s->l->nr_classes; c++)
		for (uint32_t i = 0; i < s->l->classes[c].clients; i++, r++)
			client_init(&s->requests[r].client, c, o->seed, r);
	make_files(s);
	error = warm(s, o->seed);
	for (r = 0; r < nr; r++)
		issue(s, r, 0);
	for (unsigned v = 0; v < s->l->nr_vms && !error; v++)
		error = dispatch(s, v, 0);
	return error;
}

static int run(struct sus *s, const struct sus_options *o, double *now)
{
	int error = 0;

	while (!error && !measure_is_enough(&s->measure, o->precision) &&
	       s->measure.nr < o->max_requests) {
		const struct event *first = eventq_first(&s->events);
		uint32_t id;

		if (!first)
			return -EDEADLK;
		*now = first->time;
		id = first->id;
		eventq_pop(&s->events);
		error = happen(s, id, *now);
	}
	return error;
}

static int check(const struct load *l)
{
	if (!l->nr_vms || l->nr_vms > LOAD_VMS || !l->nr_classes || l->nr_classes > LOAD_CLASSES)
		return -EINVAL;
	for (unsigned v = 0; v < l->nr_vms; v++)
		if (!l->files[v])
			return -EINVAL;
	for (unsigned c = 0; c < l->nr_classes; c++) {
		const struct load_class *k = &l->classes[c];

		if (k->vm >= l->nr_vms || !k->clients || k->clients > 10000 || !k->size_bytes ||
		    k->size_bytes % 512 || k->size_bytes > SUS_FILE / 2)
			return -EINVAL;
	}
	return 0;
}

int sus_run(struct sus_result *out, const struct sus_params *p, const struct load *l,
	    const struct sus_options *o)
{
	struct sus s = { .p = p, .l = l };
	double now = 0, busy = 0;
	int error = check(l);

	if (error)
		return error;
	memset(out, 0, sizeof(*out));
	measure_init(&s.measure, l->nr_classes, &s.array.nvs);
	error = start(&s, o);
	if (!error)
		error = run(&s, o, &now);
	if (!error)
		error = measure_result(&s.measure, out);
	for (unsigned i = 0; i < SUS_DISKS; i++)
		busy += s.array.backend.disks[i].busy_s;
	out->disk_utilization = busy / SUS_DISKS / now;
	out->counts = s.array.counts;
	out->hit_ratio = (double)out->counts.hit_pages / (double)out->counts.read_pages;
	measure_release(&s.measure);
	eventq_release(&s.events);
	array_release(&s.array);
	for (unsigned v = 0; v < l->nr_vms; v++)
		host_release(&s.hosts[v]);
	free(s.requests);
	if (error)
		sus_result_release(out);
	return error;
}

void sus_result_release(struct sus_result *r)
{
	for (unsigned i = 0; i < LOAD_CLASSES; i++)
		histogram_release(&r->classes[i].histogram);
	memset(r, 0, sizeof(*r));
}
