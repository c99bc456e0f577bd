// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/collect/report_reading.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/watched.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/store/scan/selection_told.h"
#include "workload/reuse.h"

#define NO_ROUTE SIZE_MAX
#define MOVED	 512 /* number of requests, 36 KiB, chosen so that they stay in the cache */

/*
 * Adds the streams that the scan has met since the last batch. Their device is added with the first
 * request, so a device without requests gets no picture.
 */
static int gather_add_routes(struct gather *g, const struct scan *scan)
{
	uint32_t nr = scan_nr_streams(scan);
	size_t *routes;

	if (nr == g->nr_routes)
		return 0;
	routes = reallocarray(g->routes, nr, sizeof(*routes));
	if (!routes)
		return -ENOMEM;
	g->routes = routes;
	while (g->nr_routes < nr)
		g->routes[g->nr_routes++] = NO_ROUTE;
	return 0;
}

static int report_reading_route(struct gather *g, const struct scan *scan, uint32_t stream)
{
	const struct scan_stream *st = scan_stream(scan, stream);
	char number[32];
	struct collect_name name = { .host = st->host, .device = number, .name = st->device_name };

	if (g->routes[stream] != NO_ROUTE)
		return 0;
	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device_major(st->device),
		 device_minor(st->device));
	return collect_device(g->collect, &name, &g->routes[stream], g->err);
}

/* Adds requests of one stream, at most MOVED at a time, with their times converted to real time. */
static int gather_add_run(struct gather *g, const struct scan_request *r, size_t nr)
{
	int ret = 0;

	for (size_t done = 0; done < nr; done += MOVED) {
		size_t part = nr - done < MOVED ? nr - done : MOVED;

		for (size_t i = 0; i < part; i++) {
			const struct scan_request *from = &r[done + i];
			uint64_t ahead_ns = from->arrival_real_ns - from->r.arrival_ns;

			g->moved[i] = from->r;
			g->moved[i].arrival_ns += ahead_ns;
			g->moved[i].dispatch_ns += ahead_ns;
			g->moved[i].completion_ns += ahead_ns;
		}
		ret = collect_add(g->collect, g->routes[r->stream], g->moved, part);
		if (ret)
			return ret;
	}
	return 0;
}

static int gather_batch(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr)
{
	struct gather *g = ctx;
	size_t from = 0;
	int ret;

	if (report_share_is_done(&g->share))
		return 0; /* rank 0 draws */
	ret = gather_add_routes(g, scan);
	while (!ret && from < nr) {
		size_t to = from + 1;

		while (to < nr && r[to].stream == r[from].stream)
			to++;
		ret = report_reading_route(g, scan, r[from].stream);
		if (!ret)
			ret = gather_add_run(g, r + from, to - from);
		from = to;
	}
	return ret;
}

static int gather_profile(void *ctx, struct profile *p)
{
	struct gather *g = ctx;
	struct profile *profiles = reallocarray(g->profiles, g->nr_profiles + 1, sizeof(*profiles));

	if (!profiles)
		return -ENOMEM;
	g->profiles = profiles;
	profiles[g->nr_profiles++] = *p;
	profile_init(p);
	return 0;
}

static int report_reading_join(void *ctx, struct profile *p)
{
	struct gather *g = ctx;

	return retained_join(g->retired.retained, p);
}

static void gather_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct gather *g = ctx;

	g->progress.total = total;
	progress_update(&g->progress, done);
}

static void gather_release(struct gather *g)
{
	for (size_t i = 0; i < g->nr_profiles; i++)
		profile_release(&g->profiles[i]);
	free(g->profiles);
	free(g->routes);
	free(g->moved);
	report_retired_release(&g->retired);
	report_share_release(&g->share);
	collect_free(g->collect);
}

/* Release g whatever this returns. */
static int gather_open(struct gather *g, const struct selection *sel,
		       const struct time_objectives *objectives)
{
	int ret;

	report_share_init(&g->share, gather_profile, g);
	ret = collect_new(&g->collect);
	if (ret)
		return ret;
	if (objectives->nr)
		g->collect->objectives = objectives;
	g->moved = calloc(MOVED, sizeof(*g->moved));
	if (!g->moved)
		return -ENOMEM;
	return report_retired_open(&g->retired, g->collect, sel, report_share_take, &g->share,
				   g->err);
}

