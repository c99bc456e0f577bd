/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_hardware: the storage models of one class of requests at a time (Noorshams, Modeling
 * and Prediction of I/O Performance in Virtualized Environments, 2015, section 7.4) from
 * end-to-end response times.
 *
 * Within the cache the mean response time is equation 7.1 of clients and size, beyond it
 * equation 7.7 (random reads and writes) or 7.8 (sequential ones) of the file set too. Where one
 * ends and the other begins is found from the data: of all cuts between two measured file sets
 * (and none) that which has the least BIC; inside that gap, where the two fits are equal. Random
 * reads beyond the cache pass a cache and, with probability p1, an array: p1 and the mean times
 * of hits and misses come from the two humps of each run's histogram (storage_humps.h), and so
 * does the number of clients above which the humps merge.
 *
 * A fit gives the mean service time of its queue by the arrival theorem, mu = response / clients
 * (equation 7.4). The spread is that of one client's response times.
 */
#ifndef ANALYZER_CALIBRATE_HARDWARE_H
#define ANALYZER_CALIBRATE_HARDWARE_H

#include "analyzer/models/storage/storage_model.h"

/*
 * Calibrates every class there is in the table; configurations of several classes are passed over.
 * -EINVAL with what is missing, -ENOMEM.
 */
int calibrate_hardware(struct storage_model *m, const struct storage_table *t, struct err *err);

/*
 * Service times of a class whose requests hit the cache: mu(s) = c0 + c1 s (equation 7.5) of
 * response / clients in the runs of `saturated` clients or more (0: the most there are), spread of
 * one client's runs. write < 2, any pattern. nr: rows used.
 */
int calibrate_service(struct storage_service *out, const struct storage_table *t, bool write,
		      double saturated, size_t *nr, struct err *err);

/* Response times of one client alone over the size, of a type. -EINVAL where there is no such run. */
int calibrate_alone(struct storage_cases *out, const struct storage_table *t, bool write,
		    struct err *err);

/* The cache model of every class there is (7.4.2). */
int calibrate_cached(struct storage_model *m, const struct storage_table *t, double saturated,
		     struct err *err);

#endif
