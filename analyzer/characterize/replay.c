// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/series.h"

/* This many requests are read at once. Sorted by device, they form long runs. */
#define REPLAY_BATCH LANES_REQUESTS

#define NO_SERIES    UINT32_MAX

/* The route from a stream of the scan to its series. */
struct route {
	uint32_t series;    /* NO_SERIES until the first request */
	uint64_t offset_ns; /* real time minus monotonic time when the trace was first watched */
};

struct run {
	struct scan *scan;
	const struct replay_config *config;
	struct window_config window; /* that of config, with the room added */
	struct window_room room;     /* shared by all series */
	struct series **series;	     /* owned */
	uint32_t nr_series;
	struct route *routes; /* owned, by stream */
	uint32_t nr_routes;
	struct scan_request *batch; /* owned, REPLAY_BATCH */
	struct lanes *lanes;	    /* owned */
	struct request *moved;	    /* owned by the package being filled: the batch by series */
	uint32_t *ends;		    /* owned; for each series, the end of its requests in moved */
};

static struct series *series_new(struct run *run, const struct scan_stream *st, uint64_t begin_ns,
				 int *status)
{
	struct series **all = realloc(run->series, (run->nr_series + 1) * sizeof(struct series *));
	uint32_t *ends = realloc(run->ends, (run->nr_series + 1) * sizeof(*ends));
	struct series *s = all && ends ? calloc(1, sizeof(*s)) : NULL;
	const struct replay_config *c = run->config;
	struct window_config window = run->window;

	if (all)
		run->series = all;
	if (ends)
		run->ends = ends;
	if (!s) {
		*status = -ENOMEM;
		return NULL;
	}
	if (c->keeps && !c->keeps(c->keeps_ctx, st))
		window.cheap = true;
	*status = series_init(s, run->scan, run->lanes, st, &window, begin_ns, c->window_ns);
	if (*status < 0) {
		free(s);
		return NULL;
	}
	run->series[run->nr_series++] = s;
	return s;
}

/*
 * Returns when the device of the stream was first observed in any of its traces, or first_real_ns
 * if that was earlier.
 */
static uint64_t device_begin(const struct run *run, const struct scan_stream *st,
			     uint64_t first_real_ns)
{
	uint64_t begin_ns = first_real_ns;

	for (uint32_t i = 0; i < run->nr_routes; i++) {
		const struct scan_stream *other = scan_stream(run->scan, i);
		const struct scan_trace *t = scan_trace(run->scan, other->trace);
		uint64_t at_ns = t->begin_ns + run->routes[i].offset_ns;

		if (other->device == st->device && strcmp(other->host, st->host) == 0 &&
		    strcmp(other->device_name, st->device_name) == 0 &&
		    (t->nr_covered || t->nr_kept_back) && at_ns < begin_ns)
			begin_ns = at_ns;
	}
	return begin_ns;
}

/*
 * Routes the stream to the series of its device, which is made where it is missing. A device that
 * was not observed and has no request (first_real_ns UINT64_MAX) gets none.
 */
static int add_route(struct run *run, uint32_t stream, uint64_t first_real_ns)
{
	const struct scan_stream *st = scan_stream(run->scan, stream);
	struct route *route = &run->routes[stream];
	uint64_t begin_ns;
	int ret = 0;

	for (uint32_t i = 0; i < run->nr_series; i++) {
		if (series_is(run->series[i], st)) {
			route->series = i;
			return 0;
		}
	}
	begin_ns = device_begin(run, st, first_real_ns);
	if (begin_ns == UINT64_MAX)
		return 0;
	if (!series_new(run, st, begin_ns, &ret))
		return ret;
	route->series = run->nr_series - 1;
	return 0;
}

/* Makes room for the routes of the streams that the scan has met since the last batch. */
static int grow_routes(struct run *run)
{
	uint32_t nr = scan_nr_streams(run->scan);
	struct route *routes;

	if (nr == run->nr_routes)
		return 0;
	routes = realloc(run->routes, nr * sizeof(*routes));
	if (!routes)
		return -ENOMEM;
	run->routes = routes;
	for (; run->nr_routes < nr; run->nr_routes++) {
		const struct scan_stream *st = scan_stream(run->scan, run->nr_routes);
		const struct scan_trace *t = scan_trace(run->scan, st->trace);
		struct route route = { NO_SERIES, (uint64_t)st->real_offset_ns };

		/* The position of the scan depends on other hosts, but its beginning does not. */
		if (t->nr_covered)
			route.offset_ns = t->covered[0].begin_real_ns - t->covered[0].begin_ns;
		routes[run->nr_routes] = route;
	}
	return 0;
}

