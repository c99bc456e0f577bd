/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_fit: fits parameters of a model so that its times agree with measured ones, and computes
 * the errors of predictions.
 *
 * The method is least squares on the logarithms of the times, and of their sum over a round, as a
 * function of the logarithms of the parameters. Levenberg and Marquardt's algorithm uses
 * differences of 10 %. All simulations have the same random numbers and the same length, so that
 * the same parameters give the same times. The length of a status list is a whole number, and its
 * effect has steps; the differences are wide enough to cross them. Sources: Marquardt, An
 * algorithm for least-squares estimation of nonlinear parameters, SIAM J. Appl. Math. 11, 1963;
 * for the errors, Noorshams et al., Enriching Software Architecture Models with Statistical Models
 * for Performance Prediction in Modern Storage Environments, 2014, section 5.2.
 */
#ifndef ANALYZER_ARCH_FIT_H
#define ANALYZER_ARCH_FIT_H

#include "analyzer/models/arch/arch_solve.h"
#include "base/data/table.h"

#define ARCH_FIT_MAX 32 /* most parameters */

struct arch_measured {
	const char *name; /* name of a time, borrowed from the table */
	double mean_s;
	double per_round; /* how often the time occurs in a round of the scenario */
	bool io;	  /* set by arch_errors(): true for an io action */
	double predicted_s;
};

struct arch_measured_set {
	struct arch_measured *items; /* owned */
	size_t nr;
	const char *source; /* borrowed */
};

/*
 * Reads the columns time, mean_s and, if present, per_round (default 1). The table must outlive
 * out. Returns 0, -EINVAL with the row of a time that is not above 0, or -ENOMEM.
 */
int arch_measured_read(struct arch_measured_set *out, const struct table *t, struct err *err);
void arch_measured_release(struct arch_measured_set *s);

struct arch_errors {
	double io; /* mean of |m - p| / m over the io actions; NaN if there are none */
	/* relative error (as above) of the sum over all times, each as often as it occurs */
	double end_to_end;
};

/*
 * Sets the predicted times. Returns -EINVAL if the model does not have such a time, or the time
 * never occurred.
 */
int arch_errors(struct arch_errors *out, struct arch_measured_set *measured,
		const struct arch_model *m, const struct arch_solution *s, struct err *err);

struct arch_fit_parameter {
	const char *name;
	double low, high; /* 0 < low < high */
	double value;	  /* input: start value between low and high; output: fitted value */
};

struct arch_fit {
	struct arch_fit_parameter *parameters;
	size_t nr; /* from 1 to ARCH_FIT_MAX */
	/*
	 * Solves the model with these parameters, always with the same random numbers and for the
	 * same model time, and sets the predicted times (arch_errors()). Returns 0 or -errno with
	 * err.
	 */
	int (*predict)(void *ctx, const struct arch_fit_parameter *p, struct arch_errors *e,
		       struct err *err);
	void *ctx;
	struct arch_measured_set *measured;
	unsigned max_rounds;
	/* The members below are results. */
	unsigned rounds, solutions;
	double rms; /* RMS of ln (predicted / measured); the sum counts ten times */
};

/* Returns 0 or an error of predict(). parameters[].value holds the best parameters found. */
int arch_fit(struct arch_fit *f, struct err *err);

#endif
