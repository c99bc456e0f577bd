/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbour_space: response times of a load beside a neighbour whose request size and share of
 * reads vary, while the rest of the neighbour stays as its profile says (study III of Noorshams,
 * Modeling and Prediction of I/O Performance in Virtualized Environments, 2015).
 *
 * The target's predictor knows loads and is asked about both of them together. Where `beside` is
 * set, the predictor was measured with the load already running on the target, and knows the
 * neighbour alone.
 */
#ifndef ANALYZER_NEIGHBOUR_SPACE_H
#define ANALYZER_NEIGHBOUR_SPACE_H

#include "analyzer/whatif/predict/predictor.h"

#define SPACE_LEVELS_MAX 16

struct neighbour_space {
	double sizes[SPACE_LEVELS_MAX], reads[SPACE_LEVELS_MAX]; /* bytes; shares of reads */
	size_t nr_sizes, nr_reads;
	bool beside;
	/* results */
	struct predicted at[SPACE_LEVELS_MAX][SPACE_LEVELS_MAX]; /* of the load, by size, mix */
	struct predicted alone;					 /* NaN if `beside` is set */
	/* a variable outside the training range, or NULL */
	const char *outside;
	/*
	 * Whether the target gives the load its requests at every point; otherwise the rates where
	 * it lacks the most.
	 */
	enum load_carried carried;
	double offered_per_s, least_per_s;
	double worst[2]; /* the slowest of reads, of writes; NaN none */
	size_t worst_size[2], worst_read[2];
};

/*
 * Uses default levels if none are given: 4k to 128k, 0 to 100 % reads. Returns 0 or the errors of
 * the predictor.
 */
int neighbour_space_solve(struct neighbour_space *s, struct predictor *p,
			  const struct load_facts *load, const struct load_facts *neighbour,
			  struct err *err);

#endif
