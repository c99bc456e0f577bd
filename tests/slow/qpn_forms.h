/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_forms: nets whose answers are known in closed form, and how often an interval holds them.
 */
#ifndef TESTS_SLOW_QPN_FORMS_H
#define TESTS_SLOW_QPN_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/qpn/solve.h"

enum form_answer {
	FORM_RESIDENCE,
	FORM_THROUGHPUT,
	FORM_POPULATION,
	FORM_P50, /* of residence; these have the run know its quantiles */
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
	double widest;	 /* half interval, relative */
	double bias;	 /* mean of (estimate - want) / want */
	uint64_t events; /* of all runs */
};

/*
 * Runs seeds 1..nr until the relative precision is reached, on all processors. net NULL: the
 * form's own. 0 or -errno with the line in err.
 */
int qpn_form_cover(struct form_coverage *c, const struct qpn_form *f, const struct net *net,
		   unsigned nr, double precision, struct err *err);

#endif
