/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic_bursts: arrivals in bursts as an interrupted Poisson process: Poisson at one rate while it
 * is on, nothing while it is off, both for exponentially distributed times. Its index of dispersion
 * for counts over a window t is
 *	I(t) = 1 + A (1 - (1 - exp(-k t)) / (k t)),	k = 1 / on + 1 / off,	A = 2 rate off^2 / (on + off)
 * (Fischer and Meier-Hellstern, The Markov-modulated Poisson process cookbook, Performance
 * Evaluation 18, 1993, for a rate of 0 in the second state; times are means, rate is the mean rate).
 */
#ifndef ANALYZER_MIMIC_BURSTS_H
#define ANALYZER_MIMIC_BURSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/models/num/rng.h"
#include "formats/profile/profile.h"

struct mimic_bursts {
	double on_rate_per_s;
	double on_s, off_s; /* means, > 0 */
};

/*
 * The process of that mean rate whose I(t) is nearest to the known points, by least squares of the
 * relative error of I(t) - 1; points at or below 1 are passed over. Several time scales become one.
 * false: no point is above 1, or rate is not above 0.
 */
bool mimic_bursts_fit(struct mimic_bursts *b, const struct idc_point *idc, size_t nr,
		      double rate_per_s);
/* The mean rate. */
double mimic_bursts_rate(const struct mimic_bursts *b);
/* I(t) for t > 0. */
double mimic_bursts_idc(const struct mimic_bursts *b, double window_s);

/* Draws arrivals, one after the other. */
struct mimic_arrivals {
	struct mimic_bursts bursts;
	struct rng rng;
	double at_s, on_until_s;
};
/* Begins at 0, on or off as likely as each is. */
void mimic_arrivals_begin(struct mimic_arrivals *a, const struct mimic_bursts *b, struct rng rng);
/* Seconds since the begin, ascending. */
double mimic_arrivals_next(struct mimic_arrivals *a);

#endif
