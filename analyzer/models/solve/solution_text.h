/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution_text: what was found of a net, as blkcast.qpn/1 and as tables for a person.
 *
 * Times are in the net's own unit. What is unknown is null in JSON and a dash on screen.
 */
#ifndef ANALYZER_SOLUTION_TEXT_H
#define ANALYZER_SOLUTION_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/sim/output.h"

/* What is said of the run as a whole. */
struct solution_facts {
	const char *method; /* "batch-means", "replications", "mva", "mva-approximate" */
	uint64_t seed, events;
	double seconds, model_time, warm_up; /* warm_up NaN where there was no simulation */
	bool no_steady_state;		     /* some queue grows without end: nothing is known */
	double precision;		     /* reached; NaN where there was no simulation */
};

/* NULL out of memory; the caller's. */
json_t *solution_json(const struct net *n, const struct estimate *e,
		      const struct solution_facts *f);
/* 0 or -ENOMEM. */
int solution_print(const struct net *n, const struct estimate *e, FILE *out);

#endif
