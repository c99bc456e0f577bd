// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/fleet/page_fleet_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/period/page_column.h"
#include "base/memory/array.h"
#include "base/memory/keyed_hash.h"
#include "base/system/clock.h"

#define MINUTE_S 60
/* A window that ends further ahead of this machine's clock is left out of the sums. */
#define AHEAD_S	       60
#define LAST_S	       9.2e9 /* nanoseconds since 1970 fit into 63 bits until then */
#define GAP_MIN_S      0.05  /* two segments that touch are this near to one another */
#define SILENT_PACES   3
#define SILENT_S       5
#define PACE_FORGOTTEN 0.9 /* With each arrival the slowest pace is multiplied by this. */
#define PACE_MIN_S     0.05

double page_fleet_as_of_s(const struct page_fleet *f)
{
	double now = clock_real_s();

	return f->newest_s > 0 && f->newest_s < now ? f->newest_s : now;
}

bool page_host_is_silent(const struct page_host *h, uint64_t now_real_ns)
{
	double age_s =
		now_real_ns > h->heard_real_ns ? (double)(now_real_ns - h->heard_real_ns) / 1e9 : 0;

	return age_s > SILENT_S + SILENT_PACES * h->pace_s;
}

static uint64_t page_name_hash(const char *host, const char *device)
{
	char both[SEGMENT_NAME_BYTES + PROFILE_NAME_BYTES];
	int len = snprintf(both, sizeof(both), "%s/%s", host, device);

	return keyed_hash(0, both, (size_t)len);
}

/*
 * Returns the device and adds it if it is new. On NULL, *ret is -ENOMEM, or 0 if there are too many
 * devices.
 */
static struct page_device *page_fleet_device(struct page_fleet *f, struct page_host *host,
					     const char *device, int *ret)
{
	uint64_t hash = page_name_hash(host->name, device);
	uint32_t at = u64map_find(&f->by_name, hash);
	struct page_device *d;

	*ret = 0;
	if (at != U64MAP_NONE) {
		d = f->devices[at];
		if (d->host == host && strcmp(d->device, device) == 0)
			return d;
		f->nr_refused++; /* Another device with the same hash was there first. */
		return NULL;
	}
	if (f->nr_devices == PAGE_MAX_DEVICES || host->nr_devices == PAGE_HOST_DEVICES) {
		f->nr_refused++;
		return NULL;
	}
	*ret = -ENOMEM;
	if (array_grow(&f->devices, &f->cap_devices, f->nr_devices + 1, sizeof(*f->devices)) < 0)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d || u64map_put(&f->by_name, hash, (uint32_t)f->nr_devices) < 0) {
		free(d);
		return NULL;
	}
	d->host = host;
	snprintf(d->device, sizeof(d->device), "%s", device);
	f->devices[f->nr_devices++] = d;
	host->nr_devices++;
	*ret = 0;
	return d;
}

/*
 * Returns the entry of the device's minute, cleared if it held an older minute; NULL if it holds a
 * newer one already.
 */
static struct page_minute *page_device_minute(struct page_device *d, uint64_t minute)
{
	struct page_minute *m = &d->minutes[minute % PAGE_MINUTES];

	if (m->minute > minute)
		return NULL;
	if (m->minute < minute)
		*m = (struct page_minute){ .minute = minute };
	return m;
}

struct page_share {
	uint64_t minute;
	double share; /* the share of the interval that lies in the minute */
};

/*
 * Cuts [begin, end) at full minutes and gives the last PAGE_MINUTES pieces. Returns the number of
 * pieces.
 */
static size_t page_cut_minutes(double begin_s, double end_s, struct page_share out[PAGE_MINUTES])
{
	uint64_t first = (uint64_t)(begin_s / MINUTE_S), last = (uint64_t)(end_s / MINUTE_S);
	size_t nr = 0;

	if (last - first >= PAGE_MINUTES)
		first = last - PAGE_MINUTES + 1;
	for (uint64_t minute = first; minute <= last; minute++) {
		double from = fmax(begin_s, (double)minute * MINUTE_S);
		double to = fmin(end_s, (double)(minute + 1) * MINUTE_S);

		if (to > from)
			out[nr++] = (struct page_share){ minute, (to - from) / (end_s - begin_s) };
	}
	return nr;
}

