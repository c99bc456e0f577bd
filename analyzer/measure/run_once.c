// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/run_once.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyzer/measure/readings.h"
#include "analyzer/measure/target.h"
#include "base/system/clock.h"
#include "base/text/err.h"

/*
 * agent_windows: turns the profiles that blkcast-agent printed while a load ran into readings. The
 * agent prints one blkcast.profile/1 per line and one line per window.
 */

struct seen { /* of one direction, read or write */
	double requests, bytes, timed, time_s;
};

struct sums {
	struct seen side[2];
	double lost;
	unsigned int nr;
};

static const char *const side_names[2] = { "read", "write" };

static double agent_windows_number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return json_is_number(v) ? json_number_value(v) : 0;
}

static void agent_windows_look(const json_t *profile, struct sums *s)
{
	memset(s, 0, sizeof(*s));
	s->lost = agent_windows_number(profile, "lost");
	for (int k = 0; k < 2; k++) {
		const json_t *total = json_object_get(
			json_object_get(json_object_get(profile, "response_time"), side_names[k]),
			"total");
		const json_t *size =
			json_object_get(json_object_get(profile, "request_size"), side_names[k]);
		struct seen *one = &s->side[k];

		one->requests =
			agent_windows_number(json_object_get(profile, "requests"), side_names[k]);
		one->bytes = one->requests * agent_windows_number(size, "mean_bytes");
		one->timed = agent_windows_number(total, "count");
		one->time_s = one->timed * agent_windows_number(total, "mean_s");
	}
}

