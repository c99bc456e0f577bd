// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/solve/solve.h"
#include "analyzer/models/storage/calibration/calibrate_weights.h"

static uint32_t find_probe(const struct net *n, const char *name)
{
	for (uint32_t i = 0; i < n->nr_probes; i++)
		if (!strcmp(n->probes[i].name, name))
			return i;
	return NET_NONE;
}

static int solve_probes(const struct net *n, const struct weights_task *t, double *read_time,
			double *write_time, struct err *err)
{
	const char *const wanted[] = { t->read_probe, t->write_probe };
	struct solve_options o = SOLVE_DEFAULTS;
	uint32_t read = find_probe(n, t->read_probe), write = find_probe(n, t->write_probe);
	struct solution solution;
	int ret;

	if (read == NET_NONE || write == NET_NONE)
		return err_set(err, EINVAL, "%s: no probe \"%s\"", n->file,
			       read == NET_NONE ? t->read_probe : t->write_probe);
	o.precision = t->precision;
	o.seed = t->seed;
	o.wanted = wanted;
	o.nr_wanted = 2;
	ret = solve_net(&solution, n, &o, err);
	if (ret)
		return ret;
	*read_time = solution.estimate.probes[read].time.mean.mean;
	*write_time = solution.estimate.probes[write].time.mean.mean;
	solution_release(&solution);
	if (isfinite(*read_time) && isfinite(*write_time))
		return 0;
	return err_set(err, EINVAL, "%s: nothing passes probe \"%s\"", n->file,
		       isfinite(*read_time) ? t->write_probe : t->read_probe);
}

/* Solves the net of a file with these weights. */
static int solve_file(void *ctx, double alpha, double beta, double *read_time, double *write_time,
		      struct err *err)
{
	const struct weights_task *t = ctx;
	struct net_setting settings[WEIGHTS_MAX_SETTINGS + 2];
	struct net *n;
	int ret;

	memcpy(settings, t->settings, t->nr_settings * sizeof(*settings));
	settings[t->nr_settings] = (struct net_setting){ "alpha", alpha };
	settings[t->nr_settings + 1] = (struct net_setting){ "beta", beta };
	ret = net_read(&n, t->path, settings, t->nr_settings + 2, err);
	if (ret)
		return ret;
	ret = solve_probes(n, t, read_time, write_time, err);
	net_free(n);
	return ret;
}

int weights_search(struct weights_found *out, const struct weights_search *t, struct err *err)
{
	double low = t->phi_min, high = t->phi_max, scale = pow(10, t->digits);
	struct weights_found f = { .best.error = INFINITY };

	while (f.nr_steps < WEIGHTS_MAX_STEPS && f.best.error > t->max_error &&
	       high - low > 1 / scale) {
		double phi = (low + high) / 2;
		struct weights_step *s = &f.steps[f.nr_steps];
		int ret;

		s->alpha = fmax(1, round(phi * scale));
		s->beta = scale;
		ret = t->solve(t->ctx, s->alpha, s->beta, &s->read_time, &s->write_time, err);
		if (ret)
			return ret;
		s->error = (fabs(s->read_time / t->read_time - 1) +
			    fabs(s->write_time / t->write_time - 1)) /
			   2;
		f.nr_steps++;
		if (s->error < f.best.error)
			f.best = *s;
		if (s->read_time / t->read_time < s->write_time / t->write_time)
			high = phi;
		else
			low = phi;
	}
	*out = f;
	return 0;
}

int calibrate_weights(struct weights_found *out, const struct weights_task *t, struct err *err)
{
	struct weights_task task = *t;
	struct weights_search s = { .read_time = t->read_time,
				    .write_time = t->write_time,
				    .phi_min = t->phi_min,
				    .phi_max = t->phi_max,
				    .digits = t->digits,
				    .max_error = t->max_error,
				    .solve = solve_file,
				    .ctx = &task };

	if (t->nr_settings > WEIGHTS_MAX_SETTINGS)
		return err_set(err, E2BIG, "%s: too many settings", t->path);
	return weights_search(out, &s, err);
}
