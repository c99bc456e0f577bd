/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mars_candidate: keeps the sums of the forward pass of MARS for one candidate, which is a pair
 * (term, variable).
 */
#ifndef ANALYZER_REGRESSION_MARS_CANDIDATE_H
#define ANALYZER_REGRESSION_MARS_CANDIDATE_H

#include "analyzer/models/regression/curve/mars_forward.h"

/*
 * In all products below, b is multiplied by the square root of the weight, and x lies within [-1,
 * 1].
 */
struct forward_candidate {
	size_t parent, column;
	uint32_t *rows; /* rows where b is not 0, by descending x */
	size_t nr_rows;
	size_t nr_knots;
	uint32_t *ends; /* rows[0 .. ends[k]) lie above knot k */
	double *knots;	/* on the scale of x above; the raw knots are as measured */
	double *raw;
	/*
	 * These belong to the part of bx that the basis does not explain: its squared length, its
	 * product with y, and its squared length at first.
	 */
	double linear_left, linear_y, linear_length;
	/* These are the same three values for h = b(x - t)+, and its product with bx. */
	double *left, *with_y, *with_linear, *length;
};

struct forward_choice {
	double limit; /* a larger gain is not plausible and is ignored */
	/* two per step and one for the constant: the model's size as R's earth counts it */
	size_t nr_slots;
	double gain; /* reduction of the RSS; 0 means none yet */
	const struct forward_candidate *candidate;
	double knot;
	bool linear; /* the candidate adds bx alone */
	bool pair;   /* both hinges are new; otherwise only the upper one */
};

/*
 * Appends a candidate. The caller must call forward_candidates_settle() after the last candidate
 * of a term.
 */
int forward_candidate_add(struct forward *f, size_t parent, size_t column, size_t degree);
void forward_candidate_release(struct forward_candidate *c);
/* Removes the part that the whole basis explains from the candidates from index `from` on. */
void forward_candidates_settle(struct forward *f, size_t from);
/* Removes the part that the basis column j explains from every candidate. */
void forward_candidates_update(struct forward *f, size_t j);
/* Replaces best if this candidate gains strictly more. */
void forward_candidate_best(const struct forward *f, const struct forward_candidate *c,
			    struct forward_choice *best);

#endif