static int put_sums(const struct sums *s, unsigned int interval, struct readings *r)
{
	char name[READING_NAME_BYTES];
	int ret = readings_put(r, interval, "agent_lost", s->lost);

	if (ret)
		return ret;
	for (int k = 0; k < 2; k++) {
		const struct seen *one = &s->side[k];
		const struct {
			const char *name;
			double value;
		} all[] = { { "requests", one->requests },
			    { "bytes", one->bytes },
			    { "s", one->time_s / one->timed } };

		for (int i = 0; i < (one->timed > 0 ? 3 : 2); i++) {
			snprintf(name, sizeof(name), "agent_%s_%s", side_names[k], all[i].name);
			ret = readings_put(r, interval, name, all[i].value);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static void agent_windows_add(struct sums *to, const struct sums *s)
{
	for (int k = 0; k < 2; k++) {
		to->side[k].requests += s->side[k].requests;
		to->side[k].bytes += s->side[k].bytes;
		to->side[k].timed += s->side[k].timed;
		to->side[k].time_s += s->side[k].time_s;
	}
	to->lost += s->lost;
	to->nr++;
}

/*
 * Adds agent_read_s, agent_read_requests and agent_read_bytes, the same three for writes, and
 * agent_lost. The sums over all windows whose middle lies in [begin_s, end_s + one interval] become
 * the values of the whole run; each window of full length that ends within the load becomes the
 * value of one interval. Returns -EINVAL for a line that is no profile, or where no window lies in
 * that time.
 */
static int agent_windows_take(const char *text, size_t len, double begin_s, double end_s,
			      double interval_s, struct readings *r, struct err *err)
{
	struct sums whole = { 0 }, one;
	unsigned int nr = 0;
	int ret = 0;

	for (const char *at = text, *end = text + len; at && at < end;) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		json_error_t why;
		json_t *profile;
		double middle_s, length_s;

		if (*at != '{') { /* Other lines come from the supervisor of the session. */
			at = eol ? eol + 1 : end;
			continue;
		}
		profile = json_loadb(at, (size_t)((eol ? eol : end) - at), 0, &why);
		if (!profile)
			return err_set(err, EINVAL, "agent: expected a profile, got '%.60s'", at);
		length_s = agent_windows_number(profile, "end_s") -
			   agent_windows_number(profile, "begin_s");
		middle_s = agent_windows_number(profile, "begin_s") + length_s / 2;
		agent_windows_look(profile, &one);
		json_decref(profile);
		at = eol ? eol + 1 : end;
		if (middle_s < begin_s || middle_s > end_s + interval_s)
			continue;
		agent_windows_add(&whole, &one);
		/*
		 * The agent's last window is shorter than the others and is no interval of its own.
		 */
		if (length_s > 0.9 * interval_s && middle_s < end_s)
			ret = put_sums(&one, ++nr, r);
		if (ret)
			return ret;
	}
	if (!whole.nr)
		return err_set(err, EINVAL, "agent: expected profiles of the run, got none");
	return put_sums(&whole, 0, r);
}

#define LOOK_MS 100 /* The loop checks the time limit and signals so often. */

void run_once_release(struct run_once *r)
{
	/*
	 * All sessions are hung up before any is awaited, so that their supervisors work at the
	 * same time.
	 */
	for (size_t i = 0; i < r->nr_lanes; i++) {
		session_hang_up(&r->lanes[i].load);
		session_hang_up(&r->lanes[i].agent);
	}
	for (size_t i = 0; i < r->nr_lanes; i++) {
		session_release(&r->lanes[i].load);
		session_release(&r->lanes[i].agent);
		params_release(&r->lanes[i].params);
	}
	readings_release(&r->readings);
}

static struct drive drive_of(struct run_once *r, struct lane *l)
{
	return (struct drive){ r->plan, &l->target->load, &l->params };
}

static int start_load(struct run_once *r, struct lane *l, const double *cells, struct err *err)
{
	struct drive d = drive_of(r, l);
	struct buf script;
	int ret = plan_params(r->plan, l->target, cells, l->folder, &l->params, err);

	buf_init(&script);
	if (ret)
		goto out;
	ret = target_run_script(&d, l->target, l->folder, &script, err);
	if (ret)
		goto out;
	buf_put_u8(&script, 0);
	ret = script.error ? script.error
			   : session_start(&l->load, l->target, (char *)script.data, err);
out:
	buf_release(&script);
	if (ret)
		err_prefix(err, "target %s", l->target->name);
	return ret;
}

static int start_agent(struct run_once *r, struct lane *l, struct err *err)
{
	struct buf script;
	int ret;

	buf_init(&script);
	ret = target_agent_script(r->plan, l->target, l->folder, r->name, &script);
	buf_put_u8(&script, 0);
	if (ret)
		goto out;
	ret = script.error ? script.error
			   : session_start(&l->agent, l->target, (char *)script.data, err);
out:
	buf_release(&script);
	return ret;
}

/* Lists every session of the run, the loads first. */
static size_t all_sessions(struct run_once *r, struct session **all)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_lanes; i++)
		all[nr++] = &r->lanes[i].load;
	for (size_t i = 0; i < r->nr_lanes; i++)
		if (r->lanes[i].agent.pid)
			all[nr++] = &r->lanes[i].agent;
	return nr;
}

static int run_once_look(struct run_once *r, const char *phase, struct err *err)
{
	struct session *all[2 * PLAN_TARGETS_MAX];
	size_t nr = all_sessions(r, all);

	sessions_wait(all, nr, LOOK_MS);
	if (*r->stop)
		return err_set(err, EINTR, "interrupted");
	if (clock_monotonic_s() > r->deadline_s)
		return err_set(err, ETIMEDOUT, "time limit of %g s passed while %s",
			       r->plan->time_limit_s, phase);
	for (size_t i = 0; i < nr; i++)
		if (all[i]->too_much)
			return err_set(err, EINVAL, "more than %u bytes of output",
				       SESSION_OUTPUT_MAX);
	return 0;
}

/*
 * Reports why a session ended too early: its exit status and the last words of its standard error.
 */
static int run_once_ended(const struct lane *l, struct session *s, const char *what,
			  struct err *err)
{
	char words[256];

