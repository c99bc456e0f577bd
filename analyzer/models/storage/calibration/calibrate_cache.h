/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_cache: calibrates a storage system whose requests all hit its cache. The model is one
 * queue, and end-to-end response times are the only data that it needs.
 *
 * The clients do not think, and all of them wait at one first-come-first-served queue with
 * gamma-distributed service times. When t clients saturate the queue, the arrival theorem gives
 * the mean service time mu = response / t. Least squares fits mu(s) = c0 + c1 s over the request
 * size s. The standard deviation of the service time is that of the response times of a single
 * client, because a single client never waits. To judge the fit, t mu(s) is compared with the
 * response time of every measured row.
 */
#ifndef ANALYZER_CALIBRATE_CACHE_H
#define ANALYZER_CALIBRATE_CACHE_H

#include <stdio.h>

#include "analyzer/models/storage/fit/storage_table.h"
#include "base/data/table.h"
#include "base/text/err.h"

struct cache_model {
	double c0_s, c1_s_per_byte;
	double p0, p1; /* p0 and p1 are the p-values of c0 and c1, NaN with two rows */
	double r2;     /* R squared of the fit of mu; NaN where all mu are equal */
	double sd_s;
	double saturated; /* The fit used the runs that had at least this number of clients. */
	size_t nr_fitted, nr_single, nr_rows;
	double size_min_bytes, size_max_bytes, clients_max;
	/* relative errors over all rows that have more than one client */
	double mean_error, max_error;
};

/*
 * Calibrates the model from a table. The table needs the columns clients, size_bytes and
 * response_time_s, and response_sd_s in the rows of one client. With saturated = 0 the fit uses
 * the runs that have the most clients of the table. Returns 0, -EINVAL with a message that says
 * what is missing or wrong, or -ENOMEM.
 */
int calibrate_cache(struct cache_model *m, const struct table *t, const struct row_filter *filter,
		    double saturated, struct err *err);

/*
 * Writes the net, with clients, size and think as its parameters. The caller checks the stream for
 * errors.
 */
void cache_model_write(const struct cache_model *m, FILE *out);

#endif
