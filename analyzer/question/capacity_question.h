/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_question: answers which throughput a target has for any mix of reads, writes and sizes,
 * how much of this throughput some loads use, and whether the loads fit together (whatif/capacity).
 * The throughputs come from the caller, from a measurement store, or from what predicts the target.
 */
#ifndef ANALYZER_QUESTION_CAPACITY_QUESTION_H
#define ANALYZER_QUESTION_CAPACITY_QUESTION_H

#include "analyzer/question/question.h"
#include "analyzer/whatif/capacity/capacity_answer.h"
#include "analyzer/whatif/capacity/capacity_device.h"

/*
 * The caller may fill r.capacity with measured throughputs, r.parts (owned) and r.nr_parts with the
 * sizes that are sent together, and r.bound.
 */
struct capacity_question {
	struct question of;
	struct word_list where;	       /* conditions on the rows of a measurement store */
	const char *size, *mix_column; /* its factors, or NULL */
	double read_ratio;	       /* share of reads where a size has none of its own */
	bool of_requests;	       /* shares of the sizes are of requests */
	/* The members below are set while the question is answered. */
	struct headroom_objective objectives[WORD_LIST_MAX];
	char slo_text[256]; /* the objectives as the caller wrote them */
	struct capacity_limits limits;
	struct capacity_result r;
};

/* Returns 0 with *out, which the caller frees, or -errno. Release q whatever this returns. */
int capacity_question_answer(struct answer **out, struct capacity_question *q, struct err *err);
void capacity_question_release(struct capacity_question *q);

#endif
