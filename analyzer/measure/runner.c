// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/measure/run_once.h"
#include "analyzer/measure/sequential_design.h"
#include "analyzer/measure/target.h"
#include "base/system/clock.h"

#define KEEPER_TIMEOUT_S 30.0
#define KEEPER_BAD_PLAN	 2 /* exit status for a refused plan, shell/target_claim.sh */

struct campaign {
	struct runner *r;
	struct results *store; /* NULL: not opened yet */
	int64_t id;	       /* of the campaign in the store */
	struct session keepers[PLAN_TARGETS_MAX];
	struct buf folders[PLAN_TARGETS_MAX];
	char places[PLAN_TARGETS_MAX][400];
	struct err last; /* why the run before failed; code 0: it did not fail */
	size_t last_number;
	struct configurations todo;
	struct configurations candidates; /* from which a sequential design chooses */
};

static void runner_release(struct campaign *c)
{
	for (size_t i = 0; i < c->r->plan->nr_targets; i++)
		session_hang_up(&c->keepers[i]);
	for (size_t i = 0; i < c->r->plan->nr_targets; i++) {
		session_release(&c->keepers[i]);
		buf_release(&c->folders[i]);
	}
	configurations_release(&c->todo);
	configurations_release(&c->candidates);
	results_close(c->store);
}

static int start_keepers(struct campaign *c, struct err *err)
{
	const struct plan *p = c->r->plan;
	struct buf script;
	int ret = 0;

	buf_init(&script);
	for (size_t i = 0; i < p->nr_targets; i++) {
		buf_clear(&script);
		ret = target_folder(p, &p->targets[i], &c->folders[i]);
		if (ret)
			goto out;
		ret = target_keeper_script(p, &p->targets[i], (char *)c->folders[i].data, &script);
		if (ret)
			goto out;
		ret = buf_put_u8(&script, 0);
		if (ret)
			goto out;
		ret = session_start(&c->keepers[i], &p->targets[i], (char *)script.data, err);
		if (ret)
			goto out;
	}
out:
	buf_release(&script);
	return ret;
}

static int keeper_failed(struct campaign *c, size_t i, struct err *err)
{
	char words[256];
	struct session *s = &c->keepers[i];

	session_last_words(s, words, sizeof(words));
	return err_set(err, s->ended && s->status == KEEPER_BAD_PLAN ? EINVAL : EHOSTUNREACH,
		       "target %s: %s", c->r->plan->targets[i].name,
		       *words	  ? words
		       : s->ended ? "its shell ended"
				  : "no answer");
}

/* Waits until every target answers and has reported that everything needed is there. */
static int wait_for_keepers(struct campaign *c, struct err *err)
{
	double deadline_s = clock_monotonic_s() + KEEPER_TIMEOUT_S;
	struct session *all[PLAN_TARGETS_MAX];
	size_t nr = c->r->plan->nr_targets, nr_ready = 0;

	for (size_t i = 0; i < nr; i++)
		all[i] = &c->keepers[i];
	while (nr_ready < nr) {
		nr_ready = 0;
		for (size_t i = 0; i < nr; i++) {
			if (target_is_ready((char *)all[i]->output.data, all[i]->output.len))
				nr_ready++;
			else if (all[i]->ended || clock_monotonic_s() > deadline_s)
				return keeper_failed(c, i, err);
		}
		if (nr_ready < nr)
			sessions_wait(all, nr, 100);
		if (*c->r->stop)
			return err_set(err, EINTR, "interrupted");
	}
	for (size_t i = 0; i < nr; i++) {
		const struct session *s = all[i];

		target_place((char *)s->output.data, s->output.len, c->places[i],
			     sizeof(c->places[i]));
		if (c->places[i][0] && c->r->place)
			c->r->place(c->r->ctx, &c->r->plan->targets[i], c->places[i]);
	}
	return 0;
}

static int store_run(struct campaign *c, struct run_once *once, struct results_run *run,
		     const char *why, struct err *err)
{
	const struct plan *p = c->r->plan;
	unsigned int nr = once->nr_intervals ? once->nr_intervals : (unsigned int)p->nr_intervals;

	run->ended_s = clock_real_s();
	run->error = why;
	run->nr_intervals = once->nr_intervals;
	run->overhead_s =
		why ? 0.0 / 0.0 : run->ended_s - run->began_s - p->warm_up_s - nr * p->interval_s;
	run->readings = &once->readings;
	run->artifacts = once->artifacts;
	run->nr_artifacts = once->nr_artifacts;
	return results_put_run(c->store, c->id, run, err);
}

