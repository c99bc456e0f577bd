/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mva: closed product-form nets by mean value analysis (Reiser, Lavenberg 1980; BCMP 1975).
 *
 * Exact: over all populations up to the net's, multi-server queues by their marginal
 * probabilities; memory and time are the product of (population + 1) of the chains. Approximate:
 * Schweitzer's fixed point, multi-server queues by Seidmann's split into a server of the k-th part
 * and a delay: some 5 % from exact in the nets measured, more where
 * several classes share few tokens. Which one was used is in the result.
 *
 * A chain is a set of colours and places that tokens wander through; colours may change on the way.
 */
#ifndef ANALYZER_MVA_H
#define ANALYZER_MVA_H

#include <stdbool.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/sim/output.h"

/* Numbers kept by the exact recursion; beyond it, the approximation. */
#define MVA_MAX_NUMBERS 40000000

/* A closed network of queues, as the recursion takes it. */
struct product_form {
	uint32_t nr_chains, nr_stations;
	uint64_t *population;	   /* owned, as all: by chain */
	double *demand;		   /* chain x station: visits times service */
	uint32_t *servers;	   /* by station; 0: infinite */
	uint32_t *station_queue;   /* by station: queue of the net */
	double *visits;		   /* by slot, relative within its chain */
	uint32_t *chain, *station; /* by slot; station NET_NONE: no time passes there */
};

/* What the recursion gives. */
struct mva_result {
	double *throughput; /* owned: by chain, per visit ratio 1 */
	double *population; /* owned: chain x station */
	bool exact;
};

/*
 * 0, or -EINVAL with the place or transition that is not product-form, -ENOMEM. A zeroed struct is
 * released for free.
 */
int product_form_make(struct product_form *p, const struct net *n, struct err *err);
void product_form_release(struct product_form *p);

/* approximate: even where exact would fit. 0, -ENOMEM, or -ERANGE where rounding ruined it. */
int mva_run(struct mva_result *r, const struct product_form *p, bool approximate);
void mva_result_release(struct mva_result *r);

/* Both, as estimates of the net's slots: means without intervals; probes stay unknown. */
int mva_solve(struct estimate *e, bool *exact, const struct net *n, bool approximate,
	      struct err *err);

#endif
