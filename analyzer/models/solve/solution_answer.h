/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution_answer: presents the solution of a net as an answer that can be shown.
 *
 * Times are in the net's own unit of time.
 */
#ifndef ANALYZER_SOLUTION_ANSWER_H
#define ANALYZER_SOLUTION_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/models/net/net.h"
#include "analyzer/models/sim/output.h"
#include "analyzer/models/solve/bounds.h"
#include "analyzer/models/solve/transient.h"

/* Facts about how the solution was found. */
struct solution_facts {
	const char *method; /* "batch-means", "replications", "mva", "mva-approximate" */
	uint64_t seed, events;
	double seconds, model_time, warm_up; /* warm_up is NaN if there was no simulation */
	bool no_steady_state; /* some queue grows without end, so that no value is known */
	double precision;     /* the precision that was reached; NaN if there was no simulation */
};

/* Returns the answer "blkcast.qpn/1", or NULL if there is no memory. */
struct answer *solution_answer(const struct net *n, const struct estimate *e,
			       const struct solution_facts *f);

/*
 * These are the columns and cells of one line for each colour in each place, and for each probe. A
 * table of several solutions puts its own columns before them.
 */
#define SOLUTION_PLACE_COLUMNS 9
#define SOLUTION_PROBE_COLUMNS 6
extern const struct answer_column solution_place_columns[SOLUTION_PLACE_COLUMNS];
extern const struct answer_column solution_probe_columns[SOLUTION_PROBE_COLUMNS];
void solution_place_cells(struct answer_table *t, const struct net *n, const struct estimate *e,
			  uint32_t slot);
void solution_probe_cells(struct answer_table *t, const struct net *n, const struct estimate *e,
			  uint32_t probe);
/* Returns the bounds of the throughput at every place and colour. b has one item per chain of p. */
struct answer *bounds_answer(const struct net *n, const struct product_form *p,
			     const struct chain_bounds *b);
/* Returns the course of every place and colour over the model time. */
struct answer *transient_answer(const struct net *n, const struct transient *t,
				const struct transient_options *o);

#endif
