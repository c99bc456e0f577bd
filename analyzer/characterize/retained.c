/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/characterize/retained.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/kept_time.h"
#include "analyzer/store/scan/scan_match.h"
#include "base/memory/array.h"
#include "base/memory/keyed_hash.h"
#include "base/memory/u64map.h"
#include "formats/profile/profile_merge.h"
#include "formats/request.h"

/* Summaries, or windows whose requests were kept back, of one device and one period. */
struct kept {
	struct profile p;
	uint64_t period;
	bool is_wide; /* it lies in more than one period */
	bool is_done;
	uint64_t nr_requests, nr_summaries; /* of summaries, and their interval */
	double begin_s, end_s;
	uint64_t nr_window_requests, nr_windows; /* of windows, and their length together */
	double windows_s;
};

/*
 * A window's profile is in the segment of its end or a later one. Where requests were sent for
 * longer than this, no profile begins before.
 */
#define RETAINED_LATE_S	 120
#define RETAINED_PERIODS 100000 /* of one window; an agent that says more says nonsense */

struct retained {
	const struct selection *sel;
	struct counted *counted;
	double window_s;	 /* 0: there is one period */
	const struct scan *scan; /* borrowed; NULL: not known */
	struct kept *kept;	 /* owned; those before `first` were emitted */
	size_t first, nr, cap;
	struct u64map by_key; /* those from `first` on that are not wide, by retained_key() */
	double *seen_s;	      /* owned; time that was kept back and has a profile of the device */
	size_t nr_seen, cap_seen;
	struct u64map seen; /* the index in seen_s, by retained_key() */
	bool is_sorted;
	uint64_t nr_taken;	/* number of requests in the summaries taken */
	uint64_t nr_in_windows; /* the same in windows that were kept back */
	int error;		/* of retained_take_window() */
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
	for (size_t i = r->first; i < r->nr; i++)
		profile_release(&r->kept[i].p);
	free(r->kept);
	u64map_release(&r->by_key);
	u64map_release(&r->seen);
	free(r->seen_s);
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
	uint32_t device = 0;

