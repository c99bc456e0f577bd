// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/profiles/report_together.h"

#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/retained.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/report/collect/report_share.h"
#include "analyzer/report/fleet/fleet.h"

struct gather_together {
	struct fleet *fleet;
	struct retained *retained;
	struct counted *counted;
	struct progress progress;
	struct report_share share;
	struct scan *scan;
};

static int report_together_batch(void *ctx, struct scan *scan, const struct scan_request *r,
				 size_t nr)
{
	struct gather_together *g = ctx;

	/* Rank 0 adds up the sums. */
	return report_share_is_done(&g->share) ? 0 : fleet_add(g->fleet, scan, r, nr);
}

static int report_together_join(void *ctx, struct profile *p)
{
	struct gather_together *g = ctx;

	return retained_join(g->retained, p);
}

static int report_together_profile(void *ctx, struct profile *p)
{
	struct gather_together *g = ctx;

	return fleet_profile(g->fleet, p);
}

static void report_together_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct gather_together *g = ctx;

	g->progress.total = total;
	progress_update(&g->progress, done);
}

static void gather_together_release(struct gather_together *g)
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
static int report_together_read(struct gather_together *g, struct cli *cli, struct selection *sel,
				struct err *err)
{
	struct replay_config config = { .profile = report_together_join,
					.batch = report_together_batch,
					.progress = report_together_progress,
					.ctx = g };
	struct scan_hooks hooks = { .profile = retained_take_window, .summary = retained_take };
	int ret;

	*g = (struct gather_together){ .scan = NULL };
	report_share_init(&g->share, report_together_profile, g);
	ret = fleet_new(&g->fleet);
	if (!ret)
		ret = counted_new(&g->counted, sel, 0);
	if (!ret)
		ret = retained_new(&g->retained, sel, 0, g->counted, report_share_take, &g->share);
	if (ret)
		return ret;
	hooks.ctx = hooks.summary_ctx = g->retained;
	ret = selection_open(sel, &cli->teller, &g->scan, &hooks, err);
	if (ret)
		return ret;
	retained_set_scan(g->retained, g->scan);
	progress_begin(&g->progress, "report", 0, cli->teller.quiet);
	ret = report_share_replay(&g->share, g->scan, &config, g->retained, err);
	progress_end(&g->progress);
	return ret;
}

/* The same as any number of ranks. In all but rank 0 *is_done is then true, and no work is left. */
static int report_together_share(struct gather_together *g, struct cli *cli, struct selection *sel,
				 bool *is_done, struct err *err)
{
	int ret = report_together_read(g, cli, sel, err);

	*is_done = !ret && report_share_is_done(&g->share);
	if (ret != SHARE_ALONE)
		return ret;
	gather_together_release(g);
	selection_release(sel);
	*g = (struct gather_together){ .scan = NULL };
	*is_done = !cli_works_alone();
	return *is_done ? 0 : report_together_read(g, cli, sel, err);
}

/* Says how much of the selection is missing from the sums, because its requests are gone. */
static void report_together_note(const struct gather_together *g, struct answer *a)
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
			"%llu requests were kept back on purpose (a policy or --hindsight): %llu of "
			"them count for hosts and devices by their profiles, but not in rates by "
			"the second, the peaks and the rhythm.",
			(unsigned long long)selection_kept_back(scan),
			(unsigned long long)retained_nr_kept_back(g->retained));
}

int report_together(struct cli *cli, struct selection *sel, const char *output, const char *table,
		    bool csv)
{
	struct gather_together g = { .fleet = NULL };
	enum fleet_table first = FLEET_DEVICES;
	struct err err = { 0 };
	struct answer *a;
	bool is_empty, is_done = false;
	int ret;

	for (int i = 0; i < NR_FLEET_TABLES && table; i++)
		if (!strcmp(table, fleet_table_names[i]))
			first = (enum fleet_table)i;
	if (table && strcmp(table, fleet_table_names[first]))
		return cli_usage(
			cli, "--figure: with --together expected devices, hosts or week; got '%s'",
			table);
	if (table && !csv)
		return cli_usage(cli, "--figure: with --together expected --csv with it");
	ret = report_together_share(&g, cli, sel, &is_done, &err);
	is_empty = !ret && !is_done && fleet_is_empty(g.fleet);
	if (ret || is_done || is_empty)
		goto out;
	a = fleet_answer(g.fleet, g.scan, first, cli->teller.utc);
	report_together_note(&g, a);
	if (csv) {
		ret = answer_print(a, ANSWER_CSV, stdout);
		answer_free(a);
	} else {
		ret = cli_show(cli, a, output, &err);
	}
out:
	gather_together_release(&g);
	if (is_empty)
		return selection_end(cli, sel);
	return cli_finish(cli, ret, &err, CLI_DONE);
}
