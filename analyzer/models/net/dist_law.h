/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dist_law: describes distributions that are given by a few named numbers, with their names in nets
 * and in QPME.
 */
#ifndef ANALYZER_DIST_LAW_H
#define ANALYZER_DIST_LAW_H

#include "analyzer/models/num/dist.h"

#define DIST_LAW_MAX_NUMBERS 3

struct dist_law {
	const char *name; /* name in nets; NULL: only QPME has it */
	/* name in QPME's distribution-function; NULL: not in its schema */
	const char *qpme;
	const char *attributes[4]; /* names of the numbers in QPME, in the order of make() */
	/* v are the numbers. Errors are those of dist.h. */
	int (*make)(struct dist *d, const double *v, struct err *err);
};

/* Returns NULL where there is no such distribution. */
const struct dist_law *dist_law_find(const char *name);
const struct dist_law *dist_law_find_qpme(const char *name);

#endif
