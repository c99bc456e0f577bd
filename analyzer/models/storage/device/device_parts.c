// SPDX-License-Identifier: Apache-2.0
/* Chooses the parts of a device beside its servers: limits, units, pauses, flushes and a cache. */
#include "analyzer/models/storage/device/device_search.h"

#include <math.h>

#define UNITS_MOST	 16   /* operations that the largest measured request may be */
#define SIGMA_PAUSES	 0.1  /* first guess of sigma (device_model.h) beside pauses */
#define SIGMA_IN_ORDER	 0.01 /* first guess of all sigmas of a device in order */
#define IN_ORDER_RATIO	 0.01 /* it may fit worse by so much, since it is simpler */
#define UNIT_WORTH_RATIO 0.02 /* few configurations have requests larger than a unit */
#define CLEAN_FIRST	 0.5  /* first guess of flush_clean_ratio, if it is not 1 */
#define CACHE_BYTES	 (64.0 * 1024 * 1024) /* first guess of the size of a cache */

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
	for (double nr = 4; nr <= DEVICE_BURST_MOST && !ret; nr *= 2) {
		from = *m;
		((struct device_limit *)((char *)&from + at))->burst = nr * token;
		ret = device_search_look(s, &from, &best, &mine);
	}
	from = best;
	return ret || !(mine < *loss) ? ret
				      : device_search_try(s, &from, DEVICE_STEPS_PART, m, loss,
							  DEVICE_WORTH_RATIO);
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
		ret = device_search_try(s, &from, DEVICE_STEPS_START, &best, &mine, 0);
	}
	s->service_only = false;
	/* If units take the place of a limit, the device has as many parts as before. */
	if (!ret && mine < *loss * (m->bytes.rate_per_s > 0 ? 1 : 1 - UNIT_WORTH_RATIO)) {
		*m = best;
		*loss = mine;
	}
	return ret;
}

/* Adds one part after the other, if the part improves the fit enough. */
static int device_search_limits(struct device_search *s, struct device_model *m, double *loss)
{
	struct device_model from = *m;
	int ret;

	from.ops.rate_per_s = s->guess.per_s * 1.02;
	ret = s->guess.per_s > 0 && !(m->ops.rate_per_s > 0)
		      ? device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, DEVICE_WORTH_RATIO)
		      : 0;
	if (ret)
		return ret;
	from = *m;
	from.bytes.rate_per_s = s->guess.bytes_per_s * 1.02;
	if (s->guess.bytes_per_s > 0 && !(m->bytes.rate_per_s > 0))
		ret = device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, DEVICE_WORTH_RATIO);
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

/*
 * Chooses how many waiting requests a flush passes, if it passes them rather than joining them, and
 * which share of the flushes passes none.
 */
static int device_search_flush(struct device_search *s, struct device_model *m, double *loss)
{
	static const double shares[] = { 0.01, 0.05, 0.1, 0.2, 0.4 };
	struct device_model best = *m, from = *m;
	double mine = *loss, worth = m->flush_window > 0 ? 0 : DEVICE_WORTH_RATIO;
	int ret = 0;

	if (!m->domain.has[DEVICE_FLUSH] || !(m->domain.concurrency > 1))
		return 0;
	from.flush_alone = false;
	for (double w = 1; w <= m->domain.concurrency && !ret; w *= 2)
		for (size_t i = 0; i < sizeof(shares) / sizeof(*shares) && !ret; i++) {
			from.flush_window = w;
			from.flush_wait_ratio = shares[i];
			ret = device_search_look(s, &from, &best, &mine);
		}
	from = best;
	return ret || !(mine < *loss)
		       ? ret
		       : device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, worth);
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
	ret = device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, DEVICE_WORTH_RATIO);
	if (ret || !m->domain.has[DEVICE_WRITE])
		return ret;
	/*
	 * Clean flushes are tried before flushes that pass the queue. These take less time as well,
	 * so that the fit would otherwise explain the short times of clean flushes by them.
	 */
	from = *m;
	from.flush_clean_ratio = CLEAN_FIRST;
	if (s->guess.clean)
		ret = device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, DEVICE_WORTH_RATIO);
	if (ret)
		return ret;
	from = *m;
	from.flush_alone = true;
	from.flush_wait_ratio = 1;
	from.flush_window = 0;
	if (m->domain.has[DEVICE_FLUSH] && m->domain.concurrency > 1)
		ret = device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, DEVICE_WORTH_RATIO);
	if (ret)
		return ret;
	ret = device_search_flush(s, m, loss);
	if (ret)
		return ret;
	from = *m;
	from.durable_flush = true;
	from.durable_s = 0;
	if (m->domain.has_durable && m->domain.has[DEVICE_FLUSH])
		ret = device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, 0);
	if (ret)
		return ret;
	from = *m;
	from.cache = (struct device_cache){ .bytes = CACHE_BYTES,
					    .base_s = m->base_s[1],
					    .byte_s = m->byte_s[1],
					    .drain_bytes_per_s = s->guess.bytes_per_s > 0
									 ? s->guess.bytes_per_s
									 : CACHE_BYTES };
	return device_search_try(s, &from, DEVICE_STEPS_PART, m, loss, DEVICE_WORTH_RATIO);
}

/*
 * Removes the parts that other parts have made useless, and the time of a flush per byte where the
 * campaign does not show it: applications may write a thousand times as much between two flushes.
 */
static int device_search_prune(struct device_search *s, struct device_model *m, double *loss)
{
	double *const parts[] = { &m->ops.rate_per_s, &m->bytes.rate_per_s, &m->pause_ratio,
				  &m->cache.bytes, &m->flush_byte_s };
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct device_model from = *m;
		double allowed = *loss * (1 + DEVICE_WORTH_RATIO);
		int ret;

		if (!(*parts[i] > 0))
			continue;
		if (parts[i] == &m->ops.rate_per_s)
			device_search_unlimit(&from, &from.ops.rate_per_s);
		else if (parts[i] == &m->bytes.rate_per_s)
			device_search_unlimit(&from, &from.bytes.rate_per_s);
		else
			*(double *)((char *)&from + ((char *)parts[i] - (char *)m)) = 0;
		ret = device_search_try(s, &from, DEVICE_STEPS_PART, m, &allowed, 0);
		if (ret)
			return ret;
		if (!(*parts[i] > 0))
			*loss = allowed;
	}
	return 0;
}

/*
 * Tries a device that serves in order and takes the same time for all: a fit that began with more
 * of both explains them away by each other, and does not find it.
 */
static int device_search_in_order(struct device_search *s, struct device_model *m, double *loss)
{
	struct device_model from = *m;

	from.wait_sigma = from.sigma[0] = from.sigma[1] = SIGMA_IN_ORDER;
	from.wait_window = 0;
	return device_search_try(s, &from, DEVICE_STEPS_FINAL, m, loss, -IN_ORDER_RATIO);
}

int device_search_finish(struct device_search *s, struct device_model *m, double *loss)
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
	ret = device_search_fit(s, m, DEVICE_STEPS_FINAL, loss);
	return ret ? ret : device_search_in_order(s, m, loss);
}
