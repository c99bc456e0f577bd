/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_text: prints the comparison of two profiles for people.
 *
 * The first lines hold the conclusion: whether the two loads are alike, and which of the times and
 * losses changed most. The table below them is sorted by the size of the change. Rows of queue
 * times that are zero on both sides are left out, and their number is printed.
 */
#ifndef ANALYZER_COMPARE_TEXT_H
#define ANALYZER_COMPARE_TEXT_H

#include <stdio.h>

#include "analyzer/answer/answer.h"
#include "analyzer/characterize/compare.h"

/* Sorts the rows in place and prints them. Returns 0 or -ENOMEM. */
int compare_text_print(struct comparison *rows, size_t nr, double tolerance_ratio, FILE *out);
/*
 * Adds the same to a page, with the table under a title. The first lines are the page's conclusion
 * where no other comparison is on it; otherwise they stand above the table. Returns 0 or -ENOMEM.
 */
int compare_text_page(struct comparison *rows, size_t nr, double tolerance_ratio, const char *title,
		      bool is_single, struct answer *a);

#endif
