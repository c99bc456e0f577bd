/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_fit: parameters of a model that make its times those measured, and how far predictions
 * are.
 *
 * Least squares on the logarithms of times, and of their sum over a round, over the logarithms
 * of the parameters, by Levenberg and Marquardt with differences of 10 %, on simulations of one
 * seed and one length, so that the same parameters give the same times. A list length is a whole
 * number: its effect is a step, which the wide differences bridge. Source: Marquardt, SIAM J.
 * Appl. Math. 11 (1963); Noorshams et al., Enriching Software Architecture Models with
 * Statistical Models for Performance Prediction in Modern Storage Environments, 2014, section
 * 5.2 for the errors.
 */
#ifndef ANALYZER_ARCH_FIT_H
#define ANALYZER_ARCH_FIT_H

#include "analyzer/models/arch/arch_solve.h"
#include "base/table.h"

#define ARCH_FIT_MAX 32 /* parameters */

struct arch_measured {
	const char *name; /* of a time, borrowed from the table */
	double mean_s;
	double per_round; /* how often in a round of the scenario */
	bool io;	  /* filled in by arch_errors(): it is an io action */
	double predicted_s;
};

struct arch_measured_set {
	struct arch_measured *items; /* owned */
	size_t nr;
	const char *source; /* borrowed */
};

/*
 * Columns time, mean_s and, where it is there, per_round (default 1). The table must outlive it.
 * -EINVAL with the row of a time that is not above 0; -ENOMEM.
 */
int arch_measured_read(struct arch_measured_set *out, const struct table *t, struct err *err);
void arch_measured_release(struct arch_measured_set *s);

struct arch_errors {
	double io;	   /* mean |m - p| / m of io actions; NaN without any */
	double end_to_end; /* |sum m - sum p| / sum m over all, by how often they happen */
};

/* Fills in what was predicted. -EINVAL where the model has no such time, or it never happened. */
int arch_errors(struct arch_errors *out, struct arch_measured_set *measured,
		const struct arch_model *m, const struct arch_solution *s, struct err *err);

struct arch_fit_parameter {
	const char *name;
	double low, high; /* 0 < low < high */
	double value;	  /* in: where to begin, in between; out: fitted */
};

struct arch_fit {
	struct arch_fit_parameter *parameters;
	size_t nr; /* 1 to ARCH_FIT_MAX */
	/*
	 * Solves the model with these parameters, always with the same random numbers and for the
	 * same time, and fills in measured (arch_errors()). 0 or -errno with err.
	 */
	int (*predict)(void *ctx, const struct arch_fit_parameter *p, struct arch_errors *e,
		       struct err *err);
	void *ctx;
	struct arch_measured_set *measured;
	unsigned max_rounds;
	/* out */
	unsigned rounds, solutions;
	double rms; /* of ln (predicted / measured), of the sum ten times over */
};

/* 0 or the errors of predict(); the best parameters found are in parameters[].value. */
int arch_fit(struct arch_fit *f, struct err *err);

#endif