/* Converts seconds to nanoseconds, with the latest instant for a value that does not fit. */
static uint64_t report_reading_ns(double seconds)
{
	return seconds * 1e9 < 0x1p64 ? (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

/*
 * Finds the intervals in which nobody watched the device's host. A trace that does not record what
 * was watched has no gaps. A period of which only the profile is left was watched.
 */
static int report_reading_gaps(const struct gather *g, const struct scan *scan, const char *host,
			       struct gaps *out)
{
	double begin_s = INFINITY, end_s = 0;
	struct watched_interval *found = NULL;
	uint64_t begin, end, last;
	size_t nr = 0;
	int ret;

	for (size_t i = 0; i < g->nr_profiles; i++) {
		begin_s = fmin(begin_s, g->profiles[i].begin_s);
		end_s = fmax(end_s, g->profiles[i].end_s);
	}
	begin = report_reading_ns(begin_s);
	end = report_reading_ns(end_s);
	if (!watched_ns(scan, host, begin, end, &last) && !report_retired_has(&g->retired, host))
		return 0;
	ret = watched_gaps(scan, host, begin, end, &found, &nr);
	if (ret || !nr)
		return ret;
	out->items = calloc(nr, sizeof(*out->items));
	for (size_t i = 0; i < nr && out->items; i++)
		out->items[out->nr++] = (struct time_gap){ found[i].begin_ns, found[i].end_ns };
	free(found);
	return out->items ? report_retired_cut(&g->retired, host, out) : -ENOMEM;
}

/* Notes what the traces know of the devices, of which the last trace of a device counts. */
static void report_reading_describe(const struct gather *g, const struct scan *scan)
{
	for (uint32_t i = 0; i < g->nr_routes; i++) {
		const struct scan_stream *st = scan_stream(scan, i);
		struct collect_device *d;

		if (g->routes[i] == NO_ROUTE)
			continue;
		d = g->collect->devices[g->routes[i]];
		if (st->file_system[0])
			snprintf(d->file_system, sizeof(d->file_system), "%s", st->file_system);
		if (st->device_bytes)
			d->size_bytes = st->device_bytes;
	}
}

/* Completes the report; its losses are those of all traces that were read. */
static int gather_make_report(struct report **out, struct gather *g, const struct scan *scan,
			      bool utc, struct err *err)
{
	struct report_facts facts = { .profiles = g->profiles, .nr_profiles = g->nr_profiles };
	struct gaps gaps[COLLECT_DEVICES] = { 0 };
	struct collect *collect = g->collect;
	struct ledger ledger;
	int ret = 0;

	ledger_init(&ledger);
	for (uint32_t i = 0; i < scan_nr_traces(scan) && !ret; i++) {
		const struct scan_trace *trace = scan_trace(scan, i);

		facts.nr_missing += trace->nr_missing;
		ret = trace->ledger ? ledger_merge(&ledger, trace->ledger) : 0;
	}
	facts.ledger = &ledger;
	facts.gaps = gaps;
	if (ret)
		goto out;
	for (size_t i = 0; i < collect->nr_devices; i++) {
		ret = report_reading_gaps(g, scan, collect->devices[i]->host, &gaps[i]);
		if (ret)
			goto out;
	}
	report_reading_describe(g, scan);
	g->collect = NULL; /* taken over, also on failure */
	ret = report_new(out, collect, &facts, utc, err);
out:
	for (size_t i = 0; i < COLLECT_DEVICES; i++)
		gaps_release(&gaps[i]);
	ledger_release(&ledger);
	return ret;
}

/* Reads the requests and their profiles. Returns 0, -errno, or SHARE_ALONE. */
static int report_reading_replay(struct gather *g, struct scan *scan, const struct teller *t,
				 struct err *err)
{
	/*
	 * Larger samples share a budget, so that the curve of a device would depend on which others
	 * are in the report. A command of the page that selects the device gives the same data.
	 */
	struct replay_config config = { .profile = report_reading_join,
					.batch = gather_batch,
					.progress = gather_progress,
					.ctx = g,
					.window.mrc_samples = REUSE_SAMPLES };
	int ret;

	progress_begin(&g->progress, "report", 0, t->quiet);
	ret = report_share_replay(&g->share, scan, &config, g->retired.retained, err);
	progress_end(&g->progress);
	return ret;
}

void report_reading_release(struct report_reading *r)
{
	gather_release(&r->gather);
	scan_close(r->scan);
	issuers_release(&r->issuers);
}

/* Opens and reads the selection. Release *r whatever this returns: 0, -errno or SHARE_ALONE. */
static int report_reading_once(struct report_reading *r, const struct teller *t,
			       struct selection *sel, const struct time_objectives *objectives,
			       struct err *err)
{
	const struct scan_hooks hooks = { .taken = issuers_taken,
					  .taken_ctx = &r->issuers,
					  .summary = report_retired_take,
					  .summary_ctx = &r->gather.retired };
	int ret;

	*r = (struct report_reading){ .gather.err = err };
	ret = issuers_init(&r->issuers);
	if (ret)
		return ret;
	ret = gather_open(&r->gather, sel, objectives);
	if (ret)
		return ret;
	ret = selection_open(sel, t, &r->scan, &hooks, err);
	return ret ? ret : report_reading_replay(&r->gather, r->scan, t, err);
}

int report_reading_open(struct report_reading *r, const struct teller *t, struct selection *sel,
			const struct time_objectives *objectives, bool *is_done, struct err *err)
{
	int ret = report_reading_once(r, t, sel, objectives, err);

	*is_done = !ret && report_share_is_done(&r->gather.share);
	if (ret != SHARE_ALONE)
		return ret;
	report_reading_release(r);
	selection_release(sel);
	*r = (struct report_reading){ .scan = NULL };
	*is_done = !ranks_works_alone();
	return *is_done ? 0 : report_reading_once(r, t, sel, objectives, err);
}

int report_reading_report(struct report **out, struct report_reading *reading,
			  const struct teller *t, bool *is_empty, struct err *err)
{
	struct gather *g = &reading->gather;
	struct scan *scan = reading->scan;
	struct scan_retained left;
	int ret;

	*is_empty = g->collect->nr_requests == 0;
	left = retained_missing(g->retired.retained, scan);
	selection_note_retained(t, &left);
	selection_note_kept_back(t, scan, 0);
	ret = gather_make_report(out, g, scan, t->utc, err);
	if (ret)
		return ret;
	(*out)->nr_left_out = left.nr_summarized + left.nr_dropped;
	issuers_rank(&reading->issuers);
	(*out)->issuers = &reading->issuers;
	(*out)->maker = t->maker;
	return 0;
}
