// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/device/device_search.h"

#define ALL_FIRST    36	 /* fits of a calibration with one start, for the progress */
#define ALL_FINISH   14	 /* fits that complete a further start */
#define STEPS_FOLD   4	 /* steps of a fold, from the model of all rows */
#define SERVERS_MOST 64	 /* the largest number of servers among the powers of two that are tried */
#define PASSED_FIRST 8	 /* first guess of flush_window (device_model.h) */
#define WAITS_FIRST  0.1 /* first guess of flush_wait_ratio beside it */

/*
 * Fits a model that starts from the best of several numbers of servers. A search that
 * starts without limits may never find them, so that limited says whether it starts with limits.
 */
static int device_search_servers(struct device_search *s, const struct device_model *guess,
				 bool limited, struct device_model *m, double *loss)
{
	struct device_model from = *guess;
	double most = fmin(SERVERS_MOST, guess->domain.concurrency);
	unsigned int best;
	int ret = 0;

	*m = *guess;
	*loss = INFINITY;
	if (limited) {
		from.ops.rate_per_s = s->guess.per_s * 1.02;
		from.bytes.rate_per_s = s->guess.bytes_per_s * 1.02;
	}
	/*
	 * The fit becomes worse on both sides of the right number: two worse ones end the search.
	 */
	for (unsigned int n = 1, worse = 0; n <= most && worse < 2 && !ret; n *= 2) {
		double before = *loss;

		from.servers = n;
		ret = device_search_try(s, &from, DEVICE_STEPS_START, m, loss, 0);
		worse = *loss < before ? 0 : worse + 1;
	}
	best = m->servers;
	for (unsigned int k = 3; k <= 6 && best >= 2 && !ret; k += 3) {
		from = *m;
		from.servers = best * k / 4;
		ret = device_search_try(s, &from, DEVICE_STEPS_START, m, loss, 0);
	}
	if (!ret)
		ret = device_search_spread(s, m, loss);
	return ret ? ret : device_search_fit(s, m, DEVICE_STEPS_PART, loss);
}

/*
 * Fits a model whose limit of operations begins with a burst. A search that starts without one does
 * not find the limit, because requests after a pause contradict it.
 */
static int device_search_bursts(struct device_search *s, const struct device_model *guess,
				struct device_model *m, double *loss)
{
	struct device_model from = *guess;
	int ret = 0;

	*loss = INFINITY;
	from.ops.rate_per_s = s->guess.per_s * 1.02;
	for (unsigned int n = 1; n <= SERVERS_MOST && !ret; n *= 2)
		for (double burst = 4; burst <= DEVICE_BURST_MOST && !ret; burst *= 2) {
			from.servers = n;
			from.ops.burst = burst;
			ret = device_search_look(s, &from, m, loss);
		}
	return ret ? ret : device_search_fit(s, m, DEVICE_STEPS_FINAL, loss);
}

/* This struct holds the devices that a search may begin with; the simplest device comes first. */
struct device_starts {
	struct device_model m[3];
	double loss[3];
	size_t nr;
};

/* Keeps a start that has a limit more than those before it, if it fits better by that worth. */
static void device_starts_add(struct device_starts *t, const struct device_model *m, double loss)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!(loss <
		      t->loss[i] *
			      (1 - 2 * DEVICE_WORTH_RATIO))) /* two limits, or one and its burst */
			return;
	t->m[t->nr] = *m;
	t->loss[t->nr++] = loss;
}

/*
 * Finds servers without limits. Flushes join their queue or pass it, whichever fits better: with
 * the wrong one of both, a limit and too many servers would fit better than the right servers.
 */
static int device_search_plain(struct device_search *s, const struct device_model *guess,
			       struct device_model *m, double *loss)
{
	struct device_model passing = *guess, other;
	double mine;
	int ret = device_search_servers(s, guess, false, m, loss);

	if (ret || !guess->domain.has[DEVICE_FLUSH] || !(guess->domain.concurrency > 1))
		return ret;
	passing.flush_window = PASSED_FIRST;
	passing.flush_wait_ratio = WAITS_FIRST;
	ret = device_search_servers(s, &passing, false, &other, &mine);
	if (!ret && mine < *loss * (1 - DEVICE_WORTH_RATIO)) {
		*m = other;
		*loss = mine;
	}
	return ret;
}

