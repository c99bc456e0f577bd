/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmpp2: arrivals in bursts as a Markov-modulated Poisson process of two states, fitted to
 * measurements.
 *
 * The process is in one of two states, stays there for an exponentially distributed time, and makes
 * Poisson
 * arrivals at the rate of its state. With the rate of change k = leave[0] + leave[1], the share p
 * of the
 * time in state 0 and the variance v = (rate[0] - rate[1])^2 p (1 - p) of the rate, the index of
 * dispersion
 * for counts over a window t is
 *	I(t) = 1 + A (1 - (1 - exp(-k t)) / (k t)),	A = 2 v / (k mean rate)
 * (Fischer and Meier-Hellstern, The Markov-modulated Poisson process (MMPP) cookbook, Performance
 * Evaluation 18, 1993). Dispersion at several windows gives k and A, the rate gives the mean, and
 * one number
 * stays free, p: it is chosen by the squared coefficient of variation of the times between
 * arrivals, from
 * p -> 0 (rare, high peaks) to the interrupted Poisson process, which is silent in state 1. Without
 * that
 * moment the interrupted process is taken, whose bursts are the longest.
 *
 *         struct mmpp2_aims aims = { .rate_per_s = 1000, .scv = 4, .lag1 = NAN, .window_s = w, .idc
 *  = i, .nr = 4 };
 *         ret = mmpp2_fit(&fit, &aims, &err);     0, or -ERANGE: fit is the nearest, err names what
 *  is met
 *
 * Deterministic, without state; some ten thousand exponentials a fit.
 */
#ifndef ANALYZER_MMPP2_H
#define ANALYZER_MMPP2_H

#include <stddef.h>

#include "base/text/err.h"

struct mmpp2 {
	double rate_per_s[2];  /* arrival rates; [0] >= [1] >= 0 */
	double leave_per_s[2]; /* rates of leaving the state, above 0 */
};

/* This struct holds the measured values; NaN means that a value is not measured. */
struct mmpp2_aims {
	double rate_per_s;
	double scv;  /* of the times between arrivals */
	double lag1; /* their correlation with the next one; only compared, not fitted */
	const double *window_s,
		*idc; /* dispersion at nr windows; NaN and values not above 1 are ignored */
	size_t nr;
};

enum mmpp2_moment {
	MMPP2_RATE = 1u << 0,
	MMPP2_IDC = 1u << 1,  /* at every window within MMPP2_IDC_ERROR */
	MMPP2_SCV = 1u << 2,  /* within MMPP2_SCV_ERROR */
	MMPP2_LAG1 = 1u << 3, /* within MMPP2_LAG1_ERROR, absolute */
};

/*
 * Two states have a single time scale, while measured dispersion over four decades of time has
 * several; so the tolerance is wide.
 */
#define MMPP2_IDC_ERROR	 0.25
#define MMPP2_SCV_ERROR	 0.01
#define MMPP2_LAG1_ERROR 0.05

struct mmpp2_fit {
	struct mmpp2 process;
	unsigned int given, met; /* enum mmpp2_moment */
	double idc_error;	 /* the largest relative error of I(t) */
	double scv, lag1;	 /* values of the fitted process */
};

/*
 * Returns 0: all given values are met. -ERANGE: the process is the nearest one, and err says which
 * moments it meets and which it misses. -EINVAL: there is no rate above 0 or no dispersion above 1,
 * so there is nothing to fit.
 */
int mmpp2_fit(struct mmpp2_fit *out, const struct mmpp2_aims *aims, struct err *err);

double mmpp2_rate_per_s(const struct mmpp2 *m);
/* Returns I(t) for t > 0. */
double mmpp2_idc(const struct mmpp2 *m, double window_s);
/* Return these values of the times between arrivals. */
double mmpp2_scv(const struct mmpp2 *m);
double mmpp2_lag1(const struct mmpp2 *m);

#endif