static void page_device_minutes(struct page_device *d, const struct profile *p, double requests,
				double bytes)
{
	struct page_share shares[PAGE_MINUTES];
	double watched_s = profile_rate_s(p), length_s = p->end_s - p->begin_s;
	size_t nr = page_cut_minutes(p->begin_s, p->end_s, shares);

	for (size_t i = 0; i < nr; i++) {
		struct page_minute *m = page_device_minute(d, shares[i].minute);

		if (!m)
			continue;
		m->requests += (float)(requests * shares[i].share);
		m->bytes += (float)(bytes * shares[i].share);
		m->watched_s += (float)(watched_s * shares[i].share);
		m->lost += (float)((double)p->lost * shares[i].share);
		m->peak_per_s = fmaxf(m->peak_per_s, (float)(requests / length_s));
		m->peak_bytes_per_s = fmaxf(m->peak_bytes_per_s, (float)(bytes / length_s));
	}
}

static void page_host_gap(struct page_host *h, double begin_s)
{
	struct page_share shares[PAGE_MINUTES];
	size_t nr;

	if (h->end_s <= 0 || begin_s - h->end_s <= GAP_MIN_S)
		return;
	nr = page_cut_minutes(h->end_s, begin_s, shares);
	for (size_t i = 0; i < nr; i++) {
		struct page_gap *g = &h->gaps[shares[i].minute % PAGE_MINUTES];

		if (g->minute > shares[i].minute)
			continue;
		if (g->minute < shares[i].minute)
			*g = (struct page_gap){ .minute = shares[i].minute };
		g->gap_s += (float)((begin_s - h->end_s) * shares[i].share);
	}
}

static void page_host_heard(struct page_host *h, uint64_t received_ns)
{
	double since_s;

	if (received_ns <= h->heard_real_ns)
		return;
	since_s = (double)(received_ns - h->heard_real_ns) / 1e9;
	if (h->heard_real_ns && since_s > PACE_MIN_S)
		h->pace_s = fmax(since_s, PACE_FORGOTTEN * h->pace_s);
	h->heard_real_ns = received_ns;
}

struct page_host *page_fleet_host(struct page_fleet *f, const char *name, double begin_s,
				  double end_s, uint64_t received_ns)
{
	uint64_t hash = page_name_hash(name, "");
	uint32_t at = u64map_find(&f->by_host, hash);
	struct page_host *h = at == U64MAP_NONE ? NULL : f->hosts[at];

	if (h && strcmp(h->name, name) != 0)
		return NULL; /* Another host with the same hash was there first. */
	if (!h) {
		if (f->nr_hosts == PAGE_MAX_DEVICES ||
		    array_grow(&f->hosts, &f->cap_hosts, f->nr_hosts + 1, sizeof(*f->hosts)) < 0)
			return NULL;
		h = calloc(1, sizeof(*h));
		if (!h || u64map_put(&f->by_host, hash, (uint32_t)f->nr_hosts) < 0) {
			free(h);
			return NULL;
		}
		snprintf(h->name, sizeof(h->name), "%s", name);
		f->hosts[f->nr_hosts++] = h;
	}
	if (begin_s >= 0 && end_s >= begin_s && end_s < LAST_S) {
		page_host_gap(h, begin_s);
		h->end_s = fmax(h->end_s, end_s);
	}
	page_host_heard(h, received_ns);
	return h;
}

