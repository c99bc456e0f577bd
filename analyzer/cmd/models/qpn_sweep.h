/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_sweep: collects for --sweep of blkcast qpn solve the steady states of a net for values of its
 * parameters, and prints them as one table or as an array of JSON.
 *
 *	struct qpn_sweep s = { 0 };
 *	ret = arch_sweeps_read(&s.values, &words, &err);
 *	ret = qpn_sweep_begin(&s, path, json);
 *	for each s.point: qpn_sweep_set(), solve, qpn_sweep_add()
 *	ret = qpn_sweep_show(&s, cli, &err);
 *	qpn_sweep_release(&s);
 */
#ifndef ANALYZER_CMD_MODELS_QPN_SWEEP_H
#define ANALYZER_CMD_MODELS_QPN_SWEEP_H

#include <jansson.h>

#include "analyzer/cmd/models/arch_run.h"
#include "analyzer/cmd/models/qpn_verbs.h"
#include "analyzer/cmd/models/sweep_record.h"
#include "analyzer/models/solve/solution_answer.h"

#define QPN_MVA		    "mva"
#define QPN_MVA_APPROXIMATE "mva-approximate"

struct qpn_sweep {
	struct arch_sweeps values;
	size_t point; /* the one that is solved now */
	struct sweep_record record;
	/* The members below are owned. */
	json_t *points; /* NULL: tables are filled instead */
	struct answer *answer;
	struct answer_table *places, *probes;
};

/* Makes the tables, or the array of JSON; path names the net. Returns 0 or -ENOMEM. */
int qpn_sweep_begin(struct qpn_sweep *s, const char *path, bool json);
/* Adds the values of a point. Returns 0 or -ENOMEM. */
int qpn_sweep_set(const struct qpn_sweep *s, size_t point, struct qpn_settings *settings);
/* Adds the solution of s->point, and records it. Returns 0 or -errno. */
int qpn_sweep_add(struct qpn_sweep *s, const struct net *n, struct estimate *e,
		  struct solution_facts *f, struct err *err);
/* Adds s->point as it was recorded. Returns 1, 0 where it was not, or -ENOMEM. */
int qpn_sweep_recall(struct qpn_sweep *s, const struct net *n, const struct solution_facts *known);
/* Prints what was added. Returns 0, or -errno, with one line in err where the answer has one. */
int qpn_sweep_show(struct qpn_sweep *s, const struct cli *cli, struct err *err);
void qpn_sweep_release(struct qpn_sweep *s);

#endif