	device_parse(p->device, &device);
	return !f->nr_cgroups && !f->nr_processes && !f->operations &&
	       !(f->leave_out_own && p->own_requests) &&
	       p->begin_s + PROFILE_TOUCH_S >= (double)f->begin_real_ns / 1e9 &&
	       (!f->end_real_ns || p->end_s - PROFILE_TOUCH_S <= (double)f->end_real_ns / 1e9) &&
	       scan_match_device(f, device, p->device_name);
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

static uint64_t retained_key(uint64_t period, const struct profile *p)
{
	uint64_t key = keyed_hash(period, p->host, strlen(p->host) + 1);

	key = keyed_hash(key, p->device, strlen(p->device) + 1);
	return keyed_hash(key, p->device_name, strlen(p->device_name) + 1);
}

/* Returns what there is of the period and the device, apart from wide ones, or NULL. */
static struct kept *retained_find(const struct retained *r, uint64_t period,
				  const struct profile *p)
{
	uint32_t i = u64map_find(&r->by_key, retained_key(period, p));

	if (i == U64MAP_NONE)
		return NULL;
	if (is_one(&r->kept[i], period, false, p))
		return &r->kept[i];
	/* Another one has the same key, which is next to impossible. */
	for (size_t k = r->first; k < r->nr; k++)
		if (!r->kept[k].is_done && is_one(&r->kept[k], period, false, p))
			return &r->kept[k];
	return NULL;
}

static struct kept *kept_new(struct retained *r, uint64_t period, bool is_wide,
			     const struct profile *p)
{
	struct kept *k;

	if (array_grow(&r->kept, &r->cap, r->nr + 1, sizeof(*r->kept)) < 0 ||
	    (!is_wide && u64map_put(&r->by_key, retained_key(period, p), (uint32_t)r->nr) < 0))
		return NULL;
	k = &r->kept[r->nr];
	*k = (struct kept){ .period = period, .is_wide = is_wide };
	profile_init(&k->p);
	if (profile_copy(&k->p, p) < 0)
		return NULL;
	r->nr++;
	r->is_sorted = false;
	return k;
}

/* Adds a profile to what there is of the period. Returns NULL without memory. */
static struct kept *retained_keep(struct retained *r, uint64_t period, bool is_wide,
				  const struct profile *p)
{
	struct kept *k = is_wide ? NULL : retained_find(r, period, p);

	if (!k)
		return kept_new(r, period, is_wide, p);
	return profile_merge(&k->p, p) < 0 ? NULL : k;
}

static int retained_keep_summary(struct retained *r, const struct profile *p)
{
	/*
	 * The ends are moved inwards a little, so that a summary whose end touches the next period
	 * does not count in it.
	 */
	uint64_t period = period_of(r, p->begin_s + PROFILE_TOUCH_S);
	bool is_wide = period_of(r, p->end_s - PROFILE_TOUCH_S) > period;
	struct kept *k = retained_keep(r, period, is_wide, p);

	if (!k)
		return -ENOMEM;
	k->nr_requests += requests_of(p);
	k->begin_s = k->nr_summaries && k->begin_s < p->begin_s ? k->begin_s : p->begin_s;
	k->end_s = k->nr_summaries && k->end_s > p->end_s ? k->end_s : p->end_s;
	k->nr_summaries++;
	return 0;
}

static int retained_keep_window(struct retained *r, const struct profile *p)
{
	double length_s = p->end_s - p->begin_s;
	bool is_wide = r->window_s > 0 && length_s > r->window_s + PROFILE_TOUCH_S;
	uint64_t period = period_of(r, is_wide ? p->begin_s : (p->begin_s + p->end_s) / 2);
	struct kept *k = retained_keep(r, period, is_wide, p);

	if (!k)
		return -ENOMEM;
	k->nr_window_requests += requests_of(p);
	k->windows_s += length_s;
	k->nr_windows++;
	r->nr_in_windows += requests_of(p);
	return 0;
}

/* Notes that the device was not idle in this part of the time that was kept back. */
static int retained_see(struct retained *r, const struct scan_trace *trace, const struct profile *p)
{
	uint64_t last = period_of(r, p->end_s);

	for (uint64_t at = period_of(r, p->begin_s); at <= last; at++) {
		double from_s = r->window_s > 0 ? (double)at * r->window_s : p->begin_s;
		double until_s = r->window_s > 0 ? from_s + r->window_s : p->end_s;
		double s = kept_time_overlap_s(trace, fmax(from_s, p->begin_s),
					       fmin(until_s, p->end_s));
		uint64_t key = retained_key(at, p);
		uint32_t i = u64map_find(&r->seen, key);

		if (s <= 0)
			continue;
		if (i == U64MAP_NONE) {
			i = (uint32_t)r->nr_seen;
			if (array_grow(&r->seen_s, &r->cap_seen, r->nr_seen + 1,
				       sizeof(*r->seen_s)) < 0 ||
			    u64map_put(&r->seen, key, i) < 0)
				return -ENOMEM;
			r->seen_s[r->nr_seen++] = 0;
		}
		r->seen_s[i] += s;
	}
	return 0;
}

/* Returns the time that was kept back and has a profile of the device. */
static double retained_seen_s(const struct retained *r, uint64_t period, const struct profile *p)
{
	uint32_t i = u64map_find(&r->seen, retained_key(period, p));

	return i == U64MAP_NONE ? 0 : r->seen_s[i];
}

int retained_take_profile(struct retained *r, const struct profile *p)
{
	if (p->source == SOURCE_DISKSTATS)
		return r->counted ? counted_add(r->counted, p, true) : 0;
	if (!retained_wants(r, p))
		return 0;
	r->nr_taken += requests_of(p);
	return retained_keep_summary(r, p);
}

/* Returns whether profiles of the segment read last may be of time that was kept back. */
static bool retained_is_near(const struct scan_trace *trace)
{
	const struct scan_interval *last =
		trace->nr_covered ? &trace->covered[trace->nr_covered - 1] : NULL;

	if (!trace->nr_kept_back || trace->is_kept_back || !last)
		return trace->is_kept_back;
	return (double)(last->end_real_ns - last->begin_real_ns) / 1e9 <= RETAINED_LATE_S;
}

static int retained_window(struct retained *r, const struct scan_trace *trace,
			   const struct profile *p)
{
	double middle_s = (p->begin_s + p->end_s) / 2;
	int ret;

	if (p->source == SOURCE_DISKSTATS)
		return r->counted ? counted_add(r->counted, p, false) : 0;
	if (period_of(r, p->end_s) - period_of(r, p->begin_s) > RETAINED_PERIODS)
		return 0;
	ret = retained_see(r, trace, p);
	if (ret < 0 || !retained_wants(r, p) ||
	    kept_time_overlap_s(trace, middle_s - 1e-6, middle_s + 1e-6) <= 0)
		return ret;
	return retained_keep_window(r, p);
}

/* A profile that names another host than its trace does is skipped, as in counted.h. */
void retained_take_window(void *ctx, const struct scan_trace *trace, const char *json)
{
	struct retained *r = ctx;
	struct profile p;

	if (!retained_is_near(trace)) {
		if (r->counted)
			counted_take(r->counted, trace, json);
		return;
	}
	profile_init(&p);
	if (!profile_from_json(json, strlen(json), &p, NULL) && !strcmp(p.host, trace->host) &&
	    scan_match_host(&r->sel->filter, p.host) && retained_window(r, trace, &p) < 0)
		r->error = -ENOMEM;
	profile_release(&p);
}

void retained_set_scan(struct retained *r, const struct scan *scan)
{
	r->scan = scan;
}

uint64_t retained_nr_kept_back(const struct retained *r)
{
	return r->nr_in_windows;
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
	int ret = 0;

	if (k->nr_summaries) {
		snprintf(json, sizeof(json),
			 "{\"summarized_requests\":%llu,\"summaries\":%llu,\"begin_s\":%.9f,"
			 "\"end_s\":%.9f}",
			 (unsigned long long)k->nr_requests, (unsigned long long)k->nr_summaries,
			 k->begin_s, k->end_s);
		ret = profile_set_detail(p, "retention", json);
	}
	if (ret == 0 && k->nr_windows) {
		snprintf(json, sizeof(json),
			 "{\"requests\":%llu,\"windows\":%llu,\"watched_s\":%.9f}",
			 (unsigned long long)k->nr_window_requests,
			 (unsigned long long)k->nr_windows, k->windows_s);
		ret = profile_set_detail(p, "kept_back", json);
	}
	return ret;
}

/*
 * Adds the time that was kept back and in which the device was idle, so that it has no profile.
 * Where requests were kept back without any profile of the device, nothing is known of that time.
 */
static void retained_add_idle(const struct retained *r, struct profile *p, const struct kept *k,
			      uint64_t period)
{
	bool has_requests = !k || p != &k->p;
	struct kept_time kept = { .from_s = (double)period * r->window_s, .until_s = INFINITY };
	double watched_s = profile_watched_s(p), seen_s = retained_seen_s(r, period, p);
	double idle_s, share;

	if (r->window_s > 0)
		kept.until_s = kept.from_s + r->window_s;
	if (r->scan)
		kept_time_find(&kept, r->scan, p->host, !has_requests);
	idle_s = kept.sum_s - seen_s;
	if (!kept.has_kept_back || idle_s <= PROFILE_TOUCH_S || (k && k->is_wide) ||
	    (!has_requests && k->nr_summaries) ||
	    (!(seen_s > 0) && kept_time_is_busy(&kept, r->scan, p)))
		return;
	share = watched_s / (watched_s + idle_s);
	p->open.rate_per_s *= share;
	p->closed.in_flight_mean *= share;
	p->closed.clients_mean *= share;
	p->begin_s = fmin(p->begin_s, kept.begin_s);
	p->end_s = fmax(p->end_s, kept.end_s);
	p->quality.coverage_ratio = fmin((watched_s + idle_s) / (p->end_s - p->begin_s), 1);
	profile_grade(p);
}

/* Says in the words of the grade which part of the requests only profiles count. */
static void retained_grade(struct profile *p, const struct kept *k)
{
	size_t len = strlen(p->quality.why);
	uint64_t nr = requests_of(p);

	if (k->nr_windows && nr)
		snprintf(p->quality.why + len, sizeof(p->quality.why) - len,
			 " Of %.3g %% of the requests there are profiles alone.",
			 100 * (double)k->nr_window_requests / (double)nr);
}

/*
 * Values of single requests describe the requests that were sent, except the times between
 * arrivals: some of these would be as long as the time that was kept back.
 */
static int retained_merge(struct profile *p, const struct kept *k)
{
	struct profile of = *p;
	int ret;

	if (k->nr_summaries)
		return profile_merge(p, &k->p);
	p->open.idc = NULL;
	p->open.nr_idc = 0;
	p->locality.miss_ratio = NULL;
	ret = profile_merge(p, &k->p);
	if (ret < 0) {
		free(of.open.idc);
		free(of.locality.miss_ratio);
		return ret;
	}
	p->open.idc = of.open.idc;
	p->open.nr_idc = of.open.nr_idc;
	p->closed.think_time_mean_s = of.closed.think_time_mean_s;
	p->locality = of.locality;
	return 0;
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

/* No profile is added to the list any more. */
static void retained_done(struct retained *r, struct kept *k)
{
	k->is_done = true;
	if (!k->is_wide)
		u64map_erase(&r->by_key, retained_key(k->period, &k->p));
}

/*
 * Hands over a profile of requests, with what is known beside them (k, or NULL), or one that is
 * known by k alone.
 */
static int retained_hand_over(struct retained *r, struct profile *p, struct kept *k,
			      uint64_t period)
{
	int ret = k ? retained_describe(p, k) : 0;

	if (k)
		retained_done(r, k);

	if (ret < 0)
		return ret;
	if (retained_wants(r, p))
		retained_add_idle(r, p, k, period);
	if (k)
		retained_grade(p, k);
	return r->each(r->ctx, p);
}

/* Puts what is left in order, and what was emitted out. */
static int retained_sort(struct retained *r)
{
	int ret = 0;

	if (r->is_sorted)
		return 0;
	if (r->first)
		memmove(r->kept, r->kept + r->first, (r->nr - r->first) * sizeof(*r->kept));
	r->nr -= r->first;
	r->first = 0;
	if (r->nr)
		qsort(r->kept, r->nr, sizeof(*r->kept), retained_compare);
	u64map_clear(&r->by_key);
	for (size_t i = 0; i < r->nr && ret == 0; i++)
		if (!r->kept[i].is_wide && !r->kept[i].is_done)
			ret = u64map_put(&r->by_key, retained_key(r->kept[i].period, &r->kept[i].p),
					 (uint32_t)i);
	r->is_sorted = ret == 0;
	return ret;
}

/* Emits what comes before the profile of this period, host and device. */
static int emit_before(struct retained *r, const struct kept *at)
{
	int ret = retained_sort(r);

	while (r->first < r->nr && ret == 0) {
		struct kept *k = &r->kept[r->first];

		if (!k->is_done && at && retained_compare(k, at) >= 0)
			break;
		r->first++;
		if (!k->is_done)
			ret = retained_hand_over(r, &k->p, k, k->period);
		profile_release(&k->p);
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
	ret = emit_before(r, &at);
	if (ret == 0)
		k = retained_find(r, at.period, p);
	if (k)
		ret = retained_merge(p, k);
	if (ret == 0)
		ret = retained_hand_over(r, p, k, at.period);
	return ret;
}

int retained_emit(struct retained *r)
{
	return r->error ? r->error : emit_before(r, NULL);
}

struct scan_retained retained_missing(const struct retained *r, const struct scan *scan)
{
	struct scan_retained all = scan_retained(scan);

	all.nr_summarized -= r->nr_taken < all.nr_summarized ? r->nr_taken : all.nr_summarized;
	return all;
}
