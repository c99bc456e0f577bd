/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later: requests that are known already but completed in a period that has not begun yet.
 *
 * A period is closed a while after its end, since requests may come late; until then most requests
 * belong to the period that follows. They wait here in order of arrival, in one list for each of the
 * next periods, so that keeping one costs no more than copying it. Completions that are many periods
 * away wait in a heap. Nothing here reads a clock; one object, one thread.
 */
#ifndef ANALYZER_LATER_H
#define ANALYZER_LATER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define LATER_NEAR 64 /* the periods from the current one on that have a list of their own */

/* Requests in order of arrival; order[] counts all that were ever kept. */
struct later_list {
	struct request *requests; /* owned */
	uint64_t *order;	  /* owned */
	size_t nr, cap_requests, cap_order;
	uint64_t first_ns; /* the earliest completion; only where nr > 0 */
};

struct later_far {
	struct request r;
	uint64_t order;
};

struct later {
	uint64_t window_ns;		    /* length of a period; 0: there is one period alone */
	struct later_list near[LATER_NEAR]; /* of period P at P % LATER_NEAR */
	struct later_list due;		    /* what later_take() handed out */
	struct later_list spare;	    /* room for the next list that begins */
	struct later_far *far;		    /* owned: a heap, earliest completion first */
	size_t nr_far, cap_far;
	size_t nr;	  /* all that wait */
	uint64_t nr_kept; /* all that ever came */
};

void later_init(struct later *l, uint64_t window_ns);
void later_release(struct later *l);

/* Keeps a request that completes at or after end_ns, the end of the current period. 0 or -ENOMEM. */
int later_keep(struct later *l, const struct request *r, uint64_t end_ns);

/*
 * Takes out the requests that completed before end_ns, in the order in which they were kept. They stay
 * at *out, which belongs to this object, until the next call. The cost is of those taken alone, and of
 * LATER_NEAR. 0, or -ENOMEM; then this object is good for later_release() alone.
 */
int later_take(struct later *l, uint64_t end_ns, const struct request **out, size_t *nr);

/* The earliest completion of all that wait; UINT64_MAX where none does. */
uint64_t later_first_ns(const struct later *l);

#endif
