// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/fleet/fleet_reading.h"

#include "analyzer/characterize/replay.h"
#include "analyzer/models/num/ranks.h"

static int fleet_reading_batch(void *ctx, struct scan *scan, const struct scan_request *r,
			       size_t nr)
{
	struct fleet_reading *g = ctx;

	/* Rank 0 adds up the sums. */
	return report_share_is_done(&g->share) ? 0 : fleet_add(g->fleet, scan, r, nr);
}

static int fleet_reading_join(void *ctx, struct profile *p)
{
	struct fleet_reading *g = ctx;

	return retained_join(g->retained, p);
}

static int fleet_reading_profile(void *ctx, struct profile *p)
{
	struct fleet_reading *g = ctx;

	return fleet_profile(g->fleet, p);
}

static void fleet_reading_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct fleet_reading *g = ctx;

	g->progress.total = total;
	progress_update(&g->progress, done);
}

void fleet_reading_release(struct fleet_reading *g)
{
	scan_close(g->scan);
	retained_free(g->retained);
	counted_free(g->counted);
	fleet_free(g->fleet);
	report_share_release(&g->share);
}

/*
 * Reads the selection. Profiles that retention left in place of requests count as well, though not
 * in the sums by the second and by the hour. Release *g whatever this returns: 0, -errno, or
 * SHARE_ALONE.
 */
static int fleet_reading_read(struct fleet_reading *g, const struct teller *t,
			      struct selection *sel, struct err *err)
{
	struct replay_config config = { .profile = fleet_reading_join,
					.batch = fleet_reading_batch,
					.progress = fleet_reading_progress,
					.ctx = g };
	struct scan_hooks hooks = { .profile = retained_take_window, .summary = retained_take };
	int ret;

	*g = (struct fleet_reading){ .scan = NULL };
	report_share_init(&g->share, fleet_reading_profile, g);
	ret = fleet_new(&g->fleet);
	if (!ret)
		ret = counted_new(&g->counted, sel, 0);
	if (!ret)
		ret = retained_new(&g->retained, sel, 0, g->counted, report_share_take, &g->share);
	if (ret)
		return ret;
	hooks.ctx = hooks.summary_ctx = g->retained;
	ret = selection_open(sel, t, &g->scan, &hooks, err);
	if (ret)
		return ret;
	retained_set_scan(g->retained, g->scan);
	progress_begin(&g->progress, "report", 0, t->quiet);
	ret = report_share_replay(&g->share, g->scan, &config, g->retained, err);
	progress_end(&g->progress);
	return ret;
}

int fleet_reading_open(struct fleet_reading *g, const struct teller *t, struct selection *sel,
		       bool *is_done, struct err *err)
{
	int ret = fleet_reading_read(g, t, sel, err);

	*is_done = !ret && report_share_is_done(&g->share);
	if (ret != SHARE_ALONE)
		return ret;
	fleet_reading_release(g);
	selection_release(sel);
	*g = (struct fleet_reading){ .scan = NULL };
	*is_done = !ranks_works_alone();
	return *is_done ? 0 : fleet_reading_read(g, t, sel, err);
}

/* Says how much of the selection is missing from the sums, because its requests are gone. */
static void fleet_reading_note(const struct fleet_reading *g, struct answer *a)
{
	const struct scan *scan = g->scan;
	struct scan_retained all = scan_retained(scan);
	struct scan_retained missing = retained_missing(g->retained, scan);

	if (all.nr_summarized > missing.nr_summarized)
		answer_note(a,
			    "Of %llu requests only profiles are left: they count for hosts and "
			    "devices, but not in rates by the second, the peaks and the rhythm.",
			    (unsigned long long)(all.nr_summarized - missing.nr_summarized));
	if (missing.nr_summarized + missing.nr_dropped)
		answer_note(
			a,
			"%llu requests are missing in every figure here: retention removed them.",
			(unsigned long long)(missing.nr_summarized + missing.nr_dropped));
	if (selection_kept_back(scan))
		answer_note(
			a,
			"%llu requests were kept back on purpose (a policy or hindsight): %llu of "
			"them count for hosts and devices by their profiles, but not in rates by "
			"the second, the peaks and the rhythm.",
			(unsigned long long)selection_kept_back(scan),
			(unsigned long long)retained_nr_kept_back(g->retained));
}

struct answer *fleet_reading_answer(const struct fleet_reading *g, enum fleet_table first, bool utc)
{
	struct answer *a = fleet_answer(g->fleet, g->scan, first, utc);

	fleet_reading_note(g, a);
	return a;
}
