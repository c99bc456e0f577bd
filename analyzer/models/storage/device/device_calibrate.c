// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/device/device_fit.h"
#include "analyzer/models/storage/device/device_guess.h"

/*
 * The numbers of this file choose where the search starts, how long it goes on and when it prefers
 * a simpler model. docs/studies compares them with no other values; the errors of held-out
 * configurations say how good the result is.
 */
#define STEPS_START  5	  /* steps for each number of servers */
#define STEPS_PART   8	  /* steps to find out how much a part improves the fit */
#define STEPS_FINAL  20	  /* steps at the end; device_fit_run() stops earlier without a gain */
#define ALL_FINISH   14	  /* fits that complete a device, for the progress */
#define STEPS_FOLD   4	  /* steps of a fold, from the model of all rows */
#define WORTH_RATIO  0.05 /* a part stays in the model if it lowers the loss by this ratio */
#define BURST_MOST   1024 /* tokens in requests of mean size: the largest burst that is tried */
#define UNITS_MOST   16	  /* operations that the largest measured request may be */
#define SERVERS_MOST 64	  /* the largest number of servers among the powers of two that are tried */
#define SIGMA_PAUSES 0.1  /* first guess of sigma (device_model.h) beside pauses */
#define CACHE_BYTES  (64.0 * 1024 * 1024) /* first guess of the size of a cache */

struct device_search {
	struct device_fit fit;
	const struct device_table *table;
	const struct device_task *task;
	struct device_guess guess; /* the first guess from the rows */
	bool service_only;	   /* fits change service times and latencies alone */
	double done, all;	   /* number of fits done and in all, for the progress */
};

static void device_search_tell(struct device_search *s)
{
	s->done++;
	if (s->task->progress)
		s->task->progress(s->task->ctx, s->done < s->all ? s->done / s->all : 1);
}

/* Decides which parameters the rows can determine. */
static void device_search_free(struct device_search *s, const struct device_model *m)
{
	const struct device_domain *d = &m->domain;
	bool *free_ = s->fit.free;

	memset(free_, 0, sizeof(s->fit.free));
	for (int k = 0; k < 2; k++) {
		free_[PARAMETER_BASE_READ + k] = d->has[k];
		free_[PARAMETER_BYTE_READ + k] = d->has[k] && d->high_bytes[k] > d->low_bytes[k];
		free_[PARAMETER_SEEK_READ + k] = d->has_random[k] && d->has_sequential[k];
		free_[PARAMETER_SIGMA_READ + k] = d->has[k] && !s->service_only;
		free_[PARAMETER_LATENCY_READ + k] = d->has[k] && d->concurrency > 1;
		free_[PARAMETER_LATENCY_BYTE_READ + k] =
			free_[PARAMETER_BYTE_READ + k] && d->concurrency > 1;
	}
	if (s->service_only)
		return;
	free_[PARAMETER_WAIT_SIGMA] = d->concurrency > 2;
	free_[PARAMETER_WAIT_WINDOW] = m->wait_window > 0;
	free_[PARAMETER_FLUSH] = d->has[DEVICE_FLUSH];
	free_[PARAMETER_FLUSH_BYTE] = free_[PARAMETER_FLUSH_WAIT] = d->has[DEVICE_FLUSH];
	free_[PARAMETER_FLUSH_CLEAN] = s->guess.clean;
	free_[PARAMETER_DURABLE] = d->has_durable;
	free_[PARAMETER_PAUSE_RATIO] = free_[PARAMETER_PAUSE] = m->pause_ratio > 0;
	free_[PARAMETER_OPS] = m->ops.rate_per_s > 0;
	free_[PARAMETER_OPS_WRITE] = m->ops.rate_per_s > 0 && d->has[0] && d->has[1];
	free_[PARAMETER_OPS_BURST] = m->ops.rate_per_s > 0 && m->ops.burst > 0;
	free_[PARAMETER_BYTES_BURST] = m->bytes.rate_per_s > 0 && m->bytes.burst > 0;
	free_[PARAMETER_BYTES] = m->bytes.rate_per_s > 0;
	free_[PARAMETER_BYTES_WRITE] = m->bytes.rate_per_s > 0 && d->has[0] && d->has[1];
	for (int p = PARAMETER_CACHE; p <= PARAMETER_DRAIN; p++)
		free_[p] = m->cache.bytes > 0;
}

