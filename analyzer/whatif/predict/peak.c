// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/peak.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define NS_PER_S 1000000000ull

/* Gives each second of the clock its share of the window's requests, rounded to whole requests. */
static int add_window(struct align *a, uint32_t stream, const struct profile *w, double factor)
{
	double requests = round(
		factor * (double)(w->requests[OPERATION_READ] + w->requests[OPERATION_WRITE]));
	double second = floor(w->begin_s);
	uint64_t put = 0;
	int ret;

	do {
		double past = (second + 1 - w->begin_s) / (w->end_s - w->begin_s);
		uint64_t until = (uint64_t)llround(past < 1 ? requests * past : requests);

		ret = align_add(a, stream, (uint64_t)second * NS_PER_S, until - put, 0);
		put = until;
		second++;
	} while (!ret && second < w->end_s);
	return ret;
}

int peak_find(const struct peak_load *loads, size_t nr, struct align_sum *sum)
{
	struct align *a = NULL;
	int ret = align_new(&a, 0);

	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		const struct profile_group *g = loads[i].group;
		char name[32];
		uint32_t stream = 0;

		snprintf(name, sizeof(name), "%zu", i);
		if (!g->nr_windows)
			ret = -ENODATA;
		if (!ret)
			ret = align_stream(a, name, "", &stream);
		for (size_t k = 0; k < g->nr_windows && !ret; k++)
			ret = add_window(a, stream, &g->windows[k], loads[i].factor);
		if (ret)
			goto out;
	}
	ret = align_sum(a, ALIGN_REQUESTS, sum);
out:
	align_free(a);
	return ret;
}
