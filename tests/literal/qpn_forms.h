/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_forms: has nets whose answers are known in closed form, and counts how often a confidence
 * interval contains the answer.
 */
#ifndef TESTS_SLOW_QPN_FORMS_H
#define TESTS_SLOW_QPN_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/models/solve/solve.h"

#define FORM_MAX_ANSWERS 8 /* most answers of one net */

enum form_answer {
	FORM_RESIDENCE,
	FORM_THROUGHPUT,
	FORM_POPULATION,
	FORM_P50, /* quantiles of residence; the run then has to estimate them */
	FORM_P95,
	FORM_P99,
};

struct qpn_form {
	const char *name, *text;
	enum form_answer answer;
	unsigned slot;
	double want;
};

extern const struct qpn_form qpn_forms[];
extern const size_t nr_qpn_forms;

struct form_coverage {
	unsigned inside, runs;
	double widest;	 /* largest relative half width of an interval */
	double bias;	 /* mean of (estimate - want) / want */
	uint64_t events; /* events of all runs together */
};

/*
 * Returns how many of the nr forms from f on are answered by the same runs: 1 to FORM_MAX_ANSWERS.
 */
size_t qpn_form_group(const struct qpn_form *f, size_t nr);

/*
 * Runs the seeds 1..nr, on all processors, until the relative precision is reached, and checks the
 * answers of nr_forms forms of one group. c has one element for each form. net NULL means the
 * form's own net. Returns 0, or -errno with one line in err.
 */
int qpn_form_cover(struct form_coverage *c, const struct qpn_form *f, size_t nr_forms,
		   const struct net *net, unsigned nr, double precision, struct err *err);

#endif
