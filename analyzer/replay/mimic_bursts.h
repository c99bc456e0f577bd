/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic_bursts: arrivals in bursts, one after the other, as a Markov-modulated Poisson process of two
 * states that is fitted to a profile (models/num/mmpp2.h).
 */
#ifndef ANALYZER_MIMIC_BURSTS_H
#define ANALYZER_MIMIC_BURSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/models/num/rng.h"
#include "formats/profile/profile.h"

struct mimic_bursts {
	double on_rate_per_s, off_rate_per_s; /* off: between the bursts, 0 or more */
	double on_s, off_s;		      /* means, > 0 */
	bool exact;			      /* dispersion and variation are met */
};

/*
 * The process of that mean rate whose dispersion is nearest to the known points, by least squares of the
 * relative error of I(t) - 1; points at or below 1 are passed over. Several time scales become one. scv: of
 * the times between arrivals; NaN leaves nothing between the bursts. false: no point is above 1, or rate is
 * not above 0.
 */
bool mimic_bursts_fit(struct mimic_bursts *b, const struct idc_point *idc, size_t nr,
		      double rate_per_s, double scv);
/* The mean rate. */
double mimic_bursts_rate(const struct mimic_bursts *b);
/* I(t) for t > 0. */
double mimic_bursts_idc(const struct mimic_bursts *b, double window_s);

/* Draws arrivals, one after the other. */
struct mimic_arrivals {
	struct mimic_bursts bursts;
	struct rng rng;
	double at_s, until_s; /* now, and the end of the state */
	bool on;
};
/* Begins at 0, on or off as likely as each is. */
void mimic_arrivals_begin(struct mimic_arrivals *a, const struct mimic_bursts *b, struct rng rng);
/* Seconds since the begin, ascending. */
double mimic_arrivals_next(struct mimic_arrivals *a);

#endif
