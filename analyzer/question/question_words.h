/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question_words: reads what a person writes about loads and measurements in a question: measured
 * throughputs, the share of reads, sizes with their shares, and the levels of a neighbour.
 *
 *	"4k:read=20000", "write=5000"	measured throughputs, of the last size that was named
 *	"read=70"			a share of reads
 *	"4k=0.6", "64k=0.4:30"		sizes with their shares, and their own share of reads
 *
 * Each function returns 0, -ENOMEM, or -EINVAL with a message that begins with what was read.
 */
#ifndef ANALYZER_QUESTION_QUESTION_WORDS_H
#define ANALYZER_QUESTION_QUESTION_WORDS_H

#include "analyzer/whatif/capacity/capacity.h"
#include "analyzer/whatif/mix/neighbour_space.h"
#include "base/text/word_list.h"

/* Adds measured requests per second; a value without a size belongs to the last size. */
int question_words_measured(struct capacity *c, const struct word_list *list, struct err *err);
/* Reads "read=70" and "write=30", in percent. *read_ratio keeps its value for an empty list. */
int question_words_share(const struct word_list *list, double *read_ratio, struct err *err);
/*
 * Fills parts[0..list->nr-1], which is there. A size without a share of reads gets read_ratio. The
 * shares of the sizes must sum to 1.
 */
int question_words_sizes(const struct word_list *list, double read_ratio,
			 struct capacity_part *parts, struct err *err);
/* Reads the sizes and the percentages of reads of a neighbour. Empty lists keep the defaults. */
int question_words_levels(struct neighbour_space *s, const struct word_list *sizes,
			  const struct word_list *reads, struct err *err);

#endif