/* Adds the window to the sums of the fleet, second by second. */
static void page_fleet_sum(struct page_fleet *f, const struct profile *p, double requests,
			   double bytes)
{
	double length_s = p->end_s - p->begin_s;
	uint64_t first = (uint64_t)p->begin_s, last = (uint64_t)p->end_s;

	if (p->end_s > clock_real_s() + AHEAD_S)
		return;
	if (p->end_s > f->newest_s)
		f->newest_s = p->end_s;
	if (last - first >= PAGE_SECONDS)
		first = last - PAGE_SECONDS + 1;
	for (uint64_t second = first; second <= last; second++) {
		struct page_second *s = &f->seconds[second % PAGE_SECONDS];
		double overlap_s =
			fmin(p->end_s, (double)(second + 1)) - fmax(p->begin_s, (double)second);

		if (overlap_s <= 0 || s->second > second)
			continue;
		if (s->second < second)
			*s = (struct page_second){ .second = second };
		s->requests += requests * overlap_s / length_s;
		s->bytes += bytes * overlap_s / length_s;
	}
}

static void page_device_last(struct page_device *d, const struct profile *p, double requests,
			     double bytes)
{
	double watched_s = profile_rate_s(p);

	if (watched_s <= 0)
		watched_s = p->end_s - p->begin_s;
	snprintf(d->name, sizeof(d->name), "%s", p->device_name);
	d->source = p->source;
	d->layer = p->layer;
	d->begin_s = p->begin_s;
	d->end_s = p->end_s;
	d->reads_per_s = (double)p->requests[OPERATION_READ] / watched_s;
	d->writes_per_s = (double)p->requests[OPERATION_WRITE] / watched_s;
	d->requests_per_s = requests / watched_s;
	d->bytes_per_s = bytes / watched_s;
	d->p50_s = page_profile_quantile_s(p, 0.5);
	d->p99_s = page_profile_quantile_s(p, 0.99);
	d->in_flight = p->closed.in_flight_mean;
}

int page_fleet_add(struct page_fleet *f, struct page_host *host, const struct profile *p)
{
	double requests = 0, bytes = 0;
	struct page_device *d;
	int ret;

	/*
	 * A window that begins before 1970 or has no length cannot be placed in time; NaN fails
	 * this check as well.
	 */
	if (!(p->begin_s >= 0) || !(p->end_s > p->begin_s) || !(p->end_s < LAST_S))
		return 0;
	d = page_fleet_device(f, host, p->device, &ret);
	if (!d)
		return ret;
	for (int i = 0; i < NR_OPERATIONS; i++) {
		requests += (double)p->requests[i];
		bytes += i <= OPERATION_WRITE || i == OPERATION_OTHER ? (double)p->bytes[i] : 0;
	}
	page_objectives_take(f->objectives, host->name, p);
	page_device_minutes(d, p, requests, bytes);
	page_fleet_sum(f, p, requests, bytes);
	if (p->end_s > d->end_s)
		page_device_last(d, p, requests, bytes);
	return 0;
}

int page_fleet_start(struct page_fleet **out, struct page_store *store,
		     struct page_objectives *objectives, struct err *err)
{
	struct page_fleet *f = calloc(1, sizeof(*f));
	pthread_condattr_t clock;
	int ret;

	if (!f)
		return err_set(err, ENOMEM, "no memory for the page");
	f->store = store;
	f->objectives = objectives;
	f->queue = calloc(PAGE_QUEUE, sizeof(*f->queue));
	u64map_init(&f->by_name);
	u64map_init(&f->by_host);
	u64map_init(&f->by_stream);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&f->changed, &clock);
	pthread_cond_init(&f->wake, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&f->lock, NULL);
	ret = f->queue ? -pthread_create(&f->thread, NULL, page_fleet_run, f) : -ENOMEM;
	if (ret < 0) {
		free(f->queue);
		free(f);
		return err_set(err, -ret, "the page: %s", strerror(-ret));
	}
	*out = f;
	return 0;
}

