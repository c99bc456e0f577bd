/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later: keeps requests that are known already but completed in a period that has not begun yet.
 *
 * A period is closed some time after its end, because requests may come late. Until then most
 * requests belong to the period that follows. They wait here in order of arrival, in one list for
 * each of the next periods, so that keeping a request costs no more than copying it. Requests whose
 * completions are many periods away wait in a heap. Nothing here reads a clock. One thread uses an
 * object.
 */
#ifndef ANALYZER_LATER_H
#define ANALYZER_LATER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define LATER_NEAR 64 /* periods that have a list of their own, from the current one on */

/* Requests in order of arrival. order[] holds their numbers among all that were ever kept. */
struct later_list {
	struct request *requests; /* owned */
	uint64_t *order;	  /* owned */
	size_t nr, cap_requests, cap_order;
	uint64_t first_ns; /* the earliest completion; valid where nr > 0 */
};

struct later_far {
	struct request r;
	uint64_t order;
};

struct later {
	uint64_t window_ns;		    /* length of a period; 0: there is only one period */
	struct later_list near[LATER_NEAR]; /* the list of period P is at P % LATER_NEAR */
	struct later_list due;		    /* the requests that the last later_take() returned */
	struct later_list spare;	    /* memory for the next list that begins */
	struct later_far *far;		    /* owned: a heap, earliest completion first */
	size_t nr_far, cap_far;
	size_t nr;	  /* number of requests that wait */
	uint64_t nr_kept; /* number of requests that were ever kept */
};

void later_init(struct later *l, uint64_t window_ns);
void later_release(struct later *l);

/*
 * Keeps a request that completes at or after end_ns, the end of the current period. Returns 0 or
 * -ENOMEM.
 */
int later_keep(struct later *l, const struct request *r, uint64_t end_ns);

/*
 * Takes out the requests that completed before end_ns, in the order in which they were kept. *out
 * belongs to this object and is valid until the next call. The cost depends on the requests taken
 * and on LATER_NEAR only. Returns 0 or -ENOMEM; after -ENOMEM only later_release() is allowed.
 */
int later_take(struct later *l, uint64_t end_ns, const struct request **out, size_t *nr);

/* Returns the earliest completion of all waiting requests, or UINT64_MAX where none waits. */
uint64_t later_first_ns(const struct later *l);

#endif
