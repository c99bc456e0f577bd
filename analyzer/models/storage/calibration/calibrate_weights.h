/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_weights: finds how much a storage system prefers reads, from the mean response times
 * of reads and writes in one measured configuration (Noorshams, Modeling and Prediction of I/O
 * Performance in Virtualized Environments, 2015, algorithm 3).
 *
 * The net has the parameters alpha and beta, which are the firing weights of waiting reads and
 * writes (as in docs/examples/storage-priorities.yaml), and one probe for each type. The ratio phi
 * = alpha / beta is bisected: phi falls where the net, compared with the measurement, favours
 * reads over writes, and rises otherwise. Every step draws the same random numbers, and the best
 * step is kept, so that noise neither ends the search early nor spoils its result. The published
 * algorithm stops when the times of both types are wrong in the same direction. This search goes
 * on: in that case the service times of the net are wrong, and the best phi is the one that gives
 * both types the same relative error.
 */
#ifndef ANALYZER_CALIBRATE_WEIGHTS_H
#define ANALYZER_CALIBRATE_WEIGHTS_H

#include "analyzer/models/net/net.h"

struct weights_task {
	const char *path; /* file of the net */
	const struct net_setting *settings;
	size_t nr_settings; /* number of settings, at most WEIGHTS_MAX_SETTINGS */
	const char *read_probe, *write_probe;
	/* measured mean response times, above 0, in the time unit of the net */
	double read_time, write_time;
	double phi_min, phi_max; /* 0 < min < max */
	unsigned digits;	 /* digits of phi after the decimal point, at most 6 */
	double max_error;	 /* the search ends when the error is at most this value */
	double precision;	 /* relative precision of each solution */
	uint64_t seed;
};

#define WEIGHTS_MAX_SETTINGS 64

struct weights_step {
	double alpha, beta, read_time, write_time;
	double error; /* mean of the relative errors of reads and writes */
};

#define WEIGHTS_MAX_STEPS 40

struct weights_found {
	struct weights_step best;
	struct weights_step steps[WEIGHTS_MAX_STEPS];
	size_t nr_steps;
};

/*
 * This struct is the search alone. The caller provides the way to solve a net with the weights
 * alpha and beta.
 */
struct weights_search {
	double read_time, write_time; /* measured mean response times, above 0 */
	double phi_min, phi_max;
	unsigned digits;
	double max_error;
	/* Sets the two times. Returns 0, or an -errno that ends the search. */
	int (*solve)(void *ctx, double alpha, double beta, double *read_time, double *write_time,
		     struct err *err);
	void *ctx;
};

int weights_search(struct weights_found *out, const struct weights_search *s, struct err *err);

/*
 * Returns 0, -EINVAL if the net does not have these parameters or probes, or an error of
 * solve_net().
 */
int calibrate_weights(struct weights_found *out, const struct weights_task *t, struct err *err);

#endif
