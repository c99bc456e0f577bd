/* SPDX-License-Identifier: Apache-2.0 */
/* space_text: a load beside a neighbour of any size and mix, as tables, JSON and a page. */
#ifndef ANALYZER_CMD_SPACE_TEXT_H
#define ANALYZER_CMD_SPACE_TEXT_H

#include "analyzer/cmd/cli.h"
#include "analyzer/whatif/neighbour_space.h"

#define SPACE_WORDS_BYTES 512

struct space_result {
	char load[128], neighbour[128];
	double base_s[2]; /* of the load as it was characterized; NaN unknown */
	struct neighbour_space space;
	char conclusion[SPACE_WORDS_BYTES];
};

/* "4k,64k" and "10,50": percent; empty lists leave the defaults. -EINVAL. */
int space_levels(struct neighbour_space *s, const struct word_list *sizes,
		 const struct word_list *reads, struct err *err);
/* Fills conclusion. */
void space_conclude(struct space_result *r);
/* 0, -ENOMEM, -EIO. */
int space_print(const struct space_result *r);
int space_json(const struct space_result *r);
int space_page(const struct space_result *r, struct buf *out);

#endif
