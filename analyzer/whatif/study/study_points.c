// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study/study_points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A percentile is used only if at least this many requests lie beyond it. */
#define BEYOND_LEAST 10

static const double study_quantiles[STUDY_POINTS] = {
	[STUDY_MEAN] = NAN, /* not a quantile */
	[STUDY_P50] = 0.5,
	[STUDY_P95] = 0.95,
	[STUDY_P99] = 0.99,
};

const char *study_type_name(unsigned int type)
{
	static const char *const names[STUDY_TYPES] = { "read", "write", "flush" };

	return names[type];
}

const char *study_type_plural(unsigned int type)
{
	static const char *const names[STUDY_TYPES] = { "reads", "writes", "flushes" };

	return names[type];
}

const char *study_point_name(unsigned int point)
{
	static const char *const names[STUDY_POINTS] = { "mean", "p50", "p95", "p99" };

	return names[point];
}

bool study_points_asks(const char *response)
{
	char known[64];

	for (unsigned int type = 0; type < STUDY_TYPES; type++)
		for (unsigned int point = 0; point < STUDY_POINTS; point++) {
			snprintf(known, sizeof(known), "%s%s%s_s", study_type_name(type),
				 point ? "_" : "", point ? study_point_name(point) : "");
			if (!strcmp(response, known))
				return true;
		}
	return false;
}

bool study_points_knows(uint64_t nr, unsigned int point)
{
	return point == STUDY_MEAN ? nr > 0
				   : (double)nr * (1 - study_quantiles[point]) >= BEYOND_LEAST;
}

void study_points_measured(const struct profile *p, double out[STUDY_TYPES][STUDY_POINTS])
{
	static const enum operation operations[STUDY_TYPES] = { OPERATION_READ, OPERATION_WRITE,
								OPERATION_FLUSH };
	const struct response_times *times[STUDY_TYPES] = { &p->read.response, &p->write.response,
							    &p->flush };

	for (int type = 0; type < STUDY_TYPES; type++) {
		bool has = p->requests[operations[type]] > 0;

		out[type][STUDY_MEAN] = has ? profile_mean_s(times[type], STAGE_TOTAL) : NAN;
		for (int point = STUDY_P50; point < STUDY_POINTS; point++)
			out[type][point] =
				has ? histogram_quantile_s(&times[type]->stage[STAGE_TOTAL],
							   study_quantiles[point])
				    : NAN;
	}
}

struct study_time study_points_by_ratio(double point_s, double mean_s,
					const struct study_time *mean)
{
	double ends[2] = { isnan(mean->low) ? mean->s : mean->low,
			   isnan(mean->high) ? mean->s : mean->high };
	struct study_time t = { point_s * mean->s / mean_s, INFINITY, 0, STUDY_BY_RATIO };

	if (!(point_s >= 0) || !(mean_s > 0) || !isfinite(mean->s))
		return (struct study_time){ NAN, NAN, NAN, STUDY_UNKNOWN };
	for (int end = 0; end < 2; end++) {
		double scaled = point_s * ends[end] / mean_s;
		double shifted = fmax(0, point_s + ends[end] - mean_s);

		t.low = fmin(t.low, fmin(scaled, shifted));
		t.high = fmax(t.high, fmax(scaled, shifted));
	}
	t.low = fmin(t.low, t.s);
	t.high = fmax(t.high, t.s);
	return t;
}
