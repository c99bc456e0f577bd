// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/solve/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int sweep_wrong(const char *text, struct err *err)
{
	return err_set(err, EINVAL, "expected NAME=FROM:TO:STEP, as clients=10:100:10, got '%s'",
		       text);
}

static int sweep_parse(struct sweep *s, const char *text, struct err *err)
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
		return sweep_wrong(text, err);
	/* A last step that misses the end by rounding counts as a step. */
	count = floor((to - s->from) / s->step + 1e-9) + 1;
	if (count > SWEEP_POINTS)
		return err_set(err, EINVAL, "more than %d points", SWEEP_POINTS);
	s->nr = (size_t)count;
	s->name = strndup(text, (size_t)(equals - text));
	return s->name ? 0 : err_set(err, ENOMEM, "out of memory");
}

/* Returns whether one of the words NAME=VALUE gives a value to a parameter. */
static bool sweep_is_set(const struct word_list *set, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < set->nr; i++)
		if (!strncmp(set->items[i], name, length) && set->items[i][length] == '=')
			return true;
	return false;
}

int sweeps_read(struct sweeps *s, const struct word_list *words, const struct word_list *set,
		struct err *err)
{
	*s = (struct sweeps){ .nr_points = 1 };
	for (size_t i = 0; i < words->nr; i++) {
		struct sweep *x = &s->items[s->nr];
		int ret;

		if (s->nr == SWEEP_MAX)
			return err_set(err, EINVAL, "more than %d parameters", SWEEP_MAX);
		ret = sweep_parse(x, words->items[i], err);
		if (ret)
			return ret;
		s->nr++;
		for (size_t k = 0; k < i; k++)
			if (!strcmp(s->items[k].name, x->name))
				return err_set(err, EINVAL, "%s twice", x->name);
		if (sweep_is_set(set, x->name))
			return err_set(err, EINVAL, "%s has a value by --set already", x->name);
		if (x->nr > SWEEP_POINTS / s->nr_points)
			return err_set(err, EINVAL, "more than %d points", SWEEP_POINTS);
		s->nr_points *= x->nr;
	}
	return 0;
}

void sweeps_release(struct sweeps *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->items[i].name);
	s->nr = 0;
}

double sweep_value(const struct sweeps *s, size_t parameter, size_t point)
{
	const struct sweep *x = &s->items[parameter];

	for (size_t i = s->nr; i-- > parameter + 1;)
		point /= s->items[i].nr;
	/* The value is computed from the number of the step, because a sum of steps would drift. */
	return x->from + (double)(point % x->nr) * x->step;
}

struct answer_table *sweep_table(const struct sweeps *s, struct answer *a, const char *title,
				 const struct answer_column *results, size_t nr)
{
	struct answer_column columns[SWEEP_MAX + SWEEP_RESULTS];

	for (size_t i = 0; i < s->nr; i++)
		columns[i] = (struct answer_column){ .title = s->items[i].name, .right = true };
	memcpy(columns + s->nr, results, nr * sizeof(*results));
	return answer_table(a, NULL, title, NULL, columns, s->nr + nr);
}

void sweep_cells(const struct sweeps *s, size_t point, struct answer_table *t)
{
	for (size_t i = 0; i < s->nr; i++)
		answer_words(t, "%.15g", sweep_value(s, i, point));
}

void sweep_member(const struct sweeps *s, size_t point, struct answer *a)
{
	json_t *set = json_object();

	for (size_t i = 0; i < s->nr; i++)
		json_object_set_new(set, s->items[i].name, json_real(sweep_value(s, i, point)));
	answer_member(a, "set", set);
}