/* Finds servers without limits, with limits, and with a limit that begins with a burst. */
static int device_search_queues(struct device_search *s, const struct device_model *guess,
				struct device_starts *t)
{
	struct device_model m;
	double loss;
	int ret = device_search_plain(s, guess, &m, &loss);

	device_starts_add(t, &m, loss);
	if (ret || !(s->guess.per_s > 0))
		return ret;
	ret = device_search_servers(s, guess, true, &m, &loss);
	if (ret)
		return ret;
	device_starts_add(t, &m, loss);
	if (!s->guess.thinks)
		return 0;
	ret = device_search_bursts(s, guess, &m, &loss);
	if (!ret)
		device_starts_add(t, &m, loss);
	return ret;
}

/*
 * Completes each start and chooses among the whole devices. Before its other parts are found, a
 * device with too many servers and a limit may fit better than one that lacks only these parts.
 */
static int device_search_choose(struct device_search *s, struct device_starts *t,
				struct device_model *m)
{
	double least = INFINITY;
	int ret = 0;

	s->all += ALL_FINISH * (t->nr - 1);
	for (size_t i = 0; i < t->nr && !ret; i++) {
		ret = device_search_finish(s, &t->m[i], &t->loss[i]);
		if (ret || !(t->loss[i] < least * (1 - 2 * DEVICE_WORTH_RATIO)))
			continue;
		*m = t->m[i];
		least = t->loss[i];
	}
	return ret;
}

/* ---- held-out rows ---- */

static int device_hold_out(struct device_search *s, struct device_model *m,
			   struct device_held_out *held)
{
	const struct device_table *d = s->table;
	struct device_held_out *one = calloc(d->nr, sizeof(*one));
	double *scratch = calloc(d->nr, sizeof(*scratch)), loss;
	size_t *fold = calloc(d->nr, sizeof(*fold));
	bool *use = calloc(d->nr, sizeof(*use));
	int ret = one && scratch && fold && use ? 0 : -ENOMEM;

	if (ret)
		goto out;
	s->all = s->done + DEVICE_FOLDS;
	s->last = 0;
	device_fit_folds(d, fold);
	for (size_t k = 0; k < DEVICE_FOLDS; k++) {
		struct device_model part = *m;

		for (size_t i = 0; i < d->nr; i++)
			use[i] = fold[i] != k;
		s->fit.use = use;
		ret = device_search_fit(s, &part, STEPS_FOLD, &loss);
		if (ret)
			goto out;
		ret = device_fit_simulate(&s->fit, &part, true, one);
		if (ret)
			goto out;
		for (size_t i = 0; i < d->nr; i++)
			if (!use[i])
				held[i] = one[i];
	}
	device_fit_errors(m, d, held, scratch);
out:
	s->fit.use = NULL;
	free(one);
	free(scratch);
	free(fold);
	free(use);
	return ret;
}

int device_calibrate(struct device_model *m, const struct device_table *d,
		     const struct device_task *task, struct device_held_out *held_out,
		     struct err *err)
{
	struct device_search s = {
		.table = d, .task = task, .all = ALL_FIRST, .last = DEVICE_FOLDS
	};
	struct device_starts starts = { .nr = 0 };
	struct device_held_out *held = held_out;
	int ret;

	s.fit.table = d;
	s.fit.task = task;
	if (d->nr < DEVICE_ROWS_LEAST)
		return err_set(err, EINVAL, "expected %d measured configurations or more, got %zu",
			       DEVICE_ROWS_LEAST, d->nr);
	if (!held)
		held = calloc(d->nr, sizeof(*held));
	if (!held)
		return -ENOMEM;
	lsq_single_thread();
	device_guess(&s.guess, d, m);
	ret = device_search_queues(&s, m, &starts);
	if (ret)
		goto out;
	ret = device_search_choose(&s, &starts, m);
	if (ret)
		goto out;
	ret = device_hold_out(&s, m, held);
	m->nr_configurations = d->nr;
	m->seed = task->seed;
out:
	if (held != held_out)
		free(held);
	return ret;
}