static int device_search_fit(struct device_search *s, struct device_model *m, unsigned int steps,
			     double *loss)
{
	device_search_free(s, m);
	device_search_tell(s);
	return device_fit_run(&s->fit, m, steps, loss);
}

/* ---- the choice of the device's parts ---- */

/* Fits the model with this number of servers, and keeps the result if it is better. */
static int device_search_try(struct device_search *s, const struct device_model *from,
			     unsigned int steps, struct device_model *best, double *loss,
			     double worth)
{
	struct device_model m = *from;
	double mine;
	int ret = device_search_fit(s, &m, steps, &mine);

	if (ret || !(mine < *loss * (1 - worth)))
		return ret;
	*best = m;
	*loss = mine;
	return 0;
}

/* Keeps a model if its loss is smaller, without a fit. */
static int device_search_look(struct device_search *s, const struct device_model *m,
			      struct device_model *best, double *loss)
{
	double mine;
	int ret = device_fit_run(&s->fit, (struct device_model *)m, 0, &mine);

	if (ret || !(mine < *loss))
		return ret;
	*best = *m;
	*loss = mine;
	return 0;
}

/*
 * Chooses by a grid how much service times and waits vary. These parameters act on each other and
 * have several local optima, in which a search by derivatives stops.
 */
static int device_search_spread(struct device_search *s, struct device_model *m, double *loss)
{
	static const double sigmas[] = { 0.01, 0.03, 0.1, 0.2, 0.4 };
	static const double waits[] = { 0.05, 0.1, 0.2, 0.4, 0.6, 0.8 };
	struct device_model from = *m;
	int ret;

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		from.wait_sigma = m->domain.concurrency > 2 ? waits[i] : 0;
		/* A window of 0 lets all waiting requests overtake each other. */
		for (double w = 0; w == 0 || w<m->domain.concurrency; w = w> 0 ? 2 * w : 1) {
			from.wait_window = w;
			ret = device_search_look(s, &from, m, loss);
			if (ret)
				return ret;
		}
	}
	from = *m;
	for (size_t i = 0; i < sizeof(sigmas) / sizeof(*sigmas); i++)
		for (size_t k = 0; k < sizeof(sigmas) / sizeof(*sigmas); k++) {
			from.sigma[0] = sigmas[i];
			from.sigma[1] = sigmas[k];
			ret = device_search_look(s, &from, m, loss);
			if (ret)
				return ret;
		}
	return 0;
}

/*
 * Removes a limit. A limit and servers of the same throughput look alike under load, so that a fit
 * divides the time between them by chance. The servers take over the limit's time, and what a
 * request alone takes stays.
 */
static void device_search_unlimit(struct device_model *m, double *rate_per_s)
{
	bool ops = rate_per_s == &m->ops.rate_per_s;
	const struct device_limit *l = ops ? &m->ops : &m->bytes;

	for (int k = 0; k < 2; k++) {
		double *server_s = ops ? &m->base_s[k] : &m->byte_s[k];
		double *latency_s = ops ? &m->latency_s[k] : &m->latency_byte_s[k];
		double least_s = m->servers / *rate_per_s * (k ? l->write_ratio : 1);
		double more_s = fmax(least_s - *server_s, 0);

		*server_s += more_s;
		*latency_s = fmax(*latency_s - more_s, *latency_s / 10);
	}
	*rate_per_s = 0;
	*(ops ? &m->ops.burst : &m->bytes.burst) = 0;
}

/*
 * Finds how much of a limit an idle storage saves up. Only clients that think after bursts show it,
 * and savings that last longer than such a burst cannot be told from the rows. The search starts at
 * several sizes, since nothing changes near 0.
 */
static int device_search_burst(struct device_search *s, struct device_model *m,
			       struct device_limit *limit, double token, double *loss)
{
	struct device_model best = *m, from;
	double mine = *loss;
	size_t at = (size_t)((char *)limit - (char *)m);
	int ret = 0;