static void runner_tell(struct campaign *c, const struct results_run *run)
{
	struct runner_report report = {
		.number = run->number,
		.nr_configurations = c->todo.nr,
		.repetition = run->repetition,
		.error = run->error,
		.seconds = run->ended_s - run->began_s,
		.overhead_s = run->overhead_s,
	};

	if (run->error)
		c->r->nr_failed++;
	else
		c->r->nr_done++;
	if (!run->error && run->overhead_s > c->r->overhead_most_s)
		c->r->overhead_most_s = run->overhead_s;
	c->r->report(c->r->ctx, &report);
}

/* Returns true for an error of the target that every other configuration would meet too. */
static bool runner_is_lasting(const struct campaign *c, const char *why)
{
	static const char *const words[] = { "No space left on device", "Read-only file system",
					     "Disk quota exceeded", "the load names this device" };
	bool lasting = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		lasting |= strstr(why, words[i]) != NULL;
	for (size_t i = 0; i < c->r->plan->nr_targets; i++)
		lasting |= c->keepers[i].ended;
	return lasting;
}

/*
 * A campaign takes hours, so it ends early if every run is going to fail. The runner assumes this
 * after an error of the target itself, or when two configurations fail with the same message and no
 * run has been done yet.
 */
static int stop_if_repeated(struct campaign *c, size_t number, const struct err *why,
			    struct err *err)
{
	bool again = c->last.code && why->code && number != c->last_number &&
		     !strcmp(c->last.line, why->line) && !c->r->nr_done && !c->r->nr_before;
	bool lasting = why->code && runner_is_lasting(c, why->line);

	c->last = *why;
	c->last_number = number;
	if (!again && !lasting)
		return 0;
	return err_set(err, ECANCELED,
		       "%.300s: the campaign stops here, since other configurations would fail "
		       "likewise",
		       why->line);
}

static int one_run(struct campaign *c, size_t number, unsigned int repetition, struct err *err)
{
	struct run_once *once = calloc(1, sizeof(*once));
	struct results_run run = { .number = number, .repetition = repetition };
	const struct plan *p = c->r->plan;
	struct err why = { 0 };
	char name[64];
	int ret;

	if (!once)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%05zu-%u", number, repetition);
	once->plan = p;
	once->stop = c->r->stop;
	once->name = name;
	once->nr_lanes = p->nr_targets;
	for (size_t i = 0; i < p->nr_targets; i++) {
		once->lanes[i].target = &p->targets[i];
		once->lanes[i].folder = (char *)c->folders[i].data;
		once->lanes[i].place = c->places[i];
	}
	run.began_s = clock_real_s();
	ret = run_once(once, c->todo.cells + number * p->factors.nr, &why);
	if (ret == -EINTR && *c->r->stop) {
		*err = why;
		goto out;
	}
	if (ret && !why.code)
		err_set(&why, -ret, "%s", strerror(-ret));
	ret = store_run(c, once, &run, ret ? why.line : NULL, err);
	if (ret)
		goto out;
	runner_tell(c, &run);
	ret = stop_if_repeated(c, number, &why, err);
out:
	run_once_release(once);
	free(once);
	return ret;
}

/*
 * Appends the next configuration of a sequential design. Returns -ENOENT when no candidate is left.
 */
static int choose_next(struct campaign *c, struct err *err)
{
	const struct plan *p = c->r->plan;
	struct table measured = { 0 };
	double *cells = calloc(p->factors.nr + 1, sizeof(*cells));
	struct buf csv;
	int ret = cells ? 0 : -ENOMEM;

	buf_init(&csv);
	if (ret)
		goto out;
	ret = results_csv(c->store, c->id, p->sequential.response, &csv, err);
	if (ret)
		goto out;
	ret = table_parse(&measured, "measured", (char *)csv.data, csv.len, err);
	if (ret)
		goto out;
	ret = sequential_next(&p->factors, &measured, p->sequential.response, &c->candidates,
			      &c->todo, cells, err);
	if (ret)
		goto out;
	ret = configurations_add(&c->todo, p->factors.nr, cells);
out:
	table_release(&measured);
	buf_release(&csv);
	free(cells);
	return ret;
}

