/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_text: scenarios side by side as tables, JSON and a page. */
#ifndef ANALYZER_CMD_SCENARIO_TEXT_H
#define ANALYZER_CMD_SCENARIO_TEXT_H

#include "analyzer/whatif/scenario.h"

#define SCENARIOS_MAX	     16
#define SCENARIO_WORDS_BYTES 768

struct scenario_result {
	struct scenario *scenarios; /* owned by the caller; solved */
	size_t nr;
	char conclusion[SCENARIO_WORDS_BYTES];
};

/* Fills conclusion. */
void scenario_conclude(struct scenario_result *r);
/* 0, -ENOMEM, -EIO. */
int scenario_print(const struct scenario_result *r, bool utc);
int scenario_json(const struct scenario_result *r);
int scenario_page(const struct scenario_result *r, bool utc, struct buf *out);

#endif
