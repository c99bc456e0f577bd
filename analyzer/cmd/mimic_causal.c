// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/mimic_causal.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/replay/causal_load.h"
#include "analyzer/replay/causal_run.h"
#include "analyzer/whatif/study_replay.h"
#include "analyzer/replay/target_guard.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/units.h"

static json_t *mimic_causal_mean(double s)
{
	return isfinite(s) ? json_real(s) : json_null();
}

static json_t *side_json(const struct causal_plan *plan, const struct causal_result *r, int side)
{
	return json_pack("{s:I, s:o, s:o}", "requests", (json_int_t)r->nr[side], "mean_before_s",
			 mimic_causal_mean(plan->mean_s[side]), "mean_s",
			 mimic_causal_mean(r->mean_s[side]));
}

static int print_json(const struct causal_plan *plan, const struct causal_result *r)
{
	json_t *top =
		json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o}",
			  "schema", "blkcast.mimic/1", "intensity", "causal", "requests",
			  (json_int_t)plan->nr, "left_out", (json_int_t)plan->nr_left_out,
			  "not_sent", (json_int_t)r->nr_not_sent, "threads",
			  (json_int_t)plan->nr_lanes, "flushes", (json_int_t)r->nr_flushes,
			  "window_s", plan->window_s, "begin_s", (double)r->begin_real_ns * 1e-9,
			  "elapsed_s", r->elapsed_s, "wake_s", r->wake_s, "read",
			  side_json(plan, r, 0), "write", side_json(plan, r, 1));
	int ret = -ENOMEM;

	if (top)
		ret = json_print(top, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

static void print_text(const struct causal_plan *plan, const struct causal_result *r)
{
	static const char *const names[2] = { "reads", "writes" };
	char before[UNITS_BYTES], now[UNITS_BYTES];

	printf("%" PRIu64 " requests of %zu threads in %.2f s, were in %.2f s\n",
	       r->nr[0] + r->nr[1] + r->nr_flushes, plan->nr_lanes, r->elapsed_s, plan->window_s);
	for (int k = 0; k < 2; k++)
		if (r->nr[k])
			printf("%-6s  %10" PRIu64 "  mean %s, was %s\n", names[k], r->nr[k],
			       units_time(r->mean_s[k], now), units_time(plan->mean_s[k], before));
}

static int check_size(const struct causal_plan *plan, const struct target_guard *g, struct err *err)
{
	char need[UNITS_BYTES], have[UNITS_BYTES];

	if (plan->end_bytes <= g->bytes)
		return 0;
	return err_set(err, EINVAL, "%s: the requests go up to %s, it has %s", g->path,
		       units_bytes((double)plan->end_bytes, need),
		       units_bytes((double)g->bytes, have));
}

/* Checks the target, and says what will be written there before anything is written. */
static int causal_target(const struct cli *cli, struct target_guard *g,
			 const struct causal_plan *plan, const char *path, const char *overwrite,
			 struct err *err)
{
	uint64_t bytes = study_replay_written(plan);
	char what[TARGET_CONTENT_BYTES + 100], amount[UNITS_BYTES], reach[UNITS_BYTES];
	int ret = target_guard_take(g, path, bytes > 0, overwrite, err);

	if (!ret && !g->exists)
		return err_set(err, ENOENT, "%s: No such file or device to replay on", path);
	if (!ret)
		ret = check_size(plan, g, err);
	if (ret)
		return ret;
	target_guard_describe(g, what, sizeof(what));
	units_bytes((double)plan->end_bytes, reach);
	if (bytes)
		cli_note(cli,
			 "%s (%s) is overwritten now: up to %s are written within its first %s",
			 path, what, units_bytes((double)bytes, amount), reach);
	return 0;
}

int mimic_causal(const struct cli *cli, struct selection *sel, const struct mimic_options *o,
		 const char *overwrite, struct err *err)
{
	struct causal_plan plan = { 0 };
	struct causal_run run = { &plan, o->target, o->duration_s, NULL };
	struct target_guard guard = { .fd = -1 };
	struct causal_result result;
	struct scan *scan = NULL;
	int ret;

	if (o->directory)
		return err_set(err, EISDIR, "%s: expected a device or a file", o->target);
	ret = selection_open(sel, cli, &scan, NULL, err);
	if (ret)
		return ret;
	ret = causal_load(&plan, scan, o->duration_s, err);
	scan_close(scan);
	if (ret == -EINVAL && !plan.nr && !plan.nr_left_out)
		selection_says_nothing(sel, cli, err);
	if (!ret)
		ret = causal_target(cli, &guard, &plan, o->target, overwrite, err);
	run.stop = stop_catch();
	if (!ret && plan.nr_left_out)
		cli_note(cli,
			 "%" PRIu64 " requests left out: no reads, writes or flushes, or without "
			 "times",
			 plan.nr_left_out);
	if (!ret)
		ret = causal_runs(&run, 1, &result, err);
	if (!ret && result.nr_not_sent)
		cli_note(cli, "%" PRIu64 " of %" PRIu64 " requests not sent: --duration was over",
			 result.nr_not_sent, plan.nr);
	if (!ret && cli->json)
		ret = print_json(&plan, &result);
	else if (!ret)
		print_text(&plan, &result);
	target_guard_release(&guard);
	causal_release(&plan);
	return ret;
}
