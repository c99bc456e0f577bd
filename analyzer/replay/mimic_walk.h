/* SPDX-License-Identifier: Apache-2.0 */
/* mimic_walk: the places and sizes of a mimic's requests in one direction, drawn as fio draws them. */
#ifndef ANALYZER_MIMIC_WALK_H
#define ANALYZER_MIMIC_WALK_H

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/mimic.h"

struct mimic_walk {
	const struct mimic *m; /* borrowed */
	const struct mimic_direction *d;
	bool exact;	    /* sizes by their shares, not by whole percents as fio has them */
	uint64_t grain, nr; /* places: nr of grain bytes */
	double zones[MIMIC_ZONES];
	uint64_t *at; /* owned: where each client's next request in order would begin */
	struct rng rng;
};

/* side 0 reads, 1 writes; m as mimic_make() leaves it. 0 or -ENOMEM; release it either way. */
int mimic_walk_begin(struct mimic_walk *w, const struct mimic *m, int side, uint64_t seed);
/* The next request: bytes from the begin of the mimic's range. */
void mimic_walk_next(struct mimic_walk *w, unsigned int percent_random, uint64_t *offset,
		     uint32_t *bytes);
void mimic_walk_release(struct mimic_walk *w);

#endif
