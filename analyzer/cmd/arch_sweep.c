// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/arch_sweep.h"

static int arch_sweep_wrong(const char *text, struct err *err)
{
	return err_set(err, EINVAL,
		       "--sweep: expected NAME=FROM:TO:STEP, as clients=10:100:10, got '%s'", text);
}

static int arch_sweep_parse(struct arch_sweep *s, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	double to = NAN, count;
	char *end = NULL;

	s->step = 1;
	if (equals && equals != text) {
		s->from = strtod(equals + 1, &end);
		if (end != equals + 1 && *end == ':')
			to = strtod(end + 1, &end);
		else
			end = NULL;
		if (end && *end == ':')
			s->step = strtod(end + 1, &end);
	}
	if (!end || *end || !(s->step > 0) || !(to >= s->from) || !isfinite(to - s->from))
		return arch_sweep_wrong(text, err);
	/* A last step that misses the end by rounding counts as a step. */
	count = floor((to - s->from) / s->step + 1e-9) + 1;
	if (count > ARCH_SWEEP_POINTS)
		return err_set(err, EINVAL, "--sweep: more than %d points", ARCH_SWEEP_POINTS);
	s->nr = (size_t)count;
	s->name = strndup(text, (size_t)(equals - text));
	return s->name ? 0 : err_set(err, ENOMEM, "out of memory");
}

int arch_sweeps_read(struct arch_sweeps *s, const struct word_list *options, struct err *err)
{
	*s = (struct arch_sweeps){ .nr_points = 1 };
	for (size_t i = 0; i < options->nr; i++) {
		struct arch_sweep *x = &s->items[s->nr];
		int ret;

		if (s->nr == ARCH_SWEEP_MAX)
			return err_set(err, EINVAL, "--sweep: more than %d parameters",
				       ARCH_SWEEP_MAX);
		ret = arch_sweep_parse(x, options->items[i], err);
		if (ret)
			return ret;
		s->nr++;
		for (size_t k = 0; k < i; k++)
			if (!strcmp(s->items[k].name, x->name))
				return err_set(err, EINVAL, "--sweep: %s twice", x->name);
		if (x->nr > ARCH_SWEEP_POINTS / s->nr_points)
			return err_set(err, EINVAL, "--sweep: more than %d points",
				       ARCH_SWEEP_POINTS);
		s->nr_points *= x->nr;
	}
	return 0;
}

void arch_sweeps_release(struct arch_sweeps *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->items[i].name);
	s->nr = 0;
}

double arch_sweep_value(const struct arch_sweeps *s, size_t parameter, size_t point)
{
	const struct arch_sweep *x = &s->items[parameter];

	for (size_t i = s->nr; i-- > parameter + 1;)
		point /= s->items[i].nr;
	/* The value is computed from the number of the step, because a sum of steps would drift. */
	return x->from + (double)(point % x->nr) * x->step;
}

int arch_sweep_set(const struct arch_sweeps *s, size_t point, struct arch_settings *settings)
{
	for (size_t i = 0; i < s->nr; i++) {
		const char *name = s->items[i].name;
		char text[32];

		snprintf(text, sizeof(text), "%.15g", arch_sweep_value(s, i, point));
		if (arch_settings_add(settings, name, strlen(name), text))
			return -ENOMEM;
	}
	return 0;
}