	session_last_words(s, words, sizeof(words));
	return err_set(err, ECHILD, "target %s: %s ended with status %d%s%s", l->target->name, what,
		       s->status, *words ? ": " : "", words);
}

static bool agent_is_ready(const struct session *s)
{
	return s->words.len && memmem(s->words.data, s->words.len, "device_traced", 13);
}

/* Waits until the sessions of all lanes are ready: their loads, or their agents. */
static int wait_for_ready(struct run_once *r, bool agents, struct err *err)
{
	for (;;) {
		size_t nr_ready = 0;
		int ret;

		for (size_t i = 0; i < r->nr_lanes; i++) {
			struct lane *l = &r->lanes[i];
			struct session *s = agents ? &l->agent : &l->load;

			if (agents ? agent_is_ready(s)
				   : target_is_ready((char *)s->output.data, s->output.len))
				nr_ready++;
			else if (s->ended)
				return run_once_ended(
					l, s, agents ? "blkcast-agent" : "preparation", err);
		}
		if (nr_ready == r->nr_lanes)
			return 0;
		ret = run_once_look(r, agents ? "starting monitors" : "preparing", err);
		if (ret)
			return ret;
	}
}

static int start_agents(struct run_once *r, struct err *err)
{
	int ret;

	for (size_t i = 0; i < r->nr_lanes; i++) {
		ret = start_agent(r, &r->lanes[i], err);
		if (ret)
			return ret;
	}
	return wait_for_ready(r, true, err);
}

/* Adds the measurements of the target itself: CPU and memory. */
static int put_target(struct readings *r, const struct target_times *t)
{
	const struct {
		const char *name;
		double value;
	} all[] = {
		{ "cpu_ratio", t->cpu_ratio },
		{ "memory_bytes", t->memory_kib * 1024 },
		{ "memory_most_bytes", t->memory_most_kib * 1024 },
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (isfinite(all[i].value))
			ret = readings_put(r, 0, all[i].name, all[i].value);
		if (ret)
			return ret;
	}
	return 0;
}

/* Reads what the load of one target has printed so far. */
static int run_once_take_one(struct run_once *r, struct lane *l, bool final, struct readings *one,
			     struct err *err)
{
	struct drive d = drive_of(r, l);
	struct target_times t;
	int ret;

	target_times((char *)l->load.output.data, l->load.output.len, &t);
	ret = l->target->load.driver->take(&d, t.load ? t.load : "", t.load_len, final, one, err);
	if (ret)
		goto out;
	if (final && r->plan->monitor_agent)
		ret = agent_windows_take((char *)l->agent.output.data, l->agent.output.len,
					 t.from_s > t.begin_s ? t.from_s
							      : t.begin_s + r->plan->warm_up_s,
					 t.end_s, r->plan->interval_s, one, err);
	if (ret)
		goto out;
	return final ? put_target(one, &t) : 0;
out:
	err_prefix(err, "target %s", l->target->name);
	return ret;
}

/* Reads what all loads have printed so far, target by target. */
static int run_once_take(struct run_once *r, bool final, struct readings *out, struct err *err)
{
	for (size_t i = 0; i < r->nr_lanes; i++) {
		struct lane *l = &r->lanes[i];
		struct readings one = { 0 };
		char prefix[READING_NAME_BYTES] = "";
		int ret = run_once_take_one(r, l, final, &one, err);

		if (r->nr_lanes > 1)
			snprintf(prefix, sizeof(prefix), "%s.", l->target->name);
		ret = ret ? ret : readings_join(out, &one, prefix);
		readings_release(&one);
		if (ret)
			return ret;
	}
	return 0;
}