	if (!(limit->rate_per_s > 0) || !s->guess.thinks)
		return 0;
	for (double nr = 4; nr <= BURST_MOST && !ret; nr *= 2) {
		from = *m;
		((struct device_limit *)((char *)&from + at))->burst = nr * token;
		ret = device_search_look(s, &from, &best, &mine);
	}
	from = best;
	return ret || !(mine < *loss)
		       ? ret
		       : device_search_try(s, &from, STEPS_PART, m, loss, WORTH_RATIO);
}

/* Returns the next smaller size to try: one that the device got, or high / a power of two. */
static double device_unit_below(const struct device_table *d, double high, double unit)
{
	while (high >= unit)
		high /= 2;
	return fmax(high, device_table_size_below(d, unit));
}

/*
 * Chooses how many bytes one operation moves at most. The step that a larger request takes has no
 * derivative, so that the sizes are tried of which the device got larger requests.
 */
static int device_search_unit(struct device_search *s, struct device_model *m, double *loss)
{
	struct device_model best = *m;
	double high = fmax(fmax(0, m->domain.high_bytes[0]), m->domain.high_bytes[1]), mine = *loss;
	int ret = 0;

	/* Without a measured read or write there is no largest size. */
	if (m->unit_bytes > 0 || !(high > 0))
		return 0;
	s->service_only = true;
	for (double unit = high; !ret;) {
		struct device_model from = *m;

		unit = device_unit_below(s->table, high, unit);
		if (unit < fmax(1, high / UNITS_MOST))
			break;
		/* A limit of bytes explains the same rows. */
		if (from.bytes.rate_per_s > 0)
			device_search_unlimit(&from, &from.bytes.rate_per_s);
		from.unit_bytes = unit;
		for (int k = 0; k < 2; k++) {
			from.byte_s[k] /= 4;
			from.latency_byte_s[k] /= 4;
		}
		ret = device_search_try(s, &from, STEPS_START, &best, &mine, 0);
	}
	s->service_only = false;
	/* If units take the place of a limit, the device has as many parts as before. */
	if (!ret && mine < *loss * (m->bytes.rate_per_s > 0 ? 1 : 1 - WORTH_RATIO)) {
		*m = best;
		*loss = mine;
	}
	return ret;
}

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
		ret = device_search_try(s, &from, STEPS_START, m, loss, 0);
		worse = *loss < before ? 0 : worse + 1;
	}
	best = m->servers;
	for (unsigned int k = 3; k <= 6 && best >= 2 && !ret; k += 3) {
		from = *m;
		from.servers = best * k / 4;
		ret = device_search_try(s, &from, STEPS_START, m, loss, 0);
	}
	if (!ret)
		ret = device_search_spread(s, m, loss);
	return ret ? ret : device_search_fit(s, m, STEPS_PART, loss);
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
		for (double burst = 4; burst <= BURST_MOST && !ret; burst *= 2) {
			from.servers = n;
			from.ops.burst = burst;
			ret = device_search_look(s, &from, m, loss);
		}
	return ret ? ret : device_search_fit(s, m, STEPS_FINAL, loss);
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
		      t->loss[i] * (1 - 2 * WORTH_RATIO))) /* two limits, or one and its burst */
			return;
	t->m[t->nr] = *m;
	t->loss[t->nr++] = loss;
}

