/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_curves: what regression models that know clients that never think say of clients that do.
 *
 * From the models of read_s and write_s come the mean response times with 1, 2, ... busy clients, up
 * to the most of the training, for the mix, sizes and pattern of some loads; from the model of
 * another point (read_p95_s) that point. interactive.h makes of these what clients that think see;
 * each load's think time is Z = (N - in flight) / rate where it was characterized, by the interactive
 * response-time law. How regular service is comes from the models of read_p95_s and write_p95_s, where
 * they are: a client alone waits for nobody. Without them it is taken to be exponential. The ends of an
 * interval are what the ends of all models' intervals give.
 */
#ifndef ANALYZER_BUSY_CURVES_H
#define ANALYZER_BUSY_CURVES_H

#include "analyzer/whatif/interactive.h"
#include "analyzer/whatif/predictor.h"

#define BUSY_CLIENTS_MAX 1024
#define BUSY_BEYOND	 0.05 /* of the requests past what was measured: extrapolated */

enum busy_end {
	BUSY_PREDICTED,
	BUSY_LOW,
	BUSY_HIGH,
	BUSY_NR_ENDS,
};

/* A zeroed one is empty. */
struct busy_curves {
	size_t nr;		     /* of busy clients; 0: the models cannot tell */
	double clients, think_s;     /* of all loads; the think time is the mean by clients */
	const char *variable;	     /* of clients; borrowed from a model */
	const char *outside;	     /* a variable outside the training range, or NULL; borrowed */
	double scv;		     /* squared coefficient of variation of service, up to 1 */
	double p;		     /* of the point; 0: the mean */
	double *all_s[BUSY_NR_ENDS]; /* [nr] mean over all requests; owned */
	double *side_s[2][BUSY_NR_ENDS];  /* mean of reads, of writes; NULL: not there */
	double *point_s[2][BUSY_NR_ENDS]; /* of the point; NULL: not asked, no such model, or p 0 */
	struct interactive_gamma *gammas[2][BUSY_NR_ENDS];
};

void busy_curves_release(struct busy_curves *c);
/*
 * Nothing thinks, a model of reads or writes is missing, knows no clients, knows think time, or the
 * caller has set clients: c->nr 0, and 0. -EINVAL: more than INTERACTIVE_CLIENTS_MAX clients; -ENOMEM,
 * and the errors of the predictor.
 */
int busy_curves_make(struct busy_curves *c, struct predictor *p, const struct predictor_ask *ask,
		     const struct load_facts *f, size_t nr, struct err *err);
/* Whether a side can be told; only then it is asked for. */
bool busy_curves_has(const struct busy_curves *c, int side);
/*
 * The loads f[nr] with their clients and think times multiplied, as the side sees it: predicted, low
 * and high; the last two NaN where models have no intervals. *beyond: the probability that a request
 * is past the most that was measured. A load of less than one client counts as one. -ENOMEM, -EINVAL.
 */
int busy_curves_ask(const struct busy_curves *c, const struct load_facts *f, size_t nr,
		    double clients, double think, int side, double out[BUSY_NR_ENDS],
		    double *beyond);

#endif
