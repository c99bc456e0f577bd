/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_answer: shows the response times of a load beside a neighbour of any size and mix as an
 * answer (answer.h).
 */
#ifndef ANALYZER_WHATIF_MIX_SPACE_ANSWER_H
#define ANALYZER_WHATIF_MIX_SPACE_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/mix/neighbour_space.h"

struct space_result {
	char load[128], neighbour[128]; /* their names */
	double base_s[2]; /* means of the load's reads and writes as characterized; NaN unknown */
	struct neighbour_space space;
};

/*
 * Returns the load's mean time without this neighbour, or NaN if it is unknown. side is 0 for reads
 * and 1 for writes.
 */
double space_before(const struct space_result *r, int side);
/* Returns whether the answer allows no conclusion. */
bool space_cannot_tell(const struct space_result *r);
/* Returns the answer "blkcast.interference/1" without pictures; NULL if memory is out. */
struct answer *space_answer(const struct space_result *r);

#endif
