// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/replay_question.h"

#include <errno.h>
#include <inttypes.h>

#include "analyzer/replay/causal_load.h"
#include "analyzer/replay/target_guard.h"
#include "analyzer/whatif/study/study_replay.h"
#include "base/data/json.h"
#include "base/system/stop.h"
#include "base/text/units.h"

static json_t *replay_question_type(const struct device_times *before,
				    const struct causal_result *r, enum device_type type)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "requests",
			 (json_int_t)r->times.nr[type], "mean_before_s",
			 json_number(device_times_at(before, type, DEVICE_MEAN)), "mean_s",
			 json_number(device_times_at(&r->times, type, DEVICE_MEAN)), "p50_s",
			 json_number(device_times_at(&r->times, type, DEVICE_P50)), "p95_s",
			 json_number(device_times_at(&r->times, type, DEVICE_P95)), "p99_s",
			 json_number(device_times_at(&r->times, type, DEVICE_P99)));
}

json_t *replay_question_json(const struct replay_question *q)
{
	const struct causal_plan *plan = &q->plan;
	const struct causal_result *r = &q->result;
	struct device_times before;

	study_replay_recorded(plan, &before);
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o}",
			 "schema", "blkcast.mimic/1", "intensity", "causal", "requests",
			 (json_int_t)plan->nr, "left_out", (json_int_t)plan->nr_left_out,
			 "not_sent", (json_int_t)r->nr_not_sent, "threads",
			 (json_int_t)plan->nr_lanes, "flushes",
			 (json_int_t)r->times.nr[DEVICE_FLUSH], "window_s", plan->window_s,
			 "begin_s", (double)r->begin_real_ns * 1e-9, "elapsed_s", r->elapsed_s,
			 "wake_s", r->wake_s, "read", replay_question_type(&before, r, DEVICE_READ),
			 "write", replay_question_type(&before, r, DEVICE_WRITE), "flush",
			 replay_question_type(&before, r, DEVICE_FLUSH));
}

void replay_question_print(const struct replay_question *q, FILE *out)
{
	const struct causal_plan *plan = &q->plan;
	const struct causal_result *r = &q->result;
	static const char *const names[DEVICE_NR_TYPES] = { "reads", "writes", "flushes" };
	char before[UNITS_BYTES], now[UNITS_BYTES];
	struct device_times was;

	study_replay_recorded(plan, &was);
	fprintf(out, "%" PRIu64 " requests of %zu threads in %.2f s, were in %.2f s\n",
		causal_result_nr(r), plan->nr_lanes, r->elapsed_s, plan->window_s);
	for (enum device_type k = 0; k < DEVICE_NR_TYPES; k++)
		if (r->times.nr[k])
			fprintf(out, "%-7s  %9" PRIu64 "  mean %s, was %s\n", names[k],
				r->times.nr[k],
				units_time(device_times_at(&r->times, k, DEVICE_MEAN), now),
				units_time(device_times_at(&was, k, DEVICE_MEAN), before));
}

static int replay_question_fits(const struct causal_plan *plan, const struct target_guard *g,
				struct err *err)
{
	char need[UNITS_BYTES], have[UNITS_BYTES];

	if (plan->end_bytes <= g->bytes)
		return 0;
	return err_set(err, EINVAL, "%s: the requests go up to %s, it has %s", g->path,
		       units_bytes((double)plan->end_bytes, need),
		       units_bytes((double)g->bytes, have));
}

/* Checks the target, and says what will be written there before anything is written. */
static int replay_question_target(const struct teller *t, struct target_guard *g,
				  const struct causal_plan *plan, const char *path,
				  const char *overwrite, struct err *err)
{
	uint64_t bytes = study_replay_written(plan);
	char what[TARGET_CONTENT_BYTES + 100], amount[UNITS_BYTES], reach[UNITS_BYTES];
	int ret = target_guard_take(g, path, bytes > 0, overwrite, err);

	if (!ret && !g->exists)
		return err_set(err, ENOENT, "%s: No such file or device to replay on", path);
	if (!ret)
		ret = replay_question_fits(plan, g, err);
	if (ret)
		return ret;
	target_guard_describe(g, what, sizeof(what));
	units_bytes((double)plan->end_bytes, reach);
	if (bytes)
		teller_note(t,
			    "%s (%s) is overwritten now: up to %s are written within its first %s",
			    path, what, units_bytes((double)bytes, amount), reach);
	return 0;
}

/* Reads the selected requests, and plans when each is sent. */
static int replay_question_plan(struct replay_question *q, struct err *err)
{
	struct scan *scan = NULL;
	int ret = selection_open(q->sel, q->teller, &scan, NULL, err);

	if (ret)
		return ret;
	ret = causal_load(&q->plan, scan, q->duration_s, err);
	scan_close(scan);
	if (ret == -EINVAL && !q->plan.nr && !q->plan.nr_left_out)
		selection_says_nothing(q->sel, err);
	return ret;
}

int replay_question_run(struct replay_question *q, struct err *err)
{
	struct causal_run run = { &q->plan, q->target, q->duration_s, NULL };
	struct target_guard guard = { .fd = -1 };
	int ret = replay_question_plan(q, err);

	if (ret)
		return ret;
	ret = replay_question_target(q->teller, &guard, &q->plan, q->target, q->overwrite, err);
	if (ret)
		goto out;
	run.stop = stop_catch();
	if (q->plan.nr_left_out)
		teller_note(q->teller,
			    "%" PRIu64
			    " requests left out: no reads, writes or flushes, or without "
			    "times",
			    q->plan.nr_left_out);
	ret = causal_runs(&run, 1, &q->result, err);
	if (!ret && q->result.nr_not_sent)
		teller_note(q->teller,
			    "%" PRIu64 " of %" PRIu64 " requests not sent: the duration was over",
			    q->result.nr_not_sent, q->plan.nr);
out:
	target_guard_release(&guard);
	return ret;
}

void replay_question_release(struct replay_question *q)
{
	causal_result_release(&q->result);
	causal_release(&q->plan);
}
