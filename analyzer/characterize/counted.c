/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/characterize/counted.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/scan/scan_match.h"

struct sum {
	struct profile p;
	uint64_t period;
	uint32_t nr; /* number of profiles in the sum */
	double in_flight_s;
};

struct counted {
	const struct selection *sel;
	double window_s;  /* 0: there is one period */
	struct sum *sums; /* owned */
	size_t nr, cap;
	int error;
};

int counted_new(struct counted **out, const struct selection *sel, uint64_t window_ns)
{
	struct counted *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->sel = sel;
	c->window_s = (double)window_ns / 1e9;
	*out = c;
	return 0;
}

void counted_free(struct counted *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr; i++)
		profile_release(&c->sums[i].p);
	free(c->sums);
	free(c);
}

static bool is_wanted(const struct counted *c, const struct profile *p)
{
	const struct scan_filter *f = &c->sel->filter;
	unsigned int major = 0, minor = 0;

	sscanf(p->device, "%u:%u", &major, &minor);
	return p->source == SOURCE_DISKSTATS && scan_match_host(f, p->host) && !f->nr_cgroups &&
	       !f->nr_processes && !f->operations && p->end_s * 1e9 >= (double)f->begin_real_ns &&
	       (!f->end_real_ns || p->end_s * 1e9 < (double)f->end_real_ns) &&
	       scan_match_device(f, device_make(major, minor), p->device_name);
}

static struct sum *sum_of(struct counted *c, const struct profile *p)
{
	/* A window belongs to the period in which its middle lies. */
	uint64_t period =
		c->window_s > 0 ? (uint64_t)((p->begin_s + p->end_s) / 2 / c->window_s) : 0;
	struct sum *more;

	for (size_t i = c->nr; i-- > 0;) {
		struct sum *s = &c->sums[i];

		if (s->period == period && !strcmp(s->p.host, p->host) &&
		    !strcmp(s->p.device, p->device) && !strcmp(s->p.device_name, p->device_name))
			return s;
	}
	if (c->nr == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 16;

		more = realloc(c->sums, cap * sizeof(*more));
		if (!more)
			return NULL;
		c->sums = more;
		c->cap = cap;
	}
	c->sums[c->nr] = (struct sum){ .period = period };
	profile_init(&c->sums[c->nr].p);
	return &c->sums[c->nr++];
}

/*
 * Returns the mean of na values with mean a and nb values with mean b, or NaN where there are none.
 */
static double joint_mean(double a, uint64_t na, double b, uint64_t nb)
{
	double sum = (na ? a * (double)na : 0) + (nb ? b * (double)nb : 0);

	return na + nb ? sum / (double)(na + nb) : NAN;
}

static void direction_add(struct direction_profile *to, uint64_t nr,
			  const struct direction_profile *from, uint64_t more)
{
	to->size_mean_bytes = joint_mean(to->size_mean_bytes, nr, from->size_mean_bytes, more);
	to->response.total_mean_s =
		joint_mean(to->response.total_mean_s, nr, from->response.total_mean_s, more);
}

static int sum_add(struct sum *s, const struct profile *p)
{
	struct profile *to = &s->p;

	s->in_flight_s += p->closed.in_flight_mean * (p->end_s - p->begin_s);
	if (!s->nr++)
		return profile_copy(to, p);
	direction_add(&to->read, to->requests[OPERATION_READ], &p->read,
		      p->requests[OPERATION_READ]);
	direction_add(&to->write, to->requests[OPERATION_WRITE], &p->write,
		      p->requests[OPERATION_WRITE]);
	for (int op = 0; op < NR_OPERATIONS; op++) {
		to->requests[op] += p->requests[op];
		to->bytes[op] += p->bytes[op];
	}
	to->unknown |= p->unknown;
	to->lost += p->lost;
	to->begin_s = fmin(to->begin_s, p->begin_s);
	to->end_s = fmax(to->end_s, p->end_s);
	free(to->source_detail);
	to->source_detail = NULL;
	return 0;
}

int counted_add(struct counted *c, const struct profile *p)
{
	struct sum *s;

	if (!is_wanted(c, p))
		return 0;
	s = sum_of(c, p);
	return s ? sum_add(s, p) : -ENOMEM;
}

void counted_take(void *ctx, const struct scan_trace *trace, const char *json)
{
	struct counted *c = ctx;
	struct profile p;

	/*
	 * Most profiles are of requests. They are skipped, because the scan delivers the requests
	 * themselves.
	 */
	if (!strstr(json, "\"source\":\"diskstats\""))
		return;
	profile_init(&p);
	if (!profile_from_json(json, strlen(json), &p, NULL) && !strcmp(p.host, trace->host) &&
	    counted_add(c, &p))
		c->error = -ENOMEM;
	profile_release(&p);
}

/*
 * Returns the share of the period in which the host was observed. It comes from the scan, because
 * idle windows leave no profile behind.
 */
static double coverage_ratio(const struct scan *scan, const struct profile *p)
{
	double watched_s = 0, all_s = p->end_s - p->begin_s;

	for (uint32_t t = 0; t < scan_nr_traces(scan); t++) {
		const struct scan_trace *trace = scan_trace(scan, t);

		for (size_t i = 0; !strcmp(trace->host, p->host) && i < trace->nr_covered; i++) {
			double begin_s = (double)trace->covered[i].begin_real_ns / 1e9;
			double end_s = (double)trace->covered[i].end_real_ns / 1e9;

			watched_s += fmax(0, fmin(end_s, p->end_s) - fmax(begin_s, p->begin_s));
		}
	}
	return watched_s < all_s ? watched_s / all_s : 1;
}

static void counted_finish(struct sum *s, const struct scan *scan)
{
	struct profile *p = &s->p;
	uint64_t nr = p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE] +
		      p->requests[OPERATION_DISCARD];
	double seconds = p->end_s - p->begin_s;

	if (s->nr > 1) {
		p->closed.in_flight_mean = s->in_flight_s / seconds;
		p->open.rate_per_s = (double)nr / seconds;
		p->open.interarrival_mean_s = nr ? seconds / (double)nr : NAN;
		p->quality.coverage_ratio = coverage_ratio(scan, p);
	}
	profile_grade(p);
}

static int compare_sums(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	int order = (x->period > y->period) - (x->period < y->period);

	if (!order)
		order = strcmp(x->p.host, y->p.host);
	if (!order)
		order = strcmp(x->p.device_name, y->p.device_name);
	return order ? order : strcmp(x->p.device, y->p.device);
}

int counted_emit(struct counted *c, const struct scan *scan,
		 int (*each)(void *ctx, struct profile *p), void *ctx)
{
	int ret = c->error;

	if (c->nr)
		qsort(c->sums, c->nr, sizeof(*c->sums), compare_sums);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->nr; i++) {
		counted_finish(&c->sums[i], scan);
		ret = each(ctx, &c->sums[i].p);
		if (ret)
			return ret;
	}
	return 0;
}
