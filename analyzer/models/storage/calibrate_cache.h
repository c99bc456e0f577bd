/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_cache: a storage system whose requests all hit its cache, as one queue, from end-to-end
 * response times alone.
 *
 * Clients without think time wait at one FCFS queue of gamma service. By the arrival theorem a
 * saturated run of t clients has the mean service time mu = response / t; mu(s) = c0 + c1 s over
 * the request size by least squares; the standard deviation is that of the response times of one
 * client, who never waits. Goodness of fit: t mu(s) beside every measured row.
 */
#ifndef ANALYZER_CALIBRATE_CACHE_H
#define ANALYZER_CALIBRATE_CACHE_H

#include <stdio.h>

#include "analyzer/models/storage/storage_table.h"
#include "base/err.h"
#include "base/table.h"

struct cache_model {
	double c0_s, c1_s_per_byte;
	double p0,
		p1; /* p-values of the two; NaN with two rows, where nothing is left to judge by */
	double r2;  /* of the fit of mu; NaN where all mu are equal */
	double sd_s;
	double saturated; /* runs of at least as many clients were fitted */
	size_t nr_fitted, nr_single, nr_rows;
	double size_min_bytes, size_max_bytes, clients_max;
	double mean_error, max_error; /* relative, over all rows of more than one client */
};

/*
 * Columns clients, size_bytes, response_time_s, and response_sd_s in the rows of one client.
 * saturated: 0 takes the runs of most clients in the table. -EINVAL with what is missing or wrong,
 * -ENOMEM.
 */
int calibrate_cache(struct cache_model *m, const struct table *t, const struct row_filter *filter,
		    double saturated, struct err *err);

/* The net, with clients, size and think as parameters. Errors of the stream stay with it. */
void cache_model_write(const struct cache_model *m, FILE *out);

#endif
