// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/headroom/study_device.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/predict/origins.h"
#include "analyzer/whatif/simulate/device_study.h"

void study_device_say_intervals(const struct application_errors *errors, bool device,
				struct answer *a)
{
	answer_fact_words(a, "intervals_cover", NULL,
			  errors || device ? "applications" : "configurations");
	if (errors)
		answer_line(a, "The intervals cover", "a new application, by %zu recorded ones",
			    errors->nr_applications);
	else if (device)
		answer_line(a, "The intervals cover",
			    "a new application, in times that it repeats within a tenth: errors of "
			    "held-out configurations, widened by those of recorded applications");
	else
		answer_line(a, "The intervals cover",
			    "configurations that were held out, not other applications; a "
			    "table of recorded ones widens them");
}

/*
 * Turns errors of configurations into those of an application. With a table of recorded
 * applications they are the table's where those are larger. Relative answers have the errors of
 * both devices, and are compared with the table as a whole.
 */
static void study_device_widen(struct study_device *d)
{
	bool same = d->from && !memcmp(&d->old, &d->target, sizeof(d->old));
	struct device_model target = d->target;

	for (int t = 0; t < STUDY_TYPES; t++)
		for (int p = 0; p < STUDY_POINTS; p++) {
			enum device_type type = (enum device_type)t;
			enum device_point point = (enum device_point)p;
			double own = device_model_held_out(&target, type, point);

			if (d->from && !same)
				own = hypot(own, device_model_held_out(&d->old, type, point));
			d->target.errors[t][p].log_half =
				d->errors ? fmax(d->errors->half[t][p], isnan(own) ? 0 : own)
					  : device_model_application(own, type, point);
		}
	for (int t = 0; t < STUDY_TYPES && d->from; t++)
		for (int p = 0; p < STUDY_POINTS; p++)
			d->old.errors[t][p].log_half = 0;
	if (same)
		d->old = d->target;
}

int study_device_open(struct study_device *d, struct err *err)
{
	struct page_origins *origins = d->teller->maker.origins;
	int ret = device_model_load(&d->target, d->storage, err);

	if (!ret && d->from)
		ret = device_model_load(&d->old, d->from, err);
	if (!ret)
		ret = origins_model(origins, d->storage, err);
	if (!ret && d->from)
		ret = origins_model(origins, d->from, err);
	if (ret)
		return ret;
	study_device_widen(d);
	d->replay = calloc(1, sizeof(*d->replay));
	if (!d->replay)
		return -ENOMEM;
	ret = study_replay_load(d->replay, d->study, d->paths, err);
	if (ret) /* A profile can be mimicked on a real target, but not simulated: bad input. */
		return ret == -ENODATA ? -EINVAL : ret;
	for (size_t i = 0; i < d->study->nr; i++)
		if (d->replay->plans[i].nr_left_out)
			teller_note(d->teller,
				    "%s: %" PRIu64
				    " requests are left out: they are no reads, writes or "
				    "flushes, or have no times",
				    d->paths[i], d->replay->plans[i].nr_left_out);
	d->sim = (struct study_simulate){
		.target = &d->target, .replay = d->replay, .seed = 1, .errors_given = d->errors
	};
	return 0;
}

void study_device_release(struct study_device *d)
{
	if (d->replay)
		study_replay_release(d->replay);
	free(d->replay);
	d->replay = NULL;
}

static void study_device_loads(const struct study_device *d, struct device_study_load *loads)
{
	for (size_t i = 0; i < d->study->nr; i++) {
		study_name(d->study, i, loads[i].name);
		loads[i].plan = &d->replay->plans[i];
		loads[i].rate_per_s = d->study->loads[i].facts.rate_per_s;
		memcpy(loads[i].measured_s, d->measured[i], sizeof(loads[i].measured_s));
	}
}

int study_device_migrate(struct answer **out, struct study_device *d, struct err *err)
{
	struct device_study_load *loads = calloc(d->study->nr, sizeof(*loads));
	struct device_study s = { .target = &d->target,
				  .old = d->from ? &d->old : NULL,
				  .loads = loads,
				  .nr = d->study->nr,
				  .seed = 1 };
	size_t used;
	int ret = loads ? 0 : -ENOMEM;

	if (ret)
		goto out;
	study_device_loads(d, loads);
	ret = device_study_solve(&s, err);
	if (ret)
		goto out;
	used = strlen(s.conclusion);
	d->slo_verdict = study_slo_check_device(d->slo, &s, s.conclusion + used,
						sizeof(s.conclusion) - used);
	d->cannot_tell = s.cannot_tell || d->slo_verdict == STUDY_SLO_UNKNOWN;
	for (size_t i = 0; i < s.nr; i++)
		d->overloaded |=
			s.results[i].target_per_s < LOAD_CARRIES_RATIO * s.results[i].offered_per_s;
	*out = device_study_answer(&s);
	study_device_say_intervals(d->errors, true, *out);
out:
	device_study_release(&s);
	free(loads);
	return ret;
}

int study_device_cases(struct study_device *d, struct study_case *cases, size_t nr, struct err *err)
{
	return study_simulate_cases(&d->sim, d->study, cases, nr, err);
}
