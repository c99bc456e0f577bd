/* SPDX-License-Identifier: Apache-2.0 */
/* mars_candidate: what the forward pass of MARS remembers of one (term, variable). */
#ifndef ANALYZER_REGRESSION_MARS_CANDIDATE_H
#define ANALYZER_REGRESSION_MARS_CANDIDATE_H

#include "analyzer/models/regression/mars_forward.h"

/* In all products below b carries the square root of the weight, and x is within [-1, 1]. */
struct forward_candidate {
	size_t parent, column;
	uint32_t *rows; /* rows with b other than 0, x descending */
	size_t nr_rows;
	size_t nr_knots;
	uint32_t *ends; /* rows[0 .. ends[k]) lie above knot k */
	double *knots;	/* on the scale of x above; raw: as measured */
	double *raw;
	/* Of bx, less what the basis explains: length squared, product with y; and length at first. */
	double linear_left, linear_y, linear_length;
	/* Of h = b(x - t)+, the same, and the product with bx. */
	double *left, *with_y, *with_linear, *length;
};

struct forward_choice {
	double limit;	 /* a larger gain is not believed */
	size_t nr_slots; /* two per step and the constant: the model's size as R's earth counts */
	double gain;	 /* of RSS; 0: none yet */
	const struct forward_candidate *candidate;
	double knot;
	bool linear; /* bx alone */
	bool pair;   /* both hinges; else only the upper one is new */
};

/* Rows by ascending x, equal ones by number. 0 or -ENOMEM. */
int forward_candidate_order(const double *x, size_t n, uint32_t *order);
/* Appends a candidate; forward_candidates_settle() must follow the last of a term. */
int forward_candidate_add(struct forward *f, size_t parent, size_t column, size_t degree);
void forward_candidate_release(struct forward_candidate *c);
/* Takes the whole basis out of the candidates from `from` on. */
void forward_candidates_settle(struct forward *f, size_t from);
/* Takes the basis column j out of every candidate. */
void forward_candidates_update(struct forward *f, size_t j);
/* Improves best where this candidate gains strictly more. */
void forward_candidate_best(const struct forward *f, const struct forward_candidate *c,
			    struct forward_choice *best);

#endif
