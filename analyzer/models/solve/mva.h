/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mva: solves closed product-form nets by mean value analysis (Reiser and Lavenberg, Mean-value
 * analysis of closed multichain queueing networks, JACM 27, 1980; Baskett, Chandy, Muntz and
 * Palacios, Open, closed, and mixed networks of queues with different classes of customers, JACM
 * 22, 1975).
 *
 * The exact method goes over all populations up to that of the net. Queues of several servers use
 * their marginal probabilities, or convolution (convolution.h) where one chain has all tokens.
 * Memory and time are proportional to the product of (population + 1) over the chains. The
 * approximate method is Schweitzer's fixed point. It treats a queue of k servers by Seidmann's
 * split into one server of k times the speed and a delay. Its results are about 5 % from the exact
 * ones in the nets that were measured, and farther if several classes share few tokens. The result
 * says which method was used.
 *
 * A chain is a set of colours and places through which tokens move; a token may change its colour
 * on the way.
 */
#ifndef ANALYZER_MVA_H
#define ANALYZER_MVA_H

#include <stdbool.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/sim/output.h"

/* The exact recursion keeps at most this many numbers. Larger nets are solved approximately. */
#define MVA_MAX_NUMBERS 40000000

/* This struct is a closed network of queues in the form that the recursion needs. */
struct product_form {
	uint32_t nr_chains, nr_stations;
	uint64_t *population;	   /* owned, like all arrays here; by chain */
	double *demand;		   /* chain x station: visits times service */
	uint32_t *servers;	   /* by station; 0 means infinitely many */
	uint32_t *station_queue;   /* by station: index of the queue in the net */
	double *visits;		   /* by slot, relative within its chain */
	uint32_t *chain, *station; /* by slot; station is NET_NONE if no time passes in the slot */
};

/*
 * Converts a net. Returns 0, -EINVAL with the place or transition that is not of product form, or
 * -ENOMEM. A zeroed struct needs no release.
 */
int product_form_make(struct product_form *p, const struct net *n, struct err *err);
void product_form_release(struct product_form *p);

/*
 * Makes the product form and solves it, and returns estimates for the slots of the net: means
 * without intervals. Probes stay unknown.
 */
int mva_solve(struct estimate *e, bool *exact, const struct net *n, bool approximate,
	      struct err *err);

#endif
