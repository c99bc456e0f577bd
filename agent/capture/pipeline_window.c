/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_window: closes the windows of all devices at one instant and publishes a profile of each
 * on the board, to the sinks that print profiles, and into the stream.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/guest/dasd.h"
#include "agent/send/hindsight.h"
#include "agent/guest/fileset_scan.h"
#include "agent/capture/pipeline_state.h"

#define PIPELINE_LOOKS 6 /* looks for the file system of a device, each one reading of mountinfo */

/* Fills in host, device, source and losses, which neither the window nor the source knows. */
static void name_profile(const struct pipeline *p, const struct traced *t, struct profile *profile)
{
	memccpy(profile->host, p->config.host, 0, sizeof(profile->host) - 1);
	snprintf(profile->device, sizeof(profile->device), "%u:%u", device_major(t->facts.device),
		 device_minor(t->facts.device));
	memccpy(profile->device_name, t->facts.name, 0, sizeof(profile->device_name) - 1);
	profile->source = p->counting ? source_diskstats.id : p->config.source->id;
	profile->layer = p->config.source_config.layer;
	profile->lost = t->lost_in_window;
	for (size_t i = 0; i < p->pauses.nr_noted; i++)
		profile_add_pause(profile, &p->pauses.noted[i]);
	profile->quality.coverage_ratio = 1;
	dasd_detail(profile, NULL, t->facts.name, NULL);
	profile_grade(profile);
}

static void fill_profile(struct pipeline *p, const struct traced *t, uint64_t end_ns,
			 struct profile *profile)
{
	/*
	 * The real time of the end is the present time minus the time that has passed since, so
	 * that a clock that was set during the window is followed.
	 */
	uint64_t real_ns =
		p->pauses.cut ? p->pauses.cut->realtime_ns - (p->pauses.cut->monotonic_ns - end_ns)
			      : clock_real_ns() - (clock_monotonic_ns() - end_ns);

	profile->end_s = (double)real_ns / 1e9;
	profile->begin_s = profile->end_s - (double)(end_ns - p->window.begin_ns) / 1e9;
	name_profile(p, t, profile);
}

static void pipeline_window_publish(struct pipeline *p, struct traced *t,
				    const struct profile *profile, bool is_idle)
{
	bool is_sent = sender_wants_profiles(p->config.sender);
	bool is_kept = p->stream && !is_idle;
	struct buf *json = &p->json;
	int ret = 0;

	if (is_idle)
		board_post_idle(p->config.board, t->facts.device, profile->end_s);
	else if (board_post(p->config.board, t->facts.device, t->facts.size_bytes, t->is_hidden,
			    profile))
		log_say(p->config.log, LEVEL_WARN, "metrics_incomplete", "why=\"no memory\"");
	p->pauses.is_published |= !is_idle || is_sent;
	if (!is_sent && !is_kept)
		return;
	buf_clear(json);
	ret = profile_to_json(profile, PROFILE_JSON_LINE, json);
	if (!ret && is_kept)
		ret = stream_profile(p->stream, json);
	if (ret)
		log_say(p->config.log, LEVEL_WARN, "profile_failed", "device=%s why=\"no memory\"",
			t->facts.name);
	if (is_sent && !json->error && json->len)
		sender_push_profile(p->config.sender, json);
}

/* Asks for the requests around a window whose slow requests are too slow. */
static void pipeline_window_ask(const struct pipeline *p, struct traced *t, uint64_t end_ns,
				const struct profile *profile)
{
	const struct hindsight_period window = { p->window.begin_ns, end_ns };
	const double limit_s = (double)p->config.hindsight_p99_ns / 1e9;
	const struct histogram *times[2] = { &profile->read.response.stage[STAGE_TOTAL],
					     &profile->write.response.stage[STAGE_TOTAL] };

	if (!p->config.hindsight ||
	    (!p->config.hindsight_p99_ns && !hindsight_watches(p->config.hindsight)))
		return;
	for (int i = 0; i < 2; i++) {
		double p99_s = histogram_quantile_s(times[i], 0.99);

		if (p->config.hindsight_p99_ns && p99_s > limit_s)
			hindsight_ask(p->config.hindsight, clock_monotonic_ns());
		hindsight_window(p->config.hindsight, &t->usual_p99[i], p99_s, &window);
	}
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
		board_post_idle(p->config.board, t->facts.device, (double)clock_real_ns() / 1e9);
	else if (window_profile(t->window, end_ns, &profile))
		log_say(p->config.log, LEVEL_WARN, "profile_failed", "device=%s", t->facts.name);
	else {
		fill_profile(p, t, end_ns, &profile);
		if (p->source && p->config.source->detail &&
		    p->config.source->detail(p->source, t->facts.device, &profile))
			log_say(p->config.log, LEVEL_WARN, "detail_failed", "device=%s",
				t->facts.name);
		pipeline_window_ask(p, t, end_ns, &profile);
		pipeline_window_publish(p, t, &profile, is_idle);
	}
	profile_release(&profile);
	t->lost_in_window = 0;
	window_clear(t->window, end_ns);
}

