/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_solve: solves a net as a person asks: by simulation, mean value analysis, bounds or transient
 * analysis, with settings of its parameters, once or for every point of a sweep, whose points a
 * checkpoint may keep.
 *
 *	struct net_solve s = { .teller = teller, .path = "mm1.yaml", .run = SOLVE_DEFAULTS };
 *
 *	ret = net_solve(&s, &err);
 *	... s.answer, or s.points of a sweep ...
 *	net_solve_release(&s);
 */
#ifndef ANALYZER_MODELS_SOLVE_NET_SOLVE_H
#define ANALYZER_MODELS_SOLVE_NET_SOLVE_H

#include <jansson.h>

#include "analyzer/answer/teller.h"
#include "analyzer/models/net/net_settings.h"
#include "analyzer/models/solve/solution_answer.h"
#include "analyzer/models/solve/solve.h"
#include "analyzer/models/solve/sweep.h"
#include "analyzer/models/solve/sweep_record.h"

enum net_method {
	NET_BATCH_MEANS,
	NET_REPLICATIONS,
	NET_MVA,
	NET_MVA_APPROXIMATE,
	NET_BOUNDS,
	NET_TRANSIENT,
};
extern const char *const net_methods[]; /* their names, ended by NULL */

struct net_solve {
	const struct teller *teller;
	const char *path;	     /* of the net, YAML or .qpe of QPME */
	struct word_list set, sweep; /* NAME=VALUE; NAME=FROM:TO:STEP */
	struct word_list wanted;     /* names whose precision counts (solve.h) */
	enum net_method method;
	const char *checkpoint; /* file of a sweep, or NULL */
	struct solve_options run;
	unsigned int nr_points; /* points of the transient analysis */
	bool as_list;		/* a sweep makes a list of solutions instead of one answer */
	/*
	 * These texts end the notes about a run that is long, and about one whose length is
	 * unknown: how the caller is told otherwise. They may be NULL.
	 */
	const char *long_hint, *length_hint;
	/* The members below are results. */
	struct answer *answer; /* owned; NULL: none */
	json_t *points;	       /* owned; the list of a sweep, or NULL */
	bool unsteady;	       /* a point of a sweep has no steady state */
	/* These members belong to a sweep. */
	struct sweeps values;
	size_t point; /* the one that is solved now */
	struct sweep_record record;
	struct answer_table *places, *probes; /* parts of the answer */
};

/*
 * Returns 0 or -errno. Without a steady state it returns -EOVERFLOW, and the answer has no number.
 * Release s whatever this returns.
 */
int net_solve(struct net_solve *s, struct err *err);
void net_solve_release(struct net_solve *s);

/*
 * These functions are in net_sweep.c and solve the points of a sweep. The first one makes the
 * tables, or the list. Returns 0 or -ENOMEM.
 */
int net_sweep_begin(struct net_solve *s);
/* Adds the values of a point to the settings. Returns 0 or -ENOMEM. */
int net_sweep_set(const struct net_solve *s, size_t point, struct net_settings *settings);
/* Adds the solution of s->point, and records it. Returns 0 or -errno. */
int net_sweep_add(struct net_solve *s, const struct net *n, struct estimate *e,
		  struct solution_facts *f, struct err *err);
/* Adds s->point as it was recorded. Returns 1, 0 where it was not, or -ENOMEM. */
int net_sweep_recall(struct net_solve *s, const struct net *n, const struct solution_facts *known);

#endif