static int measure_configuration(struct campaign *c, size_t number, unsigned int repetition,
				 struct err *err)
{
	const struct plan *p = c->r->plan;
	int ret = results_put_configuration(c->store, c->id, number, &p->factors,
					    c->todo.cells + number * p->factors.nr, err);
	char known = ret ? 0 : results_run_status(c->store, c->id, number, repetition);

	if (known != 'd' && (known != 'f' || c->r->retry_failed))
		return ret ? ret : one_run(c, number, repetition, err);
	c->r->nr_before++;
	return 0;
}

/*
 * A sequential design measures every repetition of a configuration before it chooses the next one.
 */
static int measure_sequential(struct campaign *c, struct err *err)
{
	const struct plan *p = c->r->plan;
	int ret = 0;

	for (size_t i = 0; i < p->sequential.configurations; i++) {
		if (i == c->todo.nr)
			ret = choose_next(c, err);
		if (ret == -ENOENT)
			return 0;
		if (ret)
			return ret;
		for (unsigned int k = 1; k <= p->repetitions; k++) {
			ret = measure_configuration(c, i, k, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/*
 * Repetitions are rounds: every configuration is measured once before any is measured again. A
 * system that drifts then shows it as a difference between repetitions, and the drift affects all
 * configurations alike.
 */
static int measure_all(struct campaign *c, struct err *err)
{
	if (c->r->plan->design == DESIGN_SEQUENTIAL)
		return measure_sequential(c, err);
	for (unsigned int k = 1; k <= c->r->plan->repetitions; k++)
		for (size_t i = 0; i < c->todo.nr; i++) {
			int ret = measure_configuration(c, i, k, err);

			if (ret)
				return ret;
		}
	return 0;
}

/*
 * Takes the configurations with which the plan begins. For a sequential design it also takes those
 * that the store shows as chosen before an interruption.
 */
static int take_configurations(struct campaign *c, struct err *err)
{
	const struct plan *p = c->r->plan;
	struct configurations known = { 0 };
	int ret = plan_configurations(p, &c->todo, err);

	if (ret || p->design != DESIGN_SEQUENTIAL)
		return ret;
	ret = plan_candidates(p, &c->candidates, err);
	if (ret)
		return ret;
	ret = results_configurations(c->store, c->id, &p->factors, &known, err);
	if (ret)
		goto out;
	for (size_t i = c->todo.nr; i < known.nr; i++) {
		ret = configurations_add(&c->todo, p->factors.nr, known.cells + i * p->factors.nr);
		if (ret)
			goto out;
	}
out:
	configurations_release(&known);
	return ret;
}

/* Opens the store, which is made where it is missing, and begins or finds the campaign in it. */
static int runner_open_campaign(struct campaign *c, struct err *err)
{
	int ret = 0;

	if (!c->store)
		ret = results_open(&c->store, c->r->db, RESULTS_WRITE, err);
	return ret ? ret : results_campaign(c->store, c->r->plan, c->r->resume, &c->id, err);
}

/*
 * Records that a target does not answer or lacks something. The plan may be right, so that the
 * campaign counts as begun. The error of the target is more useful than one of the store.
 */
static void runner_record_absence(struct campaign *c, const char *why)
{
	if (runner_open_campaign(c, NULL) == 0)
		results_put_event(c->store, c->id, NULL, why, NULL);
}

/*
 * A store that exists already is locked before a target is asked, so that a second campaign ends
 * at once. A new one is made only when the targets have accepted the plan.
 */
static int runner_prepare(struct campaign *c, struct err *err)
{
	int ret = 0;

	if (access(c->r->db, F_OK) == 0)
		ret = results_open(&c->store, c->r->db, RESULTS_WRITE, err);
	if (ret)
		return ret;
	ret = start_keepers(c, err);
	if (ret)
		return ret;
	ret = wait_for_keepers(c, err);
	if (ret == -EHOSTUNREACH)
		runner_record_absence(c, err->line);
	if (ret)
		return ret;
	ret = runner_open_campaign(c, err);
	return ret ? ret : take_configurations(c, err);
}

int runner_run(struct runner *r, struct err *err)
{
	struct campaign *c = calloc(1, sizeof(*c));
	double began_s = clock_monotonic_s();
	int ret;

	if (!c)
		return -ENOMEM;
	c->r = r;
	ret = runner_prepare(c, err);
	if (ret)
		goto out;
	r->begin(r->ctx);
	ret = measure_all(c, err);
out:
	runner_release(c);
	free(c);
	r->seconds = clock_monotonic_s() - began_s;
	return ret;
}
