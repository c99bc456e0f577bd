// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/characterize/watched.h"

/* If no observed interval follows yet, the next search begins this much later. */
#define DOUBT_NS 10000000ull
/*
 * A request may come this much later than requests that arrived after it. The value covers the
 * agent's reorder bound. No period is closed earlier.
 */
#define LATE_NS 1000000000ull

static uint64_t period_begin(uint64_t at_ns, uint64_t window_ns)
{
	return window_ns ? at_ns - at_ns % window_ns : at_ns;
}

int series_init(struct series *s, const struct scan *scan, struct lanes *lanes,
		const struct scan_stream *stream, const struct window_config *config,
		uint64_t begin_ns, uint64_t window_ns)
{
	*s = (struct series){ .scan = scan, .lanes = lanes, .last = stream };
	s->begin_ns = period_begin(begin_ns, window_ns);
	s->end_ns = window_ns ? s->begin_ns + window_ns : UINT64_MAX;
	if (s->begin_ns < begin_ns)
		s->begin_ns = begin_ns;
	s->first_ns = UINT64_MAX;
	s->seen_ns = s->begin_ns;
	later_init(&s->later, window_ns);
	return window_new(&s->window, config, s->begin_ns);
}

void series_release(struct series *s)
{
	window_free(s->window);
	later_release(&s->later);
	*s = (struct series){ 0 };
}

bool series_is(const struct series *s, const struct scan_stream *stream)
{
	const struct scan_stream *l = s->last;

	return strcmp(l->host, stream->host) == 0 && l->device == stream->device &&
	       strcmp(l->device_name, stream->device_name) == 0;
}

static void note_times(struct series *s, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (r[i].arrival_ns < s->first_ns)
			s->first_ns = r[i].arrival_ns;
		if (r[i].completion_ns > s->last_ns)
			s->last_ns = r[i].completion_ns;
	}
}

/* Tells the window which time between seen_ns and an arrival was not observed. */
static int pass_gaps(struct series *s, uint64_t arrival_ns)
{
	struct watched_interval next;

	while (arrival_ns >= s->seen_ns) {
		if (!watched_next(s->scan, s->last->host, s->seen_ns, &next) ||
		    next.begin_ns > arrival_ns) {
			s->doubt_ns = arrival_ns + DOUBT_NS;
			return 0;
		}
		if (next.begin_ns > s->seen_ns && s->seen_ns < s->end_ns &&
		    lanes_unwatched(s->lanes, s->window, s->seen_ns,
				    next.begin_ns < s->end_ns ? next.begin_ns : s->end_ns))
			return -ENOMEM;
		s->seen_ns = next.end_ns;
	}
	return 0;
}

/* Feeds the requests of the period and keeps the others for later, in runs. */
static int series_feed(struct series *s, const struct request *r, size_t nr)
{
	size_t run = 0, i;
	int ret = 0;

	for (i = 0; i < nr && ret == 0; i++) {
		bool is_past = r[i].arrival_ns >= s->seen_ns && r[i].arrival_ns >= s->doubt_ns;

		if (r[i].completion_ns < s->end_ns && !is_past)
			continue;
		if (i > run)
			ret = lanes_add(s->lanes, s->window, r + run, i - run);
		note_times(s, r + run, i - run);
		run = i;
		if (is_past && ret == 0)
			ret = pass_gaps(s, r[i].arrival_ns);
		if (r[i].completion_ns < s->end_ns)
			continue;
		run = i + 1;
		if (ret == 0)
			ret = later_keep(&s->later, &r[i], s->end_ns);
	}
	if (ret == 0 && run < nr) {
		ret = lanes_add(s->lanes, s->window, r + run, nr - run);
		note_times(s, r + run, nr - run);
	}
	return ret;
}

int series_add(struct series *s, const struct request *r, size_t nr)
{
	s->nr += nr;
	return series_feed(s, r, nr);
}

void series_advance(struct series *s, uint64_t latest_ns)
{
	if (latest_ns > s->latest_ns)
		s->latest_ns = latest_ns;
}

bool series_due(const struct series *s)
{
	return s->end_ns != UINT64_MAX && s->latest_ns >= s->end_ns &&
	       s->latest_ns - s->end_ns >= LATE_NS;
}

uint64_t series_watched_end(const struct series *s)
{
	uint64_t end = 0;

	for (uint32_t t = 0; t < scan_nr_traces(s->scan); t++) {
		const struct scan_trace *trace = scan_trace(s->scan, t);

		if (strcmp(trace->host, s->last->host) != 0)
			continue;
		for (size_t i = 0; i < trace->nr_covered; i++)
			if (trace->covered[i].end_real_ns > end)
				end = trace->covered[i].end_real_ns;
	}
	return end;
}

