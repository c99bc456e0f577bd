/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readings: the metrics of a run, both of the whole run and of each interval.
 *
 * The name of a metric ends in its unit (read_s, read_per_s, read_bytes_per_s). A metric that a run
 * does not have is absent and never 0; an example is the response time of writes in a run without
 * writes.
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

/* A zeroed struct holds no reading. */
struct readings {
	struct reading *items; /* owned */
	size_t nr, cap;
};

void readings_release(struct readings *r);
/*
 * Adds one reading. Returns 0; -ERANGE for NaN and Inf, which are not added; -EINVAL for an empty
 * or too long name; -ENOMEM.
 */
int readings_put(struct readings *r, unsigned int interval, const char *name, double value);
/* Returns NaN where the reading is absent. */
double readings_get(const struct readings *r, unsigned int interval, const char *name);
/* Returns the highest number of an interval, or 0 where there is none. */
unsigned int readings_intervals(const struct readings *r);
/*
 * Returns the relative standard error of a metric over its k intervals: s / (sqrt(k) mean). *nr,
 * which may be NULL, becomes k. Returns NaN where k is below two or the mean is 0.
 */
double readings_rse(const struct readings *r, const char *name, unsigned int *nr);
/*
 * Adds the mean over the intervals as the value of the whole run, for each metric that has no such
 * value.
 */
int readings_take_means(struct readings *r);
/* Adds all readings of `from`. Their names get the prefix, which may be empty. */
int readings_join(struct readings *r, const struct readings *from, const char *prefix);

#endif
