/* SPDX-License-Identifier: Apache-2.0 */
/* mix_text: what `blkcast study mix` prints: a table, JSON and a page. */
#ifndef ANALYZER_CMD_MIX_TEXT_H
#define ANALYZER_CMD_MIX_TEXT_H

#include "analyzer/whatif/mix_fit.h"

#define MIX_WORDS_BYTES 1024

struct mix_result {
	struct mix_fit mix;
	size_t free[2], nr_free; /* loads that are asked for */
	bool fits;		 /* with none asked for */
	bool none, none_upper;	 /* with one: not even the others fit */
	/* With one: [0]. With two: of the first, by the count of the second. */
	size_t most[PREDICTOR_LOADS_MAX + 1], nr;
	size_t most_upper[PREDICTOR_LOADS_MAX + 1], nr_upper; /* by the intervals' upper ends */
	char why[MIX_WHY_BYTES];
	char conclusion[MIX_WORDS_BYTES];
};

/* Whether anything fits. */
bool mix_is_fit(const struct mix_result *r);
/* Fills conclusion. */
void mix_conclude(struct mix_result *r);
/* 0, -ENOMEM, -EIO. */
int mix_print(const struct mix_result *r);
int mix_json(const struct mix_result *r);
int mix_page(const struct mix_result *r, struct buf *out);

#endif
