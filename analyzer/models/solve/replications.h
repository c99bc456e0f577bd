/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replications: independent runs of any simulation, until its results have the required
 * precision.
 *
 * The runs of a round go on all processors, each with a random seed of its own. After each round
 * the caller's judge() makes the estimates from all samples so far, and the square-root law says
 * how many more runs the precision requires. The seed alone determines the result, for any number
 * of threads and processes.
 *
 * Fill in the upper half of struct replications, call replications_run(), read the lower
 * half, and call replications_release() in any case.
 */
#ifndef ANALYZER_REPLICATIONS_H
#define ANALYZER_REPLICATIONS_H

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/solve/solve.h"

/* This struct holds what one run leaves beside its sample. */
struct replication {
	double warm_up; /* model time that was left out at the beginning */
	/* mean number of waiting jobs before the half of the run and at its end, for judge() */
	double waiting_half, waiting_end;
	uint64_t events;
};

struct replications {
	const void *ctx;
	size_t sample_size;
	/* Makes one run of r->length. Any thread may call it. *sample is zeroed before. */
	int (*run)(const struct replications *r, struct replication *out, void *sample,
		   uint64_t seed, struct err *err);
	/* Names the bytes of a sample that processes exchange. */
	int (*pieces)(const struct replications *r, void *sample, struct parallel_bytes *b);
	void (*release)(void *sample);
	/* Sets precision and expected from all samples; may set stop. Returns 0 or -errno. */
	int (*judge)(struct replications *r);
	double length;	    /* model time of each run */
	size_t most_growth; /* factor by which one round may raise the number of runs */
	const struct solve_options *o;

	void *samples; /* owned */
	size_t nr;
	struct replication *round; /* the last nr_round runs; valid in judge() */
	size_t nr_round;
	uint64_t events;
	double model_time, warm_up; /* over all runs */
	double precision;	    /* the precision that was reached */
	double expected;   /* the precision to expect of as many other runs; foretells the rest */
	const char *limit; /* borrowed; judge() may name the result that limits precision */
	bool stop;	   /* no further round is to begin */
};

/* Returns 0, an error of run() or judge(), or -ENOMEM. Its own -ENOMEM has no message. */
int replications_run(struct replications *r, struct err *err);
void replications_release(struct replications *r);

#endif