/* Adds routes for devices without a request so far, if they are wanted. */
static int add_idle_routes(struct run *run, uint64_t by_real_ns)
{
	for (uint32_t i = 0; run->config->idle && i < run->nr_routes; i++) {
		int ret = run->routes[i].series == NO_SERIES ? add_route(run, i, by_real_ns) : 0;

		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Adds routes for the devices of a batch. Where a series begins depends on its own host alone, so
 * that the profile is the same without the other hosts.
 */
static int add_routes(struct run *run, size_t nr)
{
	int ret = grow_routes(run);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < nr; i++) {
		const struct scan_request *r = &run->batch[i];
		const struct route *route = &run->routes[r->stream];

		if (route->series != NO_SERIES)
			continue;
		ret = add_route(run, r->stream, r->r.arrival_ns + route->offset_ns);
		if (ret < 0)
			return ret;
	}
	return run->config->window_ns ? add_idle_routes(run, run->batch[0].arrival_real_ns) : 0;
}

static int replay_emit(struct run *run, struct series *s, bool at_end)
{
	struct profile p;
	bool nothing;
	int ret = 0;

	if (run->config->room_used) {
		/* From here on no worker takes from the room. */
		ret = lanes_settle(run->lanes);
		*run->config->room_used = run->room;
	}
	if (ret)
		return ret;
	profile_init(&p);
	ret = series_close(s, run->config->window_ns, at_end, &p, &nothing);
	if (ret == 0 && !nothing)
		ret = run->config->profile(run->config->ctx, &p);
	profile_release(&p);
	return ret;
}

static int compare_names(const struct series *a, const struct series *b)
{
	const struct scan_stream *x = a->last, *y = b->last;
	int order = strcmp(x->host, y->host);

	if (!order)
		order = strcmp(x->device_name, y->device_name);
	return order ? order : (x->device > y->device) - (x->device < y->device);
}

/*
 * Returns the wanted series whose period begins first, and of equals the first by name. Returns
 * NULL where no series is wanted.
 */
static struct series *replay_earliest(const struct run *run,
				      bool (*wanted)(const struct run *run, const struct series *s))
{
	struct series *first = NULL;

	for (uint32_t i = 0; i < run->nr_series; i++) {
		struct series *s = run->series[i];

		if (!wanted(run, s))
			continue;
		if (!first || s->begin_ns < first->begin_ns ||
		    (s->begin_ns == first->begin_ns && compare_names(s, first) < 0))
			first = s;
	}
	return first;
}

/*
 * Devices without a request have no profile unless they are asked for. Devices that were only
 * counted have none here either, because their profiles are stored (counted.h).
 */
static bool is_shown(const struct run *run, const struct series *s)
{
	return s->nr || (run->config->idle && s->last->source != SOURCE_DISKSTATS);
}

static bool is_due(const struct run *run, const struct series *s)
{
	return is_shown(run, s) && series_due(s);
}

/*
 * The scan proceeds by real time, so the latest request of one device shows how far all devices
 * are, including those without requests. A stream's own times are converted by its first offset,
 * those of the scan by the latest offset.
 */
static int emit_due(struct run *run, uint64_t latest_real_ns)
{
	struct series *s;
	int ret = 0;

	if (!run->config->window_ns)
		return 0;
	for (uint32_t i = 0; i < run->nr_routes; i++) {
		const struct route *route = &run->routes[i];
		uint64_t drift =
			(uint64_t)scan_stream(run->scan, i)->real_offset_ns - route->offset_ns;

		if (route->series == NO_SERIES)
			continue;
		series_advance(run->series[route->series], latest_real_ns - drift);
	}
	while (ret == 0 && (s = replay_earliest(run, is_due)))
		ret = replay_emit(run, s, false);
	return ret;
}

/*
 * Sorts the batch by series into run->moved, in its order otherwise, with real times. run->ends[i]
 * becomes the end of series i there. Long runs keep the estimators in the cache.
 */
static void sort_batch(struct run *run, size_t nr)
{
	uint32_t at = 0;

	memset(run->ends, 0, run->nr_series * sizeof(*run->ends));
	for (size_t i = 0; i < nr; i++)
		run->ends[run->routes[run->batch[i].stream].series]++;
	for (uint32_t i = 0; i < run->nr_series; i++) {
		uint32_t nr_here = run->ends[i];

		run->ends[i] = at;
		at += nr_here;
	}
	for (size_t i = 0; i < nr; i++) {
		const struct route *route = &run->routes[run->batch[i].stream];
		struct request *to = &run->moved[run->ends[route->series]++];

		*to = run->batch[i].r;
		to->arrival_ns += route->offset_ns;
		to->dispatch_ns += route->offset_ns;
		to->completion_ns += route->offset_ns;
	}
}

static int feed_batch(struct run *run, size_t nr)
{
	int ret = add_routes(run, nr);
	uint32_t from = 0;

	if (ret == 0 && run->config->batch)
		ret = run->config->batch(run->config->ctx, run->scan, run->batch, nr);
	if (ret < 0)
		return ret;
	run->moved = lanes_requests(run->lanes);
	if (!run->moved)
		return -ENOMEM;
	sort_batch(run, nr);
	for (uint32_t i = 0; i < run->nr_series && ret == 0; i++) {
		if (run->ends[i] == from)
			continue;
		ret = series_add(run->series[i], run->moved + from, run->ends[i] - from);
		from = run->ends[i];
	}
	if (ret < 0)
		return ret;
	lanes_submit(run->lanes);
	return emit_due(run, run->batch[nr - 1].arrival_real_ns);
}

static int compare_series(const void *a, const void *b)
{
	return compare_names(*(struct series *const *)a, *(struct series *const *)b);
}

static int finish_whole(struct run *run)
{
	int ret = 0;

	if (run->nr_series > 1)
		qsort(run->series, run->nr_series, sizeof(struct series *), compare_series);
	for (uint32_t i = 0; i < run->nr_series && ret == 0; i++)
		if (is_shown(run, run->series[i]))
			ret = replay_emit(run, run->series[i], true);
	return ret;
}

/*
 * Requests that completed in later periods follow as each period is closed. After them follow the
 * periods that were observed and had no requests.
 */
static bool is_unfinished(const struct run *run, const struct series *s)
{
	return is_shown(run, s) &&
	       (s->later.nr || window_count(s->window) || s->begin_ns < series_watched_end(s));
}

static int replay_finish(struct run *run)
{
	int ret = grow_routes(run);
	struct series *s;

	if (ret == 0)
		ret = add_idle_routes(run, UINT64_MAX);
	if (ret == 0 && !run->config->window_ns)
		return finish_whole(run);
	for (uint32_t i = 0; i < run->nr_series; i++)
		series_advance(run->series[i], UINT64_MAX);
	while (ret == 0 && (ret = lanes_settle(run->lanes)) == 0 &&
	       (s = replay_earliest(run, is_unfinished)))
		ret = replay_emit(run, s, s->later.nr == 0 && s->end_ns >= series_watched_end(s));
	return ret;
}

int replay(struct scan *scan, const struct replay_config *config, struct err *err)
{
	struct run run = { .scan = scan, .config = config };
	int64_t nr;
	int ret = 0;

	window_room_init(&run.room, scan_whole_requests(scan));
	if (config->nr_shares)
		window_room_share(&run.room, config->nr_shares);
	run.window = config->window;
	run.window.room = &run.room;
	run.batch = calloc(REPLAY_BATCH, sizeof(*run.batch));
	if (!run.batch || lanes_new(&run.lanes, config->nr_threads)) {
		ret = err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	while (ret == 0 && (nr = scan_next(scan, run.batch, REPLAY_BATCH)) != 0) {
		if (nr < 0) {
			ret = err_set(err, (int)-nr, "%s", scan_error(scan)->line);
			goto out;
		}
		ret = feed_batch(&run, (size_t)nr);
		if (config->progress)
			config->progress(config->progress_ctx ? config->progress_ctx : config->ctx,
					 scan_done_requests(scan), scan_total_requests(scan));
	}
	if (ret == 0)
		ret = replay_finish(&run);
	if (ret == -ENOMEM)
		err_set(err, ENOMEM, "out of memory");
out:
	lanes_free(run.lanes); /* first, since the workers read the windows */
	if (config->room_used)
		*config->room_used = run.room;
	for (uint32_t i = 0; i < run.nr_series; i++) {
		series_release(run.series[i]);
		free(run.series[i]);
	}
	free(run.series);
	free(run.routes);
	free(run.batch);
	free(run.ends);
	return ret;
}
