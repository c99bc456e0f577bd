/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic_bursts: arrivals that come in bursts, as a Markov-modulated Poisson process with two states
 * that is fitted to a profile (models/num/mmpp2.h).
 */
#ifndef ANALYZER_MIMIC_BURSTS_H
#define ANALYZER_MIMIC_BURSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/models/num/rng.h"
#include "formats/profile/profile.h"

struct mimic_bursts {
	double on_rate_per_s, off_rate_per_s; /* off: the state between bursts; 0 or more */
	double on_s, off_s;		      /* mean durations of the states, > 0 */
	/* the process has both the dispersion and the variation of the profile */
	bool exact;
};

/*
 * Fits the process with that mean rate whose dispersion is nearest to the known points, by least
 * squares of the relative error of I(t) - 1; points at or below 1 are ignored. Several time scales
 * become one. scv is that of the times between arrivals; if it is NaN, the process has no arrivals
 * between the bursts. Returns false if no point is above 1, or if the rate is not above 0.
 */
bool mimic_bursts_fit(struct mimic_bursts *b, const struct idc_point *idc, size_t nr,
		      double rate_per_s, double scv);
/* Returns the mean rate. */
double mimic_bursts_rate(const struct mimic_bursts *b);

/* This struct holds the state of a sequence of drawn arrivals. */
struct mimic_arrivals {
	struct mimic_bursts bursts;
	struct rng rng;
	double at_s, until_s; /* the current time, and the end of the current state */
	bool on;
};
/* Begins at time 0; the first state is on or off with its stationary probability. */
void mimic_arrivals_begin(struct mimic_arrivals *a, const struct mimic_bursts *b, struct rng rng);
/* Returns the next arrival in seconds since the begin; the times ascend. */
double mimic_arrivals_next(struct mimic_arrivals *a);

#endif
