/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes: feeds windows from several threads, with the same bits in the result as from one thread.
 *
 * The estimators of a window fall into lanes that share no state (window.h). The caller's thread
 * appends orders ("feed these requests to that window", "this time was not observed") to a package
 * and submits the package. The workers take packages lane by lane. Each lane works through all
 * orders of all packages in the order in which they were given, so every estimator sees what it
 * would see in one thread. Meanwhile the caller prepares the next package. With one processor there
 * are no workers, and the caller's thread does the work by the same functions.
 *
 *	lanes_new(&l, 0);
 *	for each batch:
 *		struct request *r = lanes_requests(l);  fill in at most LANES_REQUESTS
 *		lanes_add(l, window, r, nr); ...        any number of orders
 *		lanes_submit(l);
 *	lanes_settle(l);                                now the windows may be read
 *	lanes_free(l);
 *
 * One thread calls these functions. Requests outside of lanes_requests() must stay in memory until
 * lanes_settle().
 */
#ifndef ANALYZER_LANES_H
#define ANALYZER_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "workload/window.h"

#define LANES_REQUESTS 8192 /* per package: long runs of one device, 640 KiB */

struct lanes;

/*
 * nr_threads counts the threads that work beside the caller's; 0 means one less than there are
 * processors. Returns 0 or -ENOMEM.
 */
int lanes_new(struct lanes **out, unsigned int nr_threads);
/* Waits for the workers and then ends them. NULL is allowed. */
void lanes_free(struct lanes *l);

/*
 * Returns memory for LANES_REQUESTS requests that belongs to the package being filled. Waits until
 * a package is free.
 */
struct request *lanes_requests(struct lanes *l);

/* Append an order. They return 0, or -ENOMEM where the package lacks the order. */
int lanes_add(struct lanes *l, struct window *w, const struct request *r, size_t nr);
int lanes_unwatched(struct lanes *l, struct window *w, uint64_t begin_ns, uint64_t end_ns);

/* Hands the package over to the workers. A package without orders is left as it is. */
void lanes_submit(struct lanes *l);

/*
 * Submits, and returns when every order has been carried out. Returns 0, or -ENOMEM where an
 * estimator missed something since the last call; the profile of its window says so too.
 */
int lanes_settle(struct lanes *l);

#endif
