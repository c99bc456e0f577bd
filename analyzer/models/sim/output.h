/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output: estimates for a net from samples of its simulation, which are batches of one run or whole
 * replications.
 *
 * Every mean is a ratio of sums (time integral over time, residence over tokens, tokens over time).
 * Its interval comes from the residuals of the samples (Law, Simulation Modeling and Analysis,
 * section 9.5; Student's t). A sample must be long compared with the net's memory;
 * sample_correlation() shows whether it is. The interval of a quantile is the range of quantiles of
 * the merged histogram between the ends of the interval of the share of values below it, which
 * needs no density.
 */
#ifndef ANALYZER_OUTPUT_H
#define ANALYZER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/num/checkpoint.h"
#include "analyzer/models/sim/interval.h"
#include "analyzer/models/sim/qpn_sim.h"

struct slot_estimate {
	struct interval population; /* tokens in the place */
	/* in the queue of the place alone; NaN for an ordinary place */
	struct interval queue_population, queue_time;
	struct time_estimate residence;
	struct interval throughput; /* tokens that leave, per unit of time */
	/* share of all servers that this colour keeps busy; NaN where it has no meaning */
	double utilization;
	double nr_left; /* tokens that left the place in all samples */
};

struct probe_estimate {
	struct time_estimate time;
	double nr;
};

struct estimate {
	struct slot_estimate *slots; /* owned */
	struct probe_estimate *probes;
	uint32_t nr_slots, nr_probes;
};

/*
 * Makes estimates from nr >= 2 samples. Returns 0 or -ENOMEM. O(nr * slots * buckets); without
 * quantiles, which are NaN then, O(nr * slots).
 */
int estimate_make(struct estimate *e, const struct net *n, const struct qpn_sample *x, size_t nr,
		  bool quantiles);
/*
 * Makes estimates in which every number is NaN, as for a net without a steady state. Returns 0 or
 * -ENOMEM.
 */
int estimate_make_unknown(struct estimate *e, const struct net *n);
void estimate_release(struct estimate *e);
/* Names all numbers, to record them or to take them from a record. */
void estimate_walk(struct estimate *e, struct checkpoint_values *v);

/* This struct holds the result that is known with the least precision. */
struct estimate_limit {
	double width; /* relative half-width; infinite where nothing is known yet */
	/*
	 * The width to expect of other samples of this length. A few observations show their
	 * variance poorly, so this is drawn to the width that tokens which come at random and stay
	 * for exponential times give as many observations. It foretells how long a run takes.
	 */
	double expected;
	const char *place;  /* or the name of a probe; NULL where no width is above 0 */
	const char *colour; /* NULL where the result is that of a probe */
	const char *what;   /* "throughput", "population" or "time" */
};

/*
 * Finds the largest relative half-width of the results: population and residence of queueing
 * places, throughput of all, and probes; or only those of wanted[] (names of places, of probes, or
 * PLACE.COLOUR; 0 entries: all). With quantiles, those of residence and probes count too, by the
 * farther end. A colour that never left its place is skipped, unless it is wanted as PLACE.COLOUR:
 * then its width is infinite. A width of NaN counts as infinite. The names are those of the net.
 */
struct estimate_limit estimate_limit(const struct estimate *e, const struct net *n,
				     const char *const *wanted, size_t nr_wanted, bool quantiles);
/*
 * Does the same for all results, population and residence of ordinary places among them. place is
 * NULL and the width infinite if no token left any place.
 */
struct estimate_limit estimate_limit_of_all(const struct estimate *e, const struct net *n);
/* Returns whether a place, a colour of a place as PLACE.COLOUR, or a probe has this name. */
bool estimate_has_name(const struct net *n, const char *name);

/*
 * Returns how many batches to leave out at the beginning: MSER (White, An effective truncation
 * heuristic for bias reduction in simulation output, 1997) on the population of every slot, the
 * largest of all, at most half of them.
 */
size_t sample_warm_up(const struct qpn_sample *x, size_t nr);
/*
 * Returns the largest lag-1 autocorrelation of any slot's mean population; 0 for fewer than 4
 * samples.
 */
double sample_correlation(const struct qpn_sample *x, size_t nr);

#endif
