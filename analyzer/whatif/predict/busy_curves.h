/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_curves: this module predicts response times of clients that think, from regression models
 * that were measured with clients that never think.
 *
 * For the mix, sizes and pattern of some loads, the models of read_s and write_s give the mean
 * response times with 1, 2, ... busy clients, up to the largest number in the training data. The
 * model of another point (read_p95_s) gives that point. interactive.h computes from these curves
 * the times of clients that think. Each load's think time is Z = (N - in flight) / rate where the
 * load was characterized, by the interactive response-time law. The models of read_p95_s and
 * write_p95_s, if they exist, tell how much service times vary, because a client alone does not
 * wait for others. Without them service times count as exponential. The ends of an interval are
 * computed from the same ends of all models' intervals.
 */
#ifndef ANALYZER_BUSY_CURVES_H
#define ANALYZER_BUSY_CURVES_H

#include "analyzer/whatif/predict/interactive.h"
#include "analyzer/whatif/predict/predictor.h"

#define BUSY_CLIENTS_MAX 1024
/* If more than this share of the requests find more clients than were measured, it is
 * extrapolation. */
#define BUSY_BEYOND 0.05

enum busy_end {
	BUSY_PREDICTED,
	BUSY_LOW,
	BUSY_HIGH,
	BUSY_NR_ENDS,
};

/* A zeroed one is empty. */
struct busy_curves {
	size_t nr; /* number of busy clients; 0: the models cannot tell */
	/* of all loads together; the think time is the mean over clients */
	double clients, think_s;
	const char *variable; /* the model's variable of clients; borrowed */
	/* a variable that lies outside the training range, or NULL; borrowed */
	const char *outside;
	/* squared coefficient of variation of the service time, at most 1 */
	double scv;
	double p;			 /* probability of the point (0.95 for p95); 0: the mean */
	double *all_s[BUSY_NR_ENDS];	 /* [nr] mean over all requests; owned */
	double *side_s[2][BUSY_NR_ENDS]; /* mean of reads, of writes; NULL: no such model */
	/* the point; NULL: not asked for, no such model, or p is 0 */
	double *point_s[2][BUSY_NR_ENDS];
	struct interactive_gamma *gammas[2][BUSY_NR_ENDS];
};

void busy_curves_release(struct busy_curves *c);
/*
 * Sets c->nr to 0 and returns 0 if no client thinks, if a model of reads or writes is missing, if
 * such a model has no variable of clients or has one of think time, or if the caller has set
 * clients. Returns -EINVAL for more than INTERACTIVE_CLIENTS_MAX clients, -ENOMEM, and the errors
 * of the predictor.
 */
int busy_curves_make(struct busy_curves *c, struct predictor *p, const struct predictor_ask *ask,
		     const struct load_facts *f, size_t nr, struct err *err);
/*
 * Returns whether the curves of a side are known; only then may busy_curves_ask() be called for it.
 */
bool busy_curves_has(const struct busy_curves *c, int side);
/*
 * Gives the answer for the loads f[nr] with their clients and think times multiplied, as seen by
 * one side: the prediction and the low and high end of its interval, which are NaN if the models
 * have no intervals. *beyond is the probability that a request finds more busy clients than were
 * measured. A load of less than one client counts as one client. Returns 0, -ENOMEM or -EINVAL.
 */
int busy_curves_ask(const struct busy_curves *c, const struct load_facts *f, size_t nr,
		    double clients, double think, int side, double out[BUSY_NR_ENDS],
		    double *beyond);

#endif
