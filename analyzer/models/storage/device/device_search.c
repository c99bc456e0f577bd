// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_search.h"

#include <math.h>
#include <string.h>

/* Tells the progress as a fit begins. Where it is one more than was expected, so are all. */
static void device_search_tell(struct device_search *s)
{
	s->all = fmax(s->all, s->done + 1 + s->last);
	if (s->task->progress)
		s->task->progress(s->task->ctx, s->done / s->all);
	s->done++;
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
	free_[PARAMETER_FLUSH_WAIT] = d->has[DEVICE_FLUSH];
	free_[PARAMETER_FLUSH_BYTE] = d->has[DEVICE_FLUSH] && m->flush_byte_s > 0;
	free_[PARAMETER_FLUSH_CLEAN] = s->guess.clean && m->flush_clean_ratio < 1;
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

int device_search_fit(struct device_search *s, struct device_model *m, unsigned int steps,
		      double *loss)
{
	device_search_free(s, m);
	device_search_tell(s);
	return device_fit_run(&s->fit, m, steps, loss);
}

int device_search_try(struct device_search *s, const struct device_model *from, unsigned int steps,
		      struct device_model *best, double *loss, double worth)
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

int device_search_look(struct device_search *s, const struct device_model *m,
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

int device_search_spread(struct device_search *s, struct device_model *m, double *loss)
{
	static const double sigmas[] = { 0.01, 0.03, 0.1, 0.2, 0.4 };
	static const double waits[] = { 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8 };
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
