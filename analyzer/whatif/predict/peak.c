// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/peak.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

static int add_window(struct align *a, uint32_t stream, const struct profile *w, double factor)
{
	uint64_t requests = (uint64_t)llround(
		factor * (double)(w->requests[OPERATION_READ] + w->requests[OPERATION_WRITE]));
	uint64_t put = 0;
	double seconds = w->end_s - w->begin_s;
	uint64_t parts = (uint64_t)fmax(1, ceil(seconds));
	int ret = 0;

	for (uint64_t i = 0; i < parts; i++) {
		uint64_t until = requests * (i + 1) / parts;
		double at = w->begin_s + seconds * ((double)i + 0.5) / (double)parts;

		ret = align_add(a, stream, (uint64_t)(at * 1e9), until - put, 0);
		put = until;
		if (ret)
			return ret;
	}
	return 0;
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