/* Takes a device's profile from a source that only reads counters. */
static void on_profile(void *ctx, uint32_t device, bool is_idle, struct profile *profile)
{
	struct pipeline *p = ctx;
	struct traced *t = NULL;

	for (size_t i = 0; i < p->devices.nr && !t; i++)
		t = p->devices.all[i].facts.device == device ? &p->devices.all[i] : NULL;
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
		p->failure.window_ret = ret;
}

/* Counts the requests that the trace left out of this window, per device. */
static void tell_shed(struct pipeline *p)
{
	for (size_t i = 0; i < p->devices.nr; i++) {
		struct traced *t = &p->devices.all[i];

		if (t->shed_in_window)
			pipeline_lost(p, LOSS_SHED, t->shed_in_window, t->facts.device);
		p->nr_captured -= t->shed_in_window;
		t->shed_in_window = 0;
	}
}

/*
 * Distributes the losses of unknown device over the devices in proportion to their requests in the
 * window.
 */
static void place_losses(struct pipeline *p)
{
	uint64_t left = p->devices.unplaced_in_window, requests = 0;

	for (size_t i = 0; i < p->devices.nr; i++)
		requests += window_count(p->devices.all[i].window);
	for (size_t i = 0; i < p->devices.nr && requests && left; i++) {
		uint64_t count = window_count(p->devices.all[i].window);
		uint64_t share = (uint64_t)ceil((double)p->devices.unplaced_in_window *
						(double)count / (double)requests);

		share = share < left ? share : left;
		p->devices.all[i].lost_in_window += share;
		left -= share;
	}
	p->devices.unplaced_in_window = left;
}

/*
 * A disk is often seen first while its file system is being mounted, so the agent looks again at
 * the end of the next windows.
 */
static void pipeline_look_at_mounts(struct pipeline *p)
{
	bool is_new = false;

	for (size_t i = 0; i < p->devices.nr && p->config.describe; i++) {
		struct traced *t = &p->devices.all[i];
		struct pipeline_device facts = { .is_hidden = false };

		if (t->facts.file_system[0] || t->nr_looks == PIPELINE_LOOKS)
			continue;
		t->nr_looks++;
		if (p->config.describe(t->facts.device, &facts) || !facts.file_system[0])
			continue;
		memcpy(t->facts.file_system, facts.file_system, sizeof(t->facts.file_system));
		is_new = true;
	}
	if (is_new)
		pipeline_name_devices(p);
}

void pipeline_close_windows(struct pipeline *p, uint64_t end_ns)
{
	reorder_flush(p->reorder, end_ns);
	place_losses(p);
	if (p->config.source->profiles || p->counting)
		close_counted(p);
	for (size_t i = 0; i < p->devices.nr && !p->config.source->profiles; i++) {
		if (!p->counting) {
			close_window(p, &p->devices.all[i], end_ns);
			continue;
		}
		window_clear(p->devices.all[i].window, end_ns);
		p->devices.all[i].lost_in_window = 0;
	}
	pipeline_look_at_mounts(p);
	if (p->who)
		pipeline_who_publish(p);
	tell_shed(p);
	pipeline_tally_shed(p, false);
	pipeline_bound_overhead(p, (double)(end_ns - p->window.begin_ns) / 1e9);
	if (p->pauses.is_published && end_ns >= p->pauses.noted_end_ns)
		p->pauses.nr_noted = 0;
	p->pauses.is_published = false;
	p->window.watched_ns += end_ns - p->window.begin_ns;
	p->window.begin_ns = end_ns;
	reorder_set_period_end(p->reorder, end_ns + p->config.window_ns);
	pipeline_set_totals(p);
}