/* Finds servers without limits, with limits, and with a limit that begins with a burst. */
static int device_search_queues(struct device_search *s, const struct device_model *guess,
				struct device_starts *t)
{
	struct device_model m;
	double loss;
	int ret = device_search_servers(s, guess, false, &m, &loss);

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

/* Adds one part after the other, if the part improves the fit enough. */
static int device_search_limits(struct device_search *s, struct device_model *m, double *loss)
{
	struct device_model from = *m;
	int ret;

	from.ops.rate_per_s = s->guess.per_s * 1.02;
	ret = s->guess.per_s > 0 && !(m->ops.rate_per_s > 0)
		      ? device_search_try(s, &from, STEPS_PART, m, loss, WORTH_RATIO)
		      : 0;
	if (ret)
		return ret;
	from = *m;
	from.bytes.rate_per_s = s->guess.bytes_per_s * 1.02;
	if (s->guess.bytes_per_s > 0 && !(m->bytes.rate_per_s > 0))
		ret = device_search_try(s, &from, STEPS_PART, m, loss, WORTH_RATIO);
	if (ret)
		return ret;
	ret = device_search_unit(s, m, loss);
	if (ret)
		return ret;
	ret = device_search_spread(s, m, loss);
	if (ret)
		return ret;
	ret = device_search_burst(s, m, &m->ops, 1, loss);
	if (ret)
		return ret;
	return device_search_burst(s, m, &m->bytes, s->guess.bytes_per_s / s->guess.per_s, loss);
}

/* Looks for pauses of about this length, and for what writes and flushes have beside. */
static int device_search_effects(struct device_search *s, struct device_model *m, double pause_s,
				 double *loss)
{
	struct device_model from = *m;
	int ret;

	from.pause_ratio = 0.01;
	from.pause_s = pause_s;
	/* Until now the random factor was wider, since it had to explain the pauses too. */
	from.sigma[0] = from.sigma[1] = SIGMA_PAUSES;
	ret = device_search_try(s, &from, STEPS_PART, m, loss, WORTH_RATIO);
	if (ret || !m->domain.has[DEVICE_WRITE])
		return ret;
	from = *m;
	from.durable_flush = true;
	from.durable_s = 0;
	if (m->domain.has_durable && m->domain.has[DEVICE_FLUSH])
		ret = device_search_try(s, &from, STEPS_PART, m, loss, 0);
	if (ret)
		return ret;
	from = *m;
	from.flush_alone = true;
	from.flush_wait_ratio = 1;
	if (m->domain.has[DEVICE_FLUSH] && m->domain.concurrency > 1)
		ret = device_search_try(s, &from, STEPS_PART, m, loss, WORTH_RATIO);
	if (ret)
		return ret;
	from = *m;
	from.cache = (struct device_cache){ .bytes = CACHE_BYTES,
					    .base_s = m->base_s[1],
					    .byte_s = m->byte_s[1],
					    .drain_bytes_per_s = s->guess.bytes_per_s > 0
									 ? s->guess.bytes_per_s
									 : CACHE_BYTES };
	return device_search_try(s, &from, STEPS_PART, m, loss, WORTH_RATIO);
}

/* Removes the parts that other parts have made useless. */
static int device_search_prune(struct device_search *s, struct device_model *m, double *loss)
{
	double *const parts[] = { &m->ops.rate_per_s, &m->bytes.rate_per_s, &m->pause_ratio,
				  &m->cache.bytes };
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct device_model from = *m;
		double allowed = *loss * (1 + WORTH_RATIO);
		int ret;

		if (!(*parts[i] > 0))
			continue;
		if (parts[i] == &m->ops.rate_per_s)
			device_search_unlimit(&from, &from.ops.rate_per_s);
		else if (parts[i] == &m->bytes.rate_per_s)
			device_search_unlimit(&from, &from.bytes.rate_per_s);
		else
			*(double *)((char *)&from + ((char *)parts[i] - (char *)m)) = 0;
		ret = device_search_try(s, &from, STEPS_PART, m, &allowed, 0);
		if (ret)
			return ret;
		if (!(*parts[i] > 0))
			*loss = allowed;
	}
	return 0;
}

/* Completes a device that has its servers and limits. */
static int device_search_finish(struct device_search *s, struct device_model *m, double *loss)
{
	double pause_s = 5 * fmax(m->base_s[0], m->base_s[1]);
	int ret = device_search_limits(s, m, loss);

	if (ret)
		return ret;
	ret = device_search_effects(s, m, pause_s, loss);
	if (ret)
		return ret;
	ret = device_search_prune(s, m, loss);
	if (ret)
		return ret;
	ret = device_search_unit(s, m, loss);
	if (ret)
		return ret;
	ret = device_search_spread(s, m, loss);
	if (ret)
		return ret;
	return device_search_fit(s, m, STEPS_FINAL, loss);
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
		if (ret || !(t->loss[i] < least * (1 - 2 * WORTH_RATIO)))
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
	struct device_search s = { .table = d, .task = task, .all = 36 };
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
