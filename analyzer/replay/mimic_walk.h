/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic_walk: draws the offsets and sizes of a mimic's requests in one direction, in the same way
 * as fio draws them.
 */
#ifndef ANALYZER_MIMIC_WALK_H
#define ANALYZER_MIMIC_WALK_H

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/mimic.h"

struct mimic_walk {
	const struct mimic *m; /* borrowed */
	const struct mimic_direction *d;
	/* sizes by their exact shares, not by whole percents as fio draws them */
	bool exact;
	uint64_t grain, nr; /* the range has nr units of grain bytes */
	double zones[MIMIC_ZONES];
	uint64_t *at; /* owned: where each client's next sequential request would begin */
	struct rng rng;
};

/*
 * side is 0 for reads and 1 for writes; mimic_make() has filled m. Returns 0 or -ENOMEM; release w
 * in both cases.
 */
int mimic_walk_begin(struct mimic_walk *w, const struct mimic *m, int side, uint64_t seed);
/* Gives the next request; *offset is in bytes from the begin of the mimic's range. */
void mimic_walk_next(struct mimic_walk *w, unsigned int percent_random, uint64_t *offset,
		     uint32_t *bytes);
void mimic_walk_release(struct mimic_walk *w);

#endif