void page_fleet_stop(struct page_fleet *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_broadcast(&f->wake);
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	pthread_cond_destroy(&f->changed);
	pthread_cond_destroy(&f->wake);
	pthread_mutex_destroy(&f->lock);
	for (size_t i = 0; i < f->nr_devices; i++)
		free(f->devices[i]);
	free(f->devices);
	for (size_t i = 0; i < f->nr_hosts; i++)
		free(f->hosts[i]);
	free(f->hosts);
	free(f->sequences);
	free(f->queue);
	page_labels_free(f->labels);
	u64map_release(&f->by_name);
	u64map_release(&f->by_host);
	u64map_release(&f->by_stream);
	free(f);
}

void page_fleet_stored(struct page_fleet *f, const struct segment_name *n)
{
	pthread_mutex_lock(&f->lock);
	if (f->queue_nr == PAGE_QUEUE) {
		f->look_again = true;
	} else {
		f->queue[(f->queue_first + f->queue_nr) % PAGE_QUEUE] = *n;
		f->queue_nr++;
	}
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
}

void page_fleet_set_labels(struct page_fleet *f, struct page_labels *labels)
{
	struct page_labels *old;

	pthread_mutex_lock(&f->lock);
	old = f->labels;
	f->labels = labels;
	f->generation++;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	page_labels_free(old);
}

uint64_t page_fleet_generation(struct page_fleet *f)
{
	uint64_t generation;

	pthread_mutex_lock(&f->lock);
	generation = f->generation;
	pthread_mutex_unlock(&f->lock);
	return generation;
}

uint64_t page_fleet_wait(struct page_fleet *f, uint64_t generation, unsigned int wait_ms)
{
	uint64_t end_ns = clock_monotonic_ns() + wait_ms * 1000000ull;
	struct timespec until = { .tv_sec = (time_t)(end_ns / CLOCK_NS_PER_S),
				  .tv_nsec = (long)(end_ns % CLOCK_NS_PER_S) };

	pthread_mutex_lock(&f->lock);
	if (!f->stop && f->generation == generation)
		pthread_cond_timedwait(&f->changed, &f->lock, &until);
	generation = f->generation;
	pthread_mutex_unlock(&f->lock);
	return generation;
}

double page_fleet_loaded_s(struct page_fleet *f)
{
	double as_of_s;

	pthread_mutex_lock(&f->lock);
	as_of_s = f->loaded ? page_fleet_as_of_s(f) : 0;
	pthread_mutex_unlock(&f->lock);
	return as_of_s;
}

bool page_fleet_host_name(struct page_fleet *f, size_t i, char out[SEGMENT_NAME_BYTES])
{
	bool has;

	pthread_mutex_lock(&f->lock);
	has = i < f->nr_hosts;
	if (has)
		memcpy(out, f->hosts[i]->name, SEGMENT_NAME_BYTES);
	pthread_mutex_unlock(&f->lock);
	return has;
}

/* Returns the host of this name, or NULL. The caller holds the lock. */
static const struct page_host *page_fleet_find_host(const struct page_fleet *f, const char *host)
{
	uint32_t at = u64map_find(&f->by_host, page_name_hash(host, ""));

	return at != U64MAP_NONE && strcmp(f->hosts[at]->name, host) == 0 ? f->hosts[at] : NULL;
}

bool page_fleet_has_host(struct page_fleet *f, const char *host)
{
	bool has;

	pthread_mutex_lock(&f->lock);
	has = page_fleet_find_host(f, host) != NULL;
	pthread_mutex_unlock(&f->lock);
	return has;
}

double page_fleet_kept_back_s(struct page_fleet *f, const char *host)
{
	const struct page_host *found;
	double kept_back_s = 0;

	pthread_mutex_lock(&f->lock);
	found = page_fleet_find_host(f, host);
	if (found)
		kept_back_s = found->kept_back_s;
	pthread_mutex_unlock(&f->lock);
	return kept_back_s > 0 ? kept_back_s : NAN;
}

void page_fleet_wake(struct page_fleet *f)
{
	pthread_mutex_lock(&f->lock);
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}
