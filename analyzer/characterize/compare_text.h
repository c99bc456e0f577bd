/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_text: the comparison of two profiles as a person reads it.
 *
 * The first lines hold the conclusion: whether the two loads are alike, and then which of the times and
 * losses changed most. The table below is sorted by how much changed. Rows of queue times that are
 * zero on both sides are left out and counted.
 */
#ifndef ANALYZER_COMPARE_TEXT_H
#define ANALYZER_COMPARE_TEXT_H

#include <stdio.h>

#include "analyzer/characterize/compare.h"

/* Sorts the rows in place and prints them. 0 or -ENOMEM. */
int compare_text_print(struct comparison *rows, size_t nr, double tolerance_ratio, FILE *out);

#endif