/*
 * Returns which share of a loss counts in [begin, end): in proportion to time where it extends
 * beyond. What an agent lost while it kept requests back counts no more than these do, since the
 * profile is of the time whose requests were sent.
 */
static double series_share(const struct series *s, const struct scan_trace *trace,
			   const struct loss *l, uint64_t begin, uint64_t end)
{
	uint64_t from = l->begin_real_ns > begin ? l->begin_real_ns : begin;
	uint64_t to = l->end_real_ns < end ? l->end_real_ns : end;
	uint64_t length = l->end_real_ns - l->begin_real_ns, sent = to - from, last;
	/* Beyond these causes a whole segment is missing, which is in no time that was sent. */
	bool is_of_segment = trace->nr_kept_back && l->cause < LOSS_SPOOL_FULL;

	if (l->cause == LOSS_KEPT_BACK || from > to)
		return 0;
	if (is_of_segment)
		sent = watched_ns(s->scan, s->last->host, from, to + (length == 0), &last);
	if (length == 0)
		return from < end && (sent || !is_of_segment);
	return (double)sent / (double)length;
}

/*
 * Returns the number of requests that are missing from [begin, end), of this device or of an
 * unknown one.
 */
static uint64_t lost_in(const struct series *s, uint64_t begin, uint64_t end)
{
	double sum = 0;

	for (uint32_t t = 0; t < scan_nr_traces(s->scan); t++) {
		const struct scan_trace *trace = scan_trace(s->scan, t);

		if (strcmp(trace->host, s->last->host) != 0)
			continue;
		for (size_t i = 0; i < trace->ledger->nr; i++) {
			const struct loss *l = &trace->ledger->losses[i];

			if (!l->device || l->device == s->last->device)
				sum += (double)l->count * series_share(s, trace, l, begin, end);
		}
	}
	return (uint64_t)(sum + 0.5);
}

/*
 * Adds the host's pauses between begin and end. A pause of length 0 (a restored guest) counts at
 * its begin.
 */
static void add_pauses(const struct series *s, uint64_t begin, uint64_t end, struct profile *p)
{
	for (uint32_t t = 0; t < scan_nr_traces(s->scan); t++) {
		const struct scan_trace *trace = scan_trace(s->scan, t);

		if (strcmp(trace->host, s->last->host) != 0)
			continue;
		for (size_t i = 0; i < trace->ledger->nr; i++) {
			const struct loss *l = &trace->ledger->losses[i];

			if (!loss_is_pause(l) || l->begin_real_ns >= end || l->end_real_ns < begin)
				continue;
			profile_add_pause(
				p, &(struct profile_pause){
					   l->cause, (double)l->begin_real_ns / 1e9,
					   (double)(l->end_real_ns - l->begin_real_ns) / 1e9 });
		}
	}
}

/*
 * Marks as unknown what foreign traces do not hold, and what only traces of the block layer hold.
 */
static void leave_unknown(struct profile *p)
{
	if (p->source != SOURCE_IMPORT)
		return;
	p->unknown |= UNKNOWN_KERNEL_THREAD | UNKNOWN_OWN;
	/*
	 * Most foreign formats have neither flushes nor flags. A trace of one that has them
	 * contains some.
	 */
	if (!p->requests[OPERATION_FLUSH] && !p->durability.forced_writes &&
	    !p->durability.flushing_writes)
		p->unknown |= UNKNOWN_DURABILITY;
	if (p->read.response.stage[STAGE_DEVICE].nr == 0 &&
	    p->write.response.stage[STAGE_DEVICE].nr == 0 && !p->errors && !p->requeues)
		p->unknown |= UNKNOWN_ERRORS | UNKNOWN_REQUEUES;
}

static void series_describe(const struct series *s, struct profile *p)
{
	const struct scan_stream *st = s->last;

	snprintf(p->host, sizeof(p->host), "%s", st->host);
	snprintf(p->device, sizeof(p->device), "%" PRIu32 ":%" PRIu32, device_major(st->device),
		 device_minor(st->device));
	snprintf(p->device_name, sizeof(p->device_name), "%s", st->device_name);
	p->source = st->source;
	p->layer = st->layer;
}

