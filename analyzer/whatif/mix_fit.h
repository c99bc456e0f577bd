/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix_fit: which mixes of several loads a target bears: so many of each that every load keeps the
 * objectives by a predictor (predictor.h) and gets the requests that it offers, and that all together
 * use no more than the capacity (capacity.h). More load is taken to be slower: the largest count is the last before the first
 * that does not fit, and the frontier of two is a staircase.
 */
#ifndef ANALYZER_MIX_FIT_H
#define ANALYZER_MIX_FIT_H

#include "analyzer/whatif/capacity.h"
#include "analyzer/whatif/headroom.h"

#define MIX_LOADS_MAX 16
#define MIX_WHY_BYTES 256

struct mix_load {
	char name[128];
	struct load_facts facts;
	size_t count; /* where it is given */
	bool free;    /* it is asked for */
};

struct mix_fit {
	struct mix_load loads[MIX_LOADS_MAX];
	size_t nr;
	struct headroom_objective objectives[MIX_LOADS_MAX];
	const char *objective_text[MIX_LOADS_MAX]; /* borrowed */
	size_t nr_objectives;
	struct predictor *predictor;	 /* borrowed; NULL: no objectives */
	const struct capacity *capacity; /* borrowed; NULL: none known */
	size_t most;			 /* of one load; 1 to PREDICTOR_LOADS_MAX */
	/* results: */
	const char *outside;	  /* a variable that left the training range, or NULL */
	const char *fits_outside; /* the same in a mix that is said to fit */
	bool carried_unknown;	  /* the predictor does not tell both means, and so no throughput */
	bool not_carried; /* what was broken last is that the target does not give a load its rate */
};

/*
 * Whether counts[nr] of the loads fit; upper: by the upper ends of the 90 % intervals. why says what
 * is broken. Nobody always fits. The errors of the predictor.
 */
int mix_fits(struct mix_fit *m, const size_t *counts, bool upper, bool *fits,
	     char why[MIX_WHY_BYTES], struct err *err);
/* The most of load `which` beside the others' counts, from none on; why: what one more breaks, ""
 * where `most` fit. *none: not even the others fit without it. */
int mix_largest(struct mix_fit *m, size_t *counts, size_t which, bool upper, size_t *out,
		bool *none, char why[MIX_WHY_BYTES], struct err *err);
/*
 * The frontier of loads a and b: most[k] is the most of a beside k of b, for k from 0 to *nr - 1;
 * room for m->most + 1. *nr 0: not even the others fit.
 */
int mix_frontier(struct mix_fit *m, size_t *counts, size_t a, size_t b, bool upper, size_t *most,
		 size_t *nr, struct err *err);

#endif