static void apply_stop_rule(struct run_once *r)
{
	const struct plan_stop *rule = &r->plan->stop;
	struct readings so_far = { 0 };
	unsigned int nr;
	double rse;

	if (!rule->metric || r->stopped || run_once_take(r, false, &so_far, NULL)) {
		readings_release(&so_far);
		return;
	}
	rse = readings_rse(&so_far, rule->metric, &nr);
	readings_release(&so_far);
	if (nr < r->plan->nr_intervals || !(rse <= rule->relative_standard_error))
		return;
	r->stopped = true;
	for (size_t i = 0; i < r->nr_lanes; i++)
		session_say(&r->lanes[i].load, "stop");
}

static int run_once_measure(struct run_once *r, struct err *err)
{
	double next_s = clock_monotonic_s() + r->plan->interval_s / 2;
	size_t nr_ended = 0;
	int ret;

	for (size_t i = 0; i < r->nr_lanes; i++)
		session_say(&r->lanes[i].load, "go");
	while (nr_ended < r->nr_lanes) {
		ret = run_once_look(r, "measuring", err);
		if (ret)
			return ret;
		nr_ended = 0;
		for (size_t i = 0; i < r->nr_lanes; i++) {
			struct session *s = &r->lanes[i].load;

			nr_ended += s->ended;
			if (s->ended && s->status && !r->stopped)
				return run_once_ended(&r->lanes[i], s, "the load", err);
		}
		if (clock_monotonic_s() > next_s) {
			apply_stop_rule(r);
			next_s += r->plan->interval_s / 2;
		}
	}
	return 0;
}

static int stop_agents(struct run_once *r, struct err *err)
{
	for (size_t i = 0; i < r->nr_lanes; i++)
		session_say(&r->lanes[i].agent, "stop");
	for (;;) {
		bool all_ended = true;
		int ret;

		for (size_t i = 0; i < r->nr_lanes; i++)
			all_ended &= !r->lanes[i].agent.pid || r->lanes[i].agent.ended;
		if (all_ended)
			return 0;
		ret = run_once_look(r, "ending monitors", err);
		if (ret)
			return ret;
	}
}

static void add_artifact(struct run_once *r, const struct lane *l, const char *kind,
			 const void *content, size_t len)
{
	if (len)
		r->artifacts[r->nr_artifacts++] =
			(struct results_artifact){ l->target->name, kind, content, len };
}

static void take_artifacts(struct run_once *r, bool failed)
{
	for (size_t i = 0; i < r->nr_lanes; i++) {
		struct lane *l = &r->lanes[i];
		struct target_times t;

		target_times((char *)l->load.output.data, l->load.output.len, &t);
		add_artifact(r, l, "place", l->place, strlen(l->place));
		add_artifact(r, l, "output", t.load, t.load_len);
		if (failed)
			add_artifact(r, l, "words", l->load.words.data, l->load.words.len);
		add_artifact(r, l, "profiles", l->agent.output.data, l->agent.output.len);
		if (r->plan->traces && r->plan->monitor_agent)
			add_artifact(r, l, "traces", r->traces, strlen(r->traces));
	}
}

int run_once(struct run_once *r, const double *cells, struct err *err)
{
	int ret = 0;

	r->deadline_s = clock_monotonic_s() + r->plan->time_limit_s;
	snprintf(r->traces, sizeof(r->traces), "%s/%s", r->plan->traces ? r->plan->traces : "",
		 r->name);
	for (size_t i = 0; i < r->nr_lanes; i++) {
		ret = start_load(r, &r->lanes[i], cells, err);
		if (ret)
			goto out;
	}
	ret = wait_for_ready(r, false, err);
	if (ret)
		goto out;
	if (r->plan->monitor_agent)
		ret = start_agents(r, err);
	if (ret)
		goto out;
	ret = run_once_measure(r, err);
	if (ret)
		goto out;
	if (r->plan->monitor_agent)
		ret = stop_agents(r, err);
	if (ret)
		goto out;
	ret = run_once_take(r, true, &r->readings, err);
out:
	r->nr_intervals = readings_intervals(&r->readings);
	take_artifacts(r, ret != 0);
	return ret;
}
