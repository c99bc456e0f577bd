// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/readings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void readings_release(struct readings *r)
{
	free(r->items);
	memset(r, 0, sizeof(*r));
}

int readings_put(struct readings *r, unsigned int interval, const char *name, double value)
{
	struct reading *grown;

	if (!isfinite(value))
		return -ERANGE;
	if (!*name || strlen(name) >= READING_NAME_BYTES)
		return -EINVAL;
	if (r->nr == r->cap) {
		grown = reallocarray(r->items, r->cap ? 2 * r->cap : 64, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->items = grown;
		r->cap = r->cap ? 2 * r->cap : 64;
	}
	r->items[r->nr] = (struct reading){ .interval = interval, .value = value };
	memcpy(r->items[r->nr++].name, name, strlen(name) + 1);
	return 0;
}

double readings_get(const struct readings *r, unsigned int interval, const char *name)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->items[i].interval == interval && strcmp(r->items[i].name, name) == 0)
			return r->items[i].value;
	return NAN;
}

unsigned int readings_intervals(const struct readings *r)
{
	unsigned int most = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (r->items[i].interval > most)
			most = r->items[i].interval;
	return most;
}

static double mean_of(const struct readings *r, const char *name, unsigned int *nr)
{
	double sum = 0;

	*nr = 0;
	for (size_t i = 0; i < r->nr; i++)
		if (r->items[i].interval && strcmp(r->items[i].name, name) == 0) {
			sum += r->items[i].value;
			++*nr;
		}
	return *nr ? sum / *nr : NAN;
}

double readings_rse(const struct readings *r, const char *name, unsigned int *nr_out)
{
	unsigned int nr;
	double mean = mean_of(r, name, &nr), squares = 0;

	if (nr_out)
		*nr_out = nr;
	if (nr < 2 || mean == 0)
		return NAN;
	for (size_t i = 0; i < r->nr; i++)
		if (r->items[i].interval && strcmp(r->items[i].name, name) == 0)
			squares += (r->items[i].value - mean) * (r->items[i].value - mean);
	return sqrt(squares / (nr - 1) / nr) / fabs(mean);
}

int readings_take_means(struct readings *r)
{
	size_t nr_before = r->nr;
	unsigned int nr;
	int ret = 0;

	for (size_t i = 0; i < nr_before; i++) {
		char name[READING_NAME_BYTES];

		memcpy(name, r->items[i].name, sizeof(name));
		if (isnan(readings_get(r, 0, name)))
			ret = readings_put(r, 0, name, mean_of(r, name, &nr));
		if (ret)
			return ret;
	}
	return 0;
}

int readings_join(struct readings *r, const struct readings *from, const char *prefix)
{
	int ret = 0;

	for (size_t i = 0; i < from->nr; i++) {
		char name[2 * READING_NAME_BYTES];

		snprintf(name, sizeof(name), "%s%s", prefix, from->items[i].name);
		ret = readings_put(r, from->items[i].interval, name, from->items[i].value);
		if (ret)
			return ret;
	}
	return 0;
}
