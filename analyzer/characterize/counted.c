/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/characterize/counted.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/scan/scan_match.h"
#include "formats/request.h"

struct sum {
	struct profile p;
	uint64_t period;
	uint32_t nr; /* number of profiles in the sum */
	double in_flight_s;
	double watched_s;   /* of its profiles */
	double unscanned_s; /* the part of watched_s that the scan does not know */
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
	uint32_t device = 0;

	device_parse(p->device, &device);
	return p->source == SOURCE_DISKSTATS && scan_match_host(f, p->host) && !f->nr_cgroups &&
	       !f->nr_processes && !f->operations && p->end_s * 1e9 >= (double)f->begin_real_ns &&
	       (!f->end_real_ns || p->end_s * 1e9 < (double)f->end_real_ns) &&
	       scan_match_device(f, device, p->device_name);
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

/* unscanned_s: how much of the profile's time the scan does not know */
static int sum_add(struct sum *s, const struct profile *p, double unscanned_s)
{
	struct profile *to = &s->p;
	double watched_s = profile_rate_s(p);

	s->in_flight_s += p->closed.in_flight_mean * watched_s;
	s->watched_s += watched_s;
	s->unscanned_s += fmin(unscanned_s, watched_s);
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

int counted_add(struct counted *c, const struct profile *p, bool is_summary)
{
	double scanned_s = (double)c->sel->filter.begin_real_ns / 1e9;
	struct sum *s;

	if (!is_wanted(c, p))
		return 0;
	s = sum_of(c, p);
	if (!s)
		return -ENOMEM;
	return sum_add(s, p, is_summary ? INFINITY : fmax(0, scanned_s - p->begin_s));
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
	    counted_add(c, &p, false))
		c->error = -ENOMEM;
	profile_release(&p);
}

/* The time in which the counters of a device were read, as far as it lies in one period. */
struct span {
	double from_s, until_s;	      /* the period */
	double begin_s, end_s, sum_s; /* the result: first begin, last end, length of all */
};

static void span_add(struct span *span, const struct scan_trace *trace)
{
	for (size_t i = 0; i < trace->nr_covered; i++) {
		const struct scan_interval *c = &trace->covered[i];
		double begin_s = fmax((double)c->begin_real_ns / 1e9, span->from_s);
		double end_s = fmin((double)c->end_real_ns / 1e9, span->until_s);

		if (end_s <= begin_s)
			continue;
		span->begin_s = fmin(span->begin_s, begin_s);
		span->end_s = fmax(span->end_s, end_s);
		span->sum_s += end_s - begin_s;
	}
}

/* Adds the traces in which the counters of the profile's device were read. */
static void span_find(struct span *span, const struct scan *scan, const struct profile *p)
{
	uint32_t device = 0;

	device_parse(p->device, &device);
	for (uint32_t i = 0; i < scan_nr_streams(scan); i++) {
		const struct scan_stream *stream = scan_stream(scan, i);

		if (stream->source == SOURCE_DISKSTATS && stream->device == device &&
		    !strcmp(stream->host, p->host) && !strcmp(stream->device_name, p->device_name))
			span_add(span, scan_trace(scan, stream->trace));
	}
}

/*
 * Extends the sum to all the time of its period in which the counters were read, because idle
 * windows leave no profile behind. The agent's windows need not begin with a period, so that a sum
 * may stick out of it, but none becomes longer than a period by this. Returns the seconds that were
 * watched.
 */
static double sum_extend(struct sum *s, double window_s, const struct scan *scan)
{
	struct profile *p = &s->p;
	struct span span = { .until_s = INFINITY, .begin_s = p->begin_s, .end_s = p->end_s };
	double most_s = window_s > 0 ? fmax(window_s, p->end_s - p->begin_s) : INFINITY;

	if (window_s > 0) {
		span.from_s = fmin((double)s->period * window_s, p->begin_s);
		span.until_s = fmax((double)(s->period + 1) * window_s, p->end_s);
	}
	span_find(&span, scan, p);
	p->end_s = fmin(span.end_s, p->begin_s + most_s);
	p->begin_s = fmax(span.begin_s, p->end_s - most_s);
	return fmin(fmax(span.sum_s + s->unscanned_s, s->watched_s), p->end_s - p->begin_s);
}

static void counted_finish(struct sum *s, double window_s, const struct scan *scan)
{
	struct profile *p = &s->p;
	uint64_t nr = p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE] +
		      p->requests[OPERATION_DISCARD];
	double watched_s = sum_extend(s, window_s, scan);

	p->closed.in_flight_mean = s->in_flight_s / watched_s;
	p->open.rate_per_s = (double)nr / watched_s;
	p->open.interarrival_mean_s = nr ? watched_s / (double)nr : NAN;
	p->quality.coverage_ratio = watched_s / (p->end_s - p->begin_s);
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
		counted_finish(&c->sums[i], c->window_s, scan);
		ret = each(ctx, &c->sums[i].p);
		if (ret)
			return ret;
	}
	return 0;
}
