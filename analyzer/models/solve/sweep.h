/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep: values of parameters for which a model is solved, in every combination. The last parameter
 * varies fastest.
 *
 *	ret = sweeps_read(&s, &words, &set, &err);
 *	for (point = 0; point < s.nr_points; point++)
 *		... sweep_value(&s, parameter, point) ...
 *	sweeps_release(&s);
 */
#ifndef ANALYZER_MODELS_SOLVE_SWEEP_H
#define ANALYZER_MODELS_SOLVE_SWEEP_H

#include "analyzer/answer/answer.h"
#include "base/text/err.h"
#include "base/text/word_list.h"

#define SWEEP_MAX     8
#define SWEEP_POINTS  10000 /* largest number of combinations */
#define SWEEP_RESULTS 16    /* most columns of a result in the table of a sweep */

struct sweep {
	char *name; /* owned */
	double from, step;
	size_t nr; /* number of values */
};

struct sweeps {
	struct sweep items[SWEEP_MAX];
	size_t nr;
	size_t nr_points; /* 1 where nothing varies */
};

/*
 * Parses NAME=FROM:TO[:STEP] of each word. Returns 0, -EINVAL with the invalid word or with a
 * parameter that has a value by set (NAME=VALUE), or -ENOMEM.
 */
int sweeps_read(struct sweeps *s, const struct word_list *words, const struct word_list *set,
		struct err *err);
void sweeps_release(struct sweeps *s);
/* Returns the value of a parameter at a point (0 to nr_points - 1). */
double sweep_value(const struct sweeps *s, size_t parameter, size_t point);
/* Makes a table whose columns are the parameters that vary, then the nr columns of a result. */
struct answer_table *sweep_table(const struct sweeps *s, struct answer *a, const char *title,
				 const struct answer_column *results, size_t nr);
/* Fills the cells of the parameters that vary. */
void sweep_cells(const struct sweeps *s, size_t point, struct answer_table *t);
/* Adds the values of a point to an answer, as the member "set". */
void sweep_member(const struct sweeps *s, size_t point, struct answer *a);

#endif
