// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/report_together.h"

#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/retained.h"
#include "analyzer/cmd/selection_options.h"
#include "analyzer/cmd/show.h"
#include "analyzer/report/fleet.h"

struct gather_together {
	struct fleet *fleet;
	struct retained *retained;
	struct counted *counted;
	struct progress progress;
};

static int report_together_batch(void *ctx, struct scan *scan, const struct scan_request *r,
				 size_t nr)
{
	struct gather_together *g = ctx;

	return fleet_add(g->fleet, scan, r, nr);
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

/*
 * Reads the selection. Profiles that retention left in place of requests count as well, though not
 * in the sums by the second and by the hour.
 */
static int report_together_read(struct gather_together *g, struct cli *cli, struct selection *sel,
				struct scan **scan, struct err *err)
{
	struct replay_config config = { .profile = report_together_join,
					.batch = report_together_batch,
					.progress = report_together_progress,
					.ctx = g };
	struct scan_hooks hooks = { .summary = retained_take };
	int ret = fleet_new(&g->fleet);

	if (!ret)
		ret = counted_new(&g->counted, sel, 0);
	if (!ret)
		ret = retained_new(&g->retained, sel, 0, g->counted, report_together_profile, g);
	if (ret)
		return ret;
	hooks.summary_ctx = g->retained;
	ret = selection_open(sel, cli, scan, &hooks, err);
	if (ret)
		return ret;
	progress_begin(&g->progress, "report", 0, cli->quiet);
	ret = replay(*scan, &config, err);
	progress_end(&g->progress);
	return ret ? ret : retained_emit(g->retained);
}

/* Says how much of the selection is missing from the sums, because its requests are gone. */
static void report_together_note(const struct gather_together *g, const struct scan *scan,
				 struct answer *a)
{
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
}

int report_together(struct cli *cli, struct selection *sel, const char *output, const char *table,
		    bool csv)
{
	struct gather_together g = { .fleet = NULL };
	enum fleet_table first = FLEET_DEVICES;
	struct scan *scan = NULL;
	struct err err = { 0 };
	struct answer *a;
	bool is_empty;
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
	ret = report_together_read(&g, cli, sel, &scan, &err);
	is_empty = !ret && fleet_is_empty(g.fleet);
	if (ret || is_empty)
		goto out;
	a = fleet_answer(g.fleet, scan, first, cli->utc);
	report_together_note(&g, scan, a);
	if (csv) {
		ret = answer_print(a, ANSWER_CSV, stdout);
		answer_free(a);
	} else {
		ret = cli_show(cli, a, output, &err);
	}
out:
	scan_close(scan);
	retained_free(g.retained);
	counted_free(g.counted);
	fleet_free(g.fleet);
	if (is_empty)
		return selection_nothing(sel, cli);
	return cli_finish(cli, ret, &err, CLI_DONE);
}
