/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix_fit: this module finds which mixes of several loads fit on a target. A mix says how many of
 * each load there are. It fits if every load keeps its objectives by a predictor (predictor.h), or
 * on a simulated device (mix_device.h), and gets the requests that it offers, and if all loads
 * together use no more than the capacity (capacity.h). The search assumes that more load is slower:
 * the largest count is the last one before the first that does not fit, and the frontier of two
 * loads is a staircase.
 */
#ifndef ANALYZER_MIX_FIT_H
#define ANALYZER_MIX_FIT_H

#include "analyzer/whatif/capacity/capacity.h"
#include "analyzer/whatif/headroom/headroom.h"
#include "analyzer/whatif/mix/mix_device.h"

#define MIX_LOADS_MAX 16
#define MIX_WHY_BYTES 256

struct mix_load {
	char name[128];
	struct load_facts facts;
	size_t count; /* used if it is given */
	bool free;    /* the count is searched */
};

struct mix_fit {
	struct mix_load loads[MIX_LOADS_MAX];
	size_t nr;
	struct headroom_objective objectives[MIX_LOADS_MAX];
	const char *objective_text[MIX_LOADS_MAX]; /* borrowed */
	size_t nr_objectives;
	struct predictor *predictor;	 /* borrowed; NULL: no objectives, or a device */
	struct mix_device *device;	 /* borrowed; NULL: no objectives, or a predictor */
	const struct capacity *capacity; /* borrowed; NULL: no capacity is known */
	size_t most;			 /* largest count of one load; 1 to PREDICTOR_LOADS_MAX */
	/* results: */
	/*
	 * a variable that left the training range, or what a device has not measured (why of a
	 * study_case), or NULL
	 */
	const char *outside;
	const char *fits_outside; /* such a variable in a mix that is said to fit */
	char device_why[STUDY_WHY_BYTES];
	/* the predictor does not give both means, and therefore no throughput */
	bool carried_unknown;
	/* The last mix failed because the target gives a load fewer requests than it offers. */
	bool not_carried;
	/* The last mix failed because the loads need more than the capacity. */
	bool over_capacity;
	/* A mix had too many requests for the simulated device: whether it fits is not known. */
	bool not_simulated;
};

/*
 * Finds whether counts[nr] of the loads fit; upper: judged by the upper ends of the 90 % intervals.
 * why says which limit is broken. A mix without loads always fits. Returns 0 or the errors of the
 * predictor.
 */
int mix_fits(struct mix_fit *m, const size_t *counts, bool upper, bool *fits,
	     char why[MIX_WHY_BYTES], struct err *err);
/*
 * Finds the largest count of load `which` beside the others' counts, starting at 0. why says which
 * limit one more copy would break, or is "" if `most` copies fit. *none becomes true if the others
 * do not fit even without this load.
 */
int mix_largest(struct mix_fit *m, size_t *counts, size_t which, bool upper, size_t *out,
		bool *none, char why[MIX_WHY_BYTES], struct err *err);
/*
 * Finds the frontier of loads a and b: most[k] is the largest count of a beside k of b, for k from
 * 0 to *nr - 1. most has room for m->most + 1 counts. *nr becomes 0 if the other loads alone do not
 * fit.
 */
int mix_frontier(struct mix_fit *m, size_t *counts, size_t a, size_t b, bool upper, size_t *most,
		 size_t *nr, struct err *err);

#endif
