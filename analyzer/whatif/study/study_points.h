/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_points: percentiles of reads, writes and flushes in a study, beside the means of study.h.
 *
 * A percentile on the target comes from a model if there is one: a calibrated net gives p50, p95
 * and p99, and so does a regression model of read_p95_s. Else it is computed from the percentile
 * that was measured where the load was characterized and from the predicted mean, by the ratio of
 * the means, as if every request took longer in the same proportion. Another simple assumption is
 * that every request takes longer by the same amount. The interval covers both assumptions, at both
 * ends of the interval of the mean. Therefore it is wide if the mean changes much, and as narrow as
 * that of the mean if it does not change.
 *
 * Flushes need a model of flush_s. Without one their time on the target is unknown, and the
 * throughput of the load is computed with the measured flush time.
 */
#ifndef ANALYZER_STUDY_POINTS_H
#define ANALYZER_STUDY_POINTS_H

#include "formats/profile/profile.h"

enum study_type { STUDY_READ, STUDY_WRITE, STUDY_FLUSH };
#define STUDY_TYPES 3
const char *study_type_name(unsigned int type);	  /* "read" */
const char *study_type_plural(unsigned int type); /* "reads" */

enum study_point { STUDY_MEAN, STUDY_P50, STUDY_P95, STUDY_P99 };
#define STUDY_POINTS 4
const char *study_point_name(unsigned int point); /* "mean", "p50" */

enum study_way {
	STUDY_UNKNOWN,
	STUDY_BY_MODEL,
	STUDY_BY_RATIO, /* the measured value, times the ratio of the means */
};

/* low and high are NaN if there is no interval. A zeroed struct means unknown. */
struct study_time {
	double s, low, high;
	enum study_way way;
};

/* Returns whether a study asks models for a response: read_s, write_p95_s, flush_s, ... */
bool study_points_asks(const char *response);
/*
 * Returns whether nr times are enough for a point: one for a mean, ten beyond it for a percentile.
 */
bool study_points_knows(uint64_t nr, unsigned int point);
/*
 * Gives the measured values of a profile; NaN if there is none, or if fewer than ten requests lie
 * beyond it.
 */
void study_points_measured(const struct profile *p, double out[STUDY_TYPES][STUDY_POINTS]);
/*
 * Computes a percentile on the target by the ratio of means: point_s and mean_s were measured, mean
 * is that on the target. The result is unknown if one of these is unknown.
 */
struct study_time study_points_by_ratio(double point_s, double mean_s,
					const struct study_time *mean);

#endif