/* Returns where the period ends: at the end of the observed time, or at the last request. */
static uint64_t period_end(const struct series *s, uint64_t watched_until)
{
	uint64_t end = s->end_ns;

	if (end == UINT64_MAX)
		end = watched_until > s->last_ns ? watched_until : s->last_ns;
	else if (watched_until < end && watched_until > s->begin_ns)
		end = watched_until > s->last_ns ? watched_until : s->last_ns + 1;
	if (end > s->end_ns)
		end = s->end_ns;
	return end > s->begin_ns ? end : s->begin_ns + 1;
}

/*
 * After a period without requests, moves on to the next time at which anything can be due: the next
 * observed time, the next completion, or the present time of the stream. A trace that rests for a
 * year then needs no loop over its seconds.
 */
static void skip_gap(struct series *s, uint64_t window_ns)
{
	uint64_t next = s->latest_ns;

	for (uint32_t t = 0; t < scan_nr_traces(s->scan); t++) {
		const struct scan_trace *trace = scan_trace(s->scan, t);

		if (strcmp(trace->host, s->last->host) != 0)
			continue;
		for (size_t i = 0; i < trace->nr_covered; i++)
			if (trace->covered[i].end_real_ns > s->end_ns &&
			    trace->covered[i].begin_real_ns < next)
				next = trace->covered[i].begin_real_ns;
	}
	if (later_first_ns(&s->later) < next)
		next = later_first_ns(&s->later);
	if (next > s->end_ns && next != UINT64_MAX)
		s->end_ns += (next - s->end_ns) / window_ns * window_ns;
}

static int next_period(struct series *s, uint64_t window_ns)
{
	const struct request *again;
	size_t nr;
	int ret;

	s->begin_ns = s->seen_ns = s->end_ns;
	s->end_ns = s->begin_ns + window_ns;
	s->doubt_ns = 0;
	s->first_ns = UINT64_MAX;
	s->last_ns = 0;
	window_clear(s->window, s->begin_ns);
	ret = later_take(&s->later, s->end_ns, &again, &nr);
	return ret ? ret : series_feed(s, again, nr);
}

/* Turns means over the period into means over the observed time, because the rest is unknown. */
static void count_watched_alone(struct profile *p)
{
	double share = p->quality.coverage_ratio;

	p->open.rate_per_s /= share;
	p->closed.in_flight_mean /= share;
	p->closed.clients_mean /= share;
}

/*
 * Moves the end of an idle period to the last period end before anything can happen: a completion,
 * a request that may still come, or the end of the observed time.
 */
static void series_stretch(struct series *s, uint64_t window_ns)
{
	struct watched_interval next;
	uint64_t stop = s->latest_ns;

	if (window_count(s->window) || !watched_next(s->scan, s->last->host, s->begin_ns, &next) ||
	    next.begin_ns > s->begin_ns)
		return;
	if (s->nr_idle < SERIES_IDLE_PERIODS) {
		s->nr_idle++;
		return;
	}
	if (stop != UINT64_MAX)
		stop -= stop < LATE_NS ? stop : LATE_NS;
	stop = next.end_ns < stop ? next.end_ns : stop;
	if (later_first_ns(&s->later) < stop)
		stop = later_first_ns(&s->later);
	if (stop > s->end_ns)
		s->end_ns += (stop - s->end_ns) / window_ns * window_ns;
}

int series_close(struct series *s, uint64_t window_ns, bool at_end, struct profile *p,
		 bool *nothing)
{
	uint64_t watched_until, watched, end;
	int ret = lanes_settle(s->lanes);

	if (ret)
		return ret;
	if (window_ns)
		series_stretch(s, window_ns);
	watched = watched_ns(s->scan, s->last->host, s->begin_ns, s->end_ns, &watched_until);
	end = at_end ? period_end(s, watched_until) : s->end_ns;
	*nothing = watched == 0 && window_count(s->window) == 0;
	if (!*nothing) {
		ret = pass_gaps(s, end);
		if (!ret)
			ret = lanes_settle(s->lanes);
		if (ret)
			return ret;
		series_describe(s, p);
		ret = window_profile(s->window, end, p);
		p->begin_s = (double)s->begin_ns / 1e9;
		p->end_s = (double)end / 1e9;
		leave_unknown(p);
		p->lost = lost_in(s, s->begin_ns, end);
		add_pauses(s, s->begin_ns, end, p);
		p->quality.coverage_ratio =
			watched ? (double)watched / (double)(end - s->begin_ns) : 1;
		if (p->quality.coverage_ratio > 1)
			p->quality.coverage_ratio = 1;
		count_watched_alone(p);
		profile_grade(p);
	}
	if (*nothing && window_ns)
		skip_gap(s, window_ns);
	if (ret == 0 && window_ns)
		ret = next_period(s, window_ns);
	return ret;
}
