/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_answer: presents the solution of a system's model as an answer that can be shown, and as
 * CSV.
 */
#ifndef ANALYZER_ARCH_ANSWER_H
#define ANALYZER_ARCH_ANSWER_H

#include <jansson.h>

#include "analyzer/answer/answer.h"
#include "analyzer/models/arch/arch_solve.h"

/* Returns the answer "blkcast.arch/1", or NULL if there is no memory. */
struct answer *arch_answer(const struct arch_model *m, const struct arch_solution *s, uint64_t seed,
			   double seconds);
/*
 * Appends one line for each measured time, after the prefix (cells, each with its comma). The
 * columns are what, name, seconds, rounds or calls per second, and the share of requests that
 * asked an I/O model outside its training range, which is empty without such a model. Returns 0 or
 * -ENOMEM.
 */
#define ARCH_RESULT_COLUMNS "what,name,mean_s,low_s,high_s,p50_s,p95_s,p99_s,per_s,outside_training"
int arch_result_csv(const struct arch_model *m, const struct arch_solution *s, const char *prefix,
		    struct buf *out);

/*
 * Compares every time that both models know: the second is slower or faster where the intervals of
 * 95 % do not overlap. The caller owns the answer.
 */
struct answer *arch_compare_answer(const struct arch_model m[2], const struct arch_solution s[2],
				   uint64_t seed);
/*
 * Describes what a model consists of, and which of its resources have more work than they can do.
 */
json_t *arch_check_json(const struct arch_model *m, const struct arch_load *l);
/* Adds a number with four digits to a row, or a dash. */
void arch_answer_ratio(struct answer_table *t, double v);

#endif
