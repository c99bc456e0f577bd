/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase: this module finds which kinds of load followed one another in a period.
 *
 * Each column of time gets a kind: idle, or one of reads, writes, both and others, together with
 * one of sequential, random and in between. Adjacent columns of the same kind form a phase. A phase
 * that is shorter than two columns or than 3 % of the period is joined to the phase before it. A
 * column that was not watched ends a phase. Cost: O(columns).
 *
 *	struct phase *phases;
 *	size_t nr_phases;
 *
 *	ret = phases_find(columns, nr, &phases, &nr_phases);
 *	...
 *	free(phases);
 */
#ifndef ANALYZER_CHARACTERIZE_PHASE_H
#define ANALYZER_CHARACTERIZE_PHASE_H

#include <stddef.h>

struct phase_column {
	double begin_s, end_s;
	double watched_s;     /* 0: nobody watched */
	double requests;      /* of all operations */
	double reads, writes; /* requests that moved data */
	double bytes;	      /* of reads and writes */
	double sequential;    /* requests that continue an earlier one, */
	double sequential_of; /* among this number of requests; 0: unknown */
};

struct phase {
	size_t first, end; /* columns */
	double begin_s, end_s;
	double watched_s;	/* watched part of the time between them */
	const char *kind;	/* "idle", "reads", "writes", "both" or "others" */
	const char *access;	/* "sequential", "random", "partly", or "" if unknown or idle */
	double requests_per_s;	/* over the watched time */
	double size_mean_bytes; /* NaN: no request that moves data */
};

/*
 * Finds the phases in order of time. *out is owned by the caller and released by free(). Returns 0
 * or -ENOMEM.
 */
int phases_find(const struct phase_column *columns, size_t nr, struct phase **out, size_t *nr_out);

/* Keeps the `most` longest of nr phases, in order of time. Returns how many remain. */
size_t phases_longest(struct phase *phases, size_t nr, size_t most);

#endif
