/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_weights: how much a storage system prefers reads, from the mean response times of
 * reads and writes in one measured configuration.
 *
 * The net has parameters alpha and beta, the firing weights of reads and writes that wait (as in
 * docs/examples/storage-priorities.yaml), and a probe for each. The ratio phi = alpha / beta is
 * bisected: where the net favours reads more than the measurement does, relative to writes, phi
 * falls, else it rises. Every step draws the same random numbers, and the best seen is kept, so
 * that noise neither ends the search early nor spoils its answer. Unlike the method this follows,
 * it goes on where both times are missed to the same side: then the net's service times are off,
 * and phi is that which misses both alike.
 */
#ifndef ANALYZER_CALIBRATE_WEIGHTS_H
#define ANALYZER_CALIBRATE_WEIGHTS_H

#include "analyzer/models/net/net.h"

struct weights_task {
	const char *path; /* of the net */
	const struct net_setting *settings;
	size_t nr_settings; /* at most WEIGHTS_MAX_SETTINGS */
	const char *read_probe, *write_probe;
	double read_time, write_time; /* measured means, above 0, in the net's unit */
	double phi_min, phi_max;      /* 0 < min < max */
	unsigned digits;	      /* of phi, after the point; 6 at most */
	double max_error;	      /* good enough */
	double precision;	      /* of each solution */
	uint64_t seed;
};

#define WEIGHTS_MAX_SETTINGS 64

struct weights_step {
	double alpha, beta, read_time, write_time;
	double error; /* mean of the two relative errors */
};

#define WEIGHTS_MAX_STEPS 40

struct weights_found {
	struct weights_step best;
	struct weights_step steps[WEIGHTS_MAX_STEPS];
	size_t nr_steps;
};

/* The search alone, over any way to solve a net with weights alpha and beta. */
struct weights_search {
	double read_time, write_time; /* measured means, above 0 */
	double phi_min, phi_max;
	unsigned digits;
	double max_error;
	/* Fills the two times. 0, or -errno, which ends the search. */
	int (*solve)(void *ctx, double alpha, double beta, double *read_time, double *write_time,
		     struct err *err);
	void *ctx;
};

int weights_search(struct weights_found *out, const struct weights_search *s, struct err *err);

/* 0; -EINVAL where the net has no such parameters or probes; the errors of solve_net(). */
int calibrate_weights(struct weights_found *out, const struct weights_task *t, struct err *err);

#endif
