/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readings: the metrics of a run, of the whole of it and of each interval.
 *
 * Names end in their unit (read_s, read_per_s, read_bytes_per_s). A metric a run does not have
 * (response time of writes where there were none) is absent, never 0.
 */
#ifndef ANALYZER_MEASURE_READINGS_H
#define ANALYZER_MEASURE_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READING_NAME_BYTES 64

struct reading {
	unsigned int interval; /* from 1; 0: the whole run */
	char name[READING_NAME_BYTES];
	double value; /* finite */
};

/* A zeroed one is empty. */
struct readings {
	struct reading *items; /* owned */
	size_t nr, cap;
};

void readings_release(struct readings *r);
/* Adds one. 0; -ERANGE, and nothing is added, for NaN and Inf; -EINVAL for a long name; -ENOMEM. */
int readings_put(struct readings *r, unsigned int interval, const char *name, double value);
/* NaN where it is absent. */
double readings_get(const struct readings *r, unsigned int interval, const char *name);
/* Highest interval there is. */
unsigned int readings_intervals(const struct readings *r);
/*
 * Relative standard error of a metric over its intervals: s / (sqrt(k) mean), k intervals in *nr
 * (may be NULL); NaN with fewer than two, or where the mean is 0.
 */
double readings_rse(const struct readings *r, const char *name, unsigned int *nr);
/* Adds a whole-run value, the mean over intervals, for each metric that has none yet. */
int readings_take_means(struct readings *r);
/* Adds all of from, names behind prefix (may be empty). */
int readings_join(struct readings *r, const struct readings *from, const char *prefix);

#endif
