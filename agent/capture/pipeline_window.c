/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/guest/dasd.h"
#include "agent/guest/fileset_scan.h"
#include "agent/capture/pipeline_state.h"

/* Who and by what, which neither window nor source fills in. */
static void name_profile(const struct pipeline *p, const struct traced *t, struct profile *profile)
{
	memccpy(profile->host, p->config.host, 0, sizeof(profile->host) - 1);
	snprintf(profile->device, sizeof(profile->device), "%u:%u", device_major(t->facts.device),
		 device_minor(t->facts.device));
	memccpy(profile->device_name, t->facts.name, 0, sizeof(profile->device_name) - 1);
	profile->source = p->counting ? source_diskstats.id : p->config.source->id;
	profile->layer = p->config.source_config.layer;
	profile->lost = t->lost_in_window;
	for (size_t i = 0; i < p->nr_pauses; i++)
		profile_add_pause(profile, &p->pauses[i]);
	profile->quality.coverage_ratio = 1;
	dasd_detail(profile, NULL, t->facts.name, NULL); /* where there is none, none */
	profile_grade(profile);
}

static void fill_profile(struct pipeline *p, const struct traced *t, uint64_t end_ns,
			 struct profile *profile)
{
	/* Real time now less what has passed since: a clock stepped in the window is followed. */
	uint64_t real_ns = p->cut ? p->cut->realtime_ns - (p->cut->monotonic_ns - end_ns)
				  : clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_MONOTONIC) - end_ns);

	profile->end_s = (double)real_ns / 1e9;
	profile->begin_s = profile->end_s - (double)(end_ns - p->window_begin_ns) / 1e9;
	name_profile(p, t, profile);
}

static void pipeline_window_publish(struct pipeline *p, struct traced *t,
				    const struct profile *profile, bool is_idle)
{
	struct buf json, copy;

	if (is_idle)
		board_post_idle(p->config.board, t->facts.device, profile->end_s);
	else if (board_post(p->config.board, t->facts.device, t->facts.size_bytes, t->is_hidden,
			    profile))
		log_say(p->config.log, LEVEL_WARN, "metrics_incomplete", "why=\"no memory\"");
	buf_init(&json);
	buf_init(&copy);
	p->has_published |= !is_idle || sender_wants_profiles(p->config.sender);
	if (sender_wants_profiles(p->config.sender) || (p->stream && !is_idle))
		profile_to_json(profile, PROFILE_JSON_LINE, &json);
	if (p->stream && !is_idle && !json.error && json.len) {
		buf_put(&copy, json.data, json.len);
		if (!buf_put_u8(&copy, 0))
			stream_profile(p->stream, &copy);
	}
	if (sender_wants_profiles(p->config.sender) && !json.error)
		sender_push_profile(p->config.sender, &json);
	buf_release(&json);
	buf_release(&copy);
}

static void close_window(struct pipeline *p, struct traced *t, uint64_t end_ns)
{
	bool is_idle = !window_count(t->window) && !t->lost_in_window;
	struct fileset_sample files;
	struct profile profile;

	if (!is_idle && p->config.filesets &&
	    fileset_scan_latest(p->config.filesets, t->facts.device, &files))
		window_add_fileset(t->window, files.nr_files, files.total_bytes);
	profile_init(&profile);
	if (is_idle && !(t->is_named && sender_wants_profiles(p->config.sender)))
		board_post_idle(p->config.board, t->facts.device,
				(double)clock_ns(CLOCK_REALTIME) / 1e9);
	else if (window_profile(t->window, end_ns, &profile))
		log_say(p->config.log, LEVEL_WARN, "profile_failed", "device=%s", t->facts.name);
	else {
		fill_profile(p, t, end_ns, &profile);
		if (p->source && p->config.source->detail &&
		    p->config.source->detail(p->source, t->facts.device, &profile))
			log_say(p->config.log, LEVEL_WARN, "detail_failed", "device=%s",
				t->facts.name);
		pipeline_window_publish(p, t, &profile, is_idle);
	}
	profile_release(&profile);
	t->lost_in_window = 0;
	window_clear(t->window, end_ns);
}

/* A device's counters, from a source that has no more than those. */
static void on_profile(void *ctx, uint32_t device, bool is_idle, struct profile *profile)
{
	struct pipeline *p = ctx;
	struct traced *t = NULL;

	for (size_t i = 0; i < p->nr_devices && !t; i++)
		t = p->devices[i].facts.device == device ? &p->devices[i] : NULL;
	if (!t && !is_idle)
		t = pipeline_device(p, device);
	if (!t)
		return;
	name_profile(p, t, profile);
	if (is_idle && !(t->is_named && sender_wants_profiles(p->config.sender)))
		board_post_idle(p->config.board, device, profile->end_s);
	else
		pipeline_window_publish(p, t, profile, is_idle);
}

static void close_counted(struct pipeline *p)
{
	const struct source_profiles to = { .profile = on_profile, .ctx = p };
	int ret = 0;

	if (p->counting)
		ret = source_diskstats.profiles(p->counting, &to);
	else if (p->source)
		ret = p->config.source->profiles(p->source, &to);
	if (ret)
		p->source_error = ret;
}

