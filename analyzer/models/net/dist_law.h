/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dist_law: distributions that are given by a few named numbers, as nets name them and as QPME does.
 */
#ifndef ANALYZER_DIST_LAW_H
#define ANALYZER_DIST_LAW_H

#include "analyzer/models/num/dist.h"

#define DIST_LAW_MAX_NUMBERS 3

struct dist_law {
	const char *name;	   /* in nets; NULL: only QPME writes it so */
	const char *qpme;	   /* its distribution-function; NULL: not one of its schema */
	const char *attributes[4]; /* of the numbers in QPME, in the order of make() */
	/* v: the numbers. Fails as dist.h says. */
	int (*make)(struct dist *d, const double *v, struct err *err);
};

/* NULL where there is none. */
const struct dist_law *dist_law_find(const char *name);
const struct dist_law *dist_law_find_qpme(const char *name);

#endif
