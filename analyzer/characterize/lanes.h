/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes: windows that are fed by several threads, with the same bits as by one.
 *
 * The estimators of a window fall into lanes that share nothing (window.h). The caller's thread
 * appends orders ("feed these requests to that window", "nobody watched from here to there") to a
 * package and submits it; the workers take packages lane by lane. Each lane works through all orders
 * of all packages in the order in which they were given, so every estimator sees what it would see in
 * one thread. Meanwhile the caller prepares the next package. With one processor there are no workers
 * and the caller's thread does the work, by the same functions.
 *
 *	lanes_new(&l, 0);
 *	for each batch:
 *		struct request *r = lanes_requests(l);  fill in at most LANES_REQUESTS
 *		lanes_add(l, window, r, nr); ...        any number of orders
 *		lanes_submit(l);
 *	lanes_settle(l);                                now the windows may be read
 *	lanes_free(l);
 *
 * One thread calls. Requests that lie elsewhere than in lanes_requests() must stay where they are until
 * lanes_settle().
 */
#ifndef ANALYZER_LANES_H
#define ANALYZER_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "workload/window.h"

#define LANES_REQUESTS 8192 /* in a package: long runs of one device, 640 KiB */

struct lanes;

/* nr_threads: those that work beside the caller's; 0: one less than there are processors. 0 or -ENOMEM. */
int lanes_new(struct lanes **out, unsigned int nr_threads);
/* Waits for the workers, then ends them. NULL is allowed. */
void lanes_free(struct lanes *l);

/* Room for LANES_REQUESTS requests that belongs to the package at hand; waits until a package is free. */
struct request *lanes_requests(struct lanes *l);

/* Orders. 0 or -ENOMEM; then the package lacks the order. */
int lanes_add(struct lanes *l, struct window *w, const struct request *r, size_t nr);
int lanes_unwatched(struct lanes *l, struct window *w, uint64_t begin_ns, uint64_t end_ns);

/* Hands the package at hand to the workers. Nothing happens where it has no orders. */
void lanes_submit(struct lanes *l);

/*
 * Submits, and returns when every order was carried out. 0, or -ENOMEM where an estimator missed
 * something since the last call; the window's profile says so too.
 */
int lanes_settle(struct lanes *l);

#endif