/* Agent and kernel side, seconds since the start. */
static double cost_s(const struct pipeline *p, double *agent_s, double *kernel_s)
{
	*agent_s = (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
	*kernel_s = NAN;
	if (p->source && p->config.source->kernel_cpu_s)
		*kernel_s = p->config.source->kernel_cpu_s(p->source);
	return *agent_s + (isnan(*kernel_s) ? 0 : *kernel_s);
}

/* What the trace left out of this window, device by device. */
static void tell_shed(struct pipeline *p)
{
	for (size_t i = 0; i < p->nr_devices; i++) {
		struct traced *t = &p->devices[i];

		if (t->shed_in_window)
			pipeline_lost(p, LOSS_SHED, t->shed_in_window, t->facts.device);
		t->shed_in_window = 0;
	}
}

void pipeline_begin_tallies(struct pipeline *p, const struct account_base *bases, size_t nr)
{
	for (size_t i = 0; i < nr && p->config.source_config.nr_devices; i++) {
		struct traced *t = pipeline_device(p, bases[i].device);

		if (t)
			shed_tally_begin(&t->tally, bases[i].completed, t->seen.nr_countable);
	}
}

void pipeline_tally_shed(struct pipeline *p, bool is_last)
{
	uint64_t completed, missing, now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!(p->config.max_overhead > 0) || !p->config.read_in_flight ||
	    !p->overhead.can[OVERHEAD_COUNTERS])
		return;
	for (size_t i = 0; i < p->nr_devices; i++) {
		struct traced *t = &p->devices[i];
		int64_t in_flight = p->config.read_in_flight(t->facts.device);

		t->tally.has_shed |= p->counting != NULL;
		if (p->config.read_completed(t->facts.device, &completed))
			continue;
		missing = shed_tally_look(&t->tally, now_ns, completed, t->seen.nr_countable,
					  in_flight, is_last);
		if (!missing)
			continue;
		t->seen.nr += missing;
		t->seen.nr_countable += missing;
		pipeline_lost(p, LOSS_SHED, missing, t->facts.device);
	}
}

/* From the next window on the kernel's counters speak for the requests, or requests again. */
static void count_only(struct pipeline *p, bool on)
{
	struct err err = { 0 };

	if (on && source_diskstats.open(&p->counting, &p->config.source_config, &err)) {
		log_say(p->config.log, LEVEL_WARN, "overhead_not_shed", "why=\"%s\"", err.line);
		p->overhead.can[OVERHEAD_COUNTERS] = false;
		p->overhead.level = OVERHEAD_FULL;
		return;
	}
	p->config.source->shed(p->source, on);
	if (on)
		return;
	source_diskstats.close(p->counting, NULL);
	p->counting = NULL;
}

/* At the end of a window: is the agent still within its bound? */
static void look_at_overhead(struct pipeline *p, double elapsed_s)
{
	enum overhead_level before = p->overhead.level, level;
	double agent_s, kernel_s, cost;

	if (!p->source)
		return;
	cost = cost_s(p, &agent_s, &kernel_s);
	level = overhead_look(&p->overhead, cost - p->last_cost_s, elapsed_s, p->nr_in_window);
	p->last_cost_s = cost;
	p->nr_in_window = 0;
	if (level == before)
		return;
	if ((level == OVERHEAD_COUNTERS) != (before == OVERHEAD_COUNTERS))
		count_only(p, level == OVERHEAD_COUNTERS);
	log_say(p->config.log, LEVEL_WARN, "overhead",
		"level=%s cpu_percent=%.2f bound_percent=%.2f",
		overhead_level_name(p->overhead.level), 100 * p->overhead.last_share,
		100 * p->overhead.bound);
}

void pipeline_set_totals(struct pipeline *p)
{
	struct board_totals totals = { .watched_s = (double)p->watched_ns / 1e9,
				       .source = p->config.source->name,
				       .layer = layer_name(p->config.source_config.layer),
				       .kernel_cpu_s = NAN };
	uint64_t later[NR_LOSS_CAUSES] = { 0 };

	totals.captured = p->nr_captured;
	if (p->stream)
		account_losses(sender_account(p->config.sender), later);
	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		totals.lost[i] = p->lost[i] + later[i];
	totals.shed_level = p->overhead.level;
	cost_s(p, &totals.agent_cpu_s, &totals.kernel_cpu_s);
	board_set_totals(p->config.board, &totals);
	atomic_store(&p->cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

/* Losses of unknown device are shared out by the requests of the window. */
static void place_losses(struct pipeline *p)
{
	uint64_t left = p->unplaced_in_window, requests = 0;

	for (size_t i = 0; i < p->nr_devices; i++)
		requests += window_count(p->devices[i].window);
	for (size_t i = 0; i < p->nr_devices && requests && left; i++) {
		uint64_t count = window_count(p->devices[i].window);
		uint64_t share = (uint64_t)ceil((double)p->unplaced_in_window * (double)count /
						(double)requests);

		share = share < left ? share : left;
		p->devices[i].lost_in_window += share;
		left -= share;
	}
	p->unplaced_in_window = left;
}

void pipeline_close_windows(struct pipeline *p, uint64_t end_ns)
{
	reorder_flush(p->reorder, end_ns);
	place_losses(p);
	if (p->config.source->profiles || p->counting)
		close_counted(p);
	for (size_t i = 0; i < p->nr_devices && !p->config.source->profiles; i++) {
		if (!p->counting) {
			close_window(p, &p->devices[i], end_ns);
			continue;
		}
		window_clear(p->devices[i].window, end_ns);
		p->devices[i].lost_in_window = 0;
	}
	tell_shed(p);
	pipeline_tally_shed(p, false);
	look_at_overhead(p, (double)(end_ns - p->window_begin_ns) / 1e9);
	if (p->has_published && end_ns >= p->pauses_end_ns)
		p->nr_pauses = 0;
	p->has_published = false;
	p->watched_ns += end_ns - p->window_begin_ns;
	p->window_begin_ns = end_ns;
	reorder_set_period_end(p->reorder, end_ns + p->config.window_ns);
	pipeline_set_totals(p);
}

double pipeline_cpu_s(struct pipeline *p)
{
	return (double)atomic_load(&p->cpu_ns) / 1e9;
}
