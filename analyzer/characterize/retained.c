/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/characterize/retained.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/scan_match.h"
#include "formats/profile/profile_merge.h"

struct kept {
	struct profile p;
	uint64_t period;
	bool is_wide; /* the summary lies in more than one period */
	bool is_done;
	uint64_t nr_requests, nr_summaries;
	double begin_s, end_s;
};

struct retained {
	const struct selection *sel;
	struct counted *counted;
	double window_s;   /* 0: there is one period */
	struct kept *kept; /* owned */
	size_t nr, cap;
	bool is_sorted;
	uint64_t nr_taken; /* number of requests in the summaries taken */
	int (*each)(void *ctx, struct profile *p);
	void *ctx;
};

int retained_new(struct retained **out, const struct selection *sel, uint64_t window_ns,
		 struct counted *counted, int (*each)(void *ctx, struct profile *p), void *ctx)
{
	struct retained *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->sel = sel;
	r->counted = counted;
	r->window_s = (double)window_ns / 1e9;
	r->each = each;
	r->ctx = ctx;
	*out = r;
	return 0;
}

void retained_free(struct retained *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr; i++)
		profile_release(&r->kept[i].p);
	free(r->kept);
	free(r);
}

static uint64_t requests_of(const struct profile *p)
{
	uint64_t nr = 0;

	for (int op = 0; op < NR_OPERATIONS; op++)
		nr += p->requests[op];
	return nr;
}

bool retained_wants(const struct retained *r, const struct profile *p)
{
	const struct scan_filter *f = &r->sel->filter;
	unsigned int major = 0, minor = 0;

	sscanf(p->device, "%u:%u", &major, &minor);
	return !f->nr_cgroups && !f->nr_processes && !f->operations &&
	       !(f->leave_out_own && p->own_requests) &&
	       p->begin_s + PROFILE_TOUCH_S >= (double)f->begin_real_ns / 1e9 &&
	       (!f->end_real_ns || p->end_s - PROFILE_TOUCH_S <= (double)f->end_real_ns / 1e9) &&
	       scan_match_device(f, device_make(major, minor), p->device_name);
}

static uint64_t period_of(const struct retained *r, double at_s)
{
	return r->window_s > 0 && at_s > 0 ? (uint64_t)(at_s / r->window_s) : 0;
}

static bool is_one(const struct kept *k, uint64_t period, bool is_wide, const struct profile *p)
{
	return k->period == period && k->is_wide == is_wide && !strcmp(k->p.host, p->host) &&
	       !strcmp(k->p.device, p->device) && !strcmp(k->p.device_name, p->device_name);
}

static struct kept *kept_new(struct retained *r, uint64_t period, bool is_wide)
{
	size_t cap = r->cap ? 2 * r->cap : 16;
	struct kept *more;

	if (r->nr == r->cap) {
		more = realloc(r->kept, cap * sizeof(*more));
		if (!more)
			return NULL;
		r->kept = more;
		r->cap = cap;
	}
	r->kept[r->nr] = (struct kept){ .period = period, .is_wide = is_wide };
	profile_init(&r->kept[r->nr].p);
	return &r->kept[r->nr++];
}

static int retained_keep(struct retained *r, const struct profile *p)
{
	/*
	 * The ends are moved inwards a little, so that a summary whose end touches the next period
	 * does not count in it.
	 */
	uint64_t period = period_of(r, p->begin_s + PROFILE_TOUCH_S);
	bool is_wide = period_of(r, p->end_s - PROFILE_TOUCH_S) > period;
	struct kept *k = NULL;
	int ret;

	for (size_t i = r->nr; i-- > 0 && !k && !is_wide;)
		if (is_one(&r->kept[i], period, false, p))
			k = &r->kept[i];
	if (k) {
		ret = profile_merge(&k->p, p);
	} else {
		k = kept_new(r, period, is_wide);
		ret = k ? profile_copy(&k->p, p) : -ENOMEM;
	}
	if (ret < 0)
		return ret;
	k->nr_requests += requests_of(p);
	k->begin_s = k->nr_summaries && k->begin_s < p->begin_s ? k->begin_s : p->begin_s;
	k->end_s = k->nr_summaries && k->end_s > p->end_s ? k->end_s : p->end_s;
	k->nr_summaries++;
	return 0;
}

int retained_take_profile(struct retained *r, const struct profile *p)
{
	if (p->source == SOURCE_DISKSTATS)
		return r->counted ? counted_add(r->counted, p) : 0;
	if (!retained_wants(r, p))
		return 0;
	r->nr_taken += requests_of(p);
	return retained_keep(r, p);
}

int retained_take(void *ctx, const struct summary *s)
{
	int ret = 0;

	for (size_t i = 0; i < s->nr_profiles && ret == 0; i++)
		ret = retained_take_profile(ctx, &s->profiles[i]);
	return ret;
}

static int retained_describe(struct profile *p, const struct kept *k)
{
	char json[256];

	snprintf(json, sizeof(json),
		 "{\"summarized_requests\":%llu,\"summaries\":%llu,\"begin_s\":%.9f,"
		 "\"end_s\":%.9f}",
		 (unsigned long long)k->nr_requests, (unsigned long long)k->nr_summaries,
		 k->begin_s, k->end_s);
	return profile_set_detail(p, "retention", json);
}

static int retained_compare(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	int order = (x->period > y->period) - (x->period < y->period);

	if (!order)
		order = strcmp(x->p.host, y->p.host);
	if (!order)
		order = strcmp(x->p.device_name, y->p.device_name);
	if (!order)
		order = strcmp(x->p.device, y->p.device);
	return order ? order : (x->p.begin_s > y->p.begin_s) - (x->p.begin_s < y->p.begin_s);
}

static int emit(struct retained *r, struct kept *k)
{
	int ret = retained_describe(&k->p, k);

	k->is_done = true;
	return ret < 0 ? ret : r->each(r->ctx, &k->p);
}

/* Emits the summaries that come before the profile of this period, host and device. */
static int emit_before(struct retained *r, const struct kept *at)
{
	int ret = 0;

	if (!r->is_sorted && r->nr)
		qsort(r->kept, r->nr, sizeof(*r->kept), retained_compare);
	r->is_sorted = true;
	for (size_t i = 0; i < r->nr && ret == 0; i++) {
		if (r->kept[i].is_done)
			continue;
		if (at && retained_compare(&r->kept[i], at) >= 0)
			break;
		ret = emit(r, &r->kept[i]);
	}
	return ret;
}

int retained_join(void *ctx, struct profile *p)
{
	struct retained *r = ctx;
	struct kept at = { .period = period_of(r, (p->begin_s + p->end_s) / 2) };
	struct kept *k = NULL;
	int ret;

	at.p = *p; /* only its names and begin are used */
	at.p.begin_s = -INFINITY;
	for (size_t i = 0; i < r->nr && !k; i++)
		if (!r->kept[i].is_done && is_one(&r->kept[i], at.period, false, p))
			k = &r->kept[i];
	ret = k ? profile_merge(p, &k->p) : 0;
	if (k) {
		k->is_done = true;
		if (ret == 0)
			ret = retained_describe(p, k);
	}
	if (ret == 0)
		ret = emit_before(r, &at);
	return ret < 0 ? ret : r->each(r->ctx, p);
}

int retained_emit(struct retained *r)
{
	return emit_before(r, NULL);
}

struct scan_retained retained_missing(const struct retained *r, const struct scan *scan)
{
	struct scan_retained all = scan_retained(scan);

	all.nr_summarized -= r->nr_taken < all.nr_summarized ? r->nr_taken : all.nr_summarized;
	return all;
}
