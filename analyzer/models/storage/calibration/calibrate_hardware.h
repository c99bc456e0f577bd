/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_hardware: calibrates the storage models for one class of requests at a time
 * (Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments, 2015,
 * section 7.4) from end-to-end response times.
 *
 * Within the cache the mean response time is a function of clients and size (equation 7.1). Beyond
 * the cache it is a function of the file set too (equation 7.7 for random reads and writes,
 * equation 7.8 for sequential ones). The data decide at which file set the cache ends: of all cuts
 * between two measured file sets, and no cut at all, the one with the least BIC is taken. Inside
 * the gap of that cut, the border is the file set at which the two fits are equal. Random reads
 * beyond the cache pass a cache and then, with probability p1, an array. p1 and the mean times of
 * hits and misses come from the two humps of each run's histogram (storage_humps.h), and so does
 * the number of clients above which the humps merge.
 *
 * From a fit the mean service time of its queue follows by the arrival theorem: mu = response /
 * clients (equation 7.4). The standard deviation of the service time is that of the response times
 * of a single client.
 */
#ifndef ANALYZER_CALIBRATE_HARDWARE_H
#define ANALYZER_CALIBRATE_HARDWARE_H

#include "analyzer/models/storage/net/storage_model.h"

/*
 * Calibrates every class that the table contains. Configurations that mix several classes are
 * ignored. Returns 0, -EINVAL with a message that says what is missing, or -ENOMEM.
 */
int calibrate_hardware(struct storage_model *m, const struct storage_table *t, struct err *err);

/*
 * Fits the service times of a class whose requests hit the cache: mu(s) = c0 + c1 s (equation
 * 7.5), where mu is response / clients in the runs that have at least `saturated` clients (0: the
 * largest number in the table). The standard deviation comes from the runs of one client. write is
 * 0 or 1; the pattern may be any. nr becomes the number of rows that were used.
 */
int calibrate_service(struct storage_service *out, const struct storage_table *t, bool write,
		      double saturated, size_t *nr, struct err *err);
/*
 * Fits y by least squares to the four columns of nr rows in x. The least significant column is
 * dropped while its p-value is above STORAGE_FIT_P. Returns 0, -ENOMEM, or an error of lsq_solve().
 */
int calibrate_service_delta(double coefficients[4], double p[4], const double *x, const double *y,
			    size_t nr);

/*
 * Fits the response times of one client alone over the size, for one type. Returns -EINVAL if
 * there is no such run.
 */
int calibrate_alone(struct storage_cases *out, const struct storage_table *t, bool write,
		    struct err *err);

/* Calibrates the cache model of every class that the table contains (section 7.4.2). */
int calibrate_cached(struct storage_model *m, const struct storage_table *t, double saturated,
		     struct err *err);

#endif
