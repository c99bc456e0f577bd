/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_sim: discrete-event simulation of a queueing Petri net.
 *
 * Immediate transitions fire before time goes on: among those enabled, the highest priority; there
 * by transition weight, then by the weight of the enabled modes. Timed transitions race; one that
 * is disabled at the end of an instant forgets its time. Of several tokens of a colour in a
 * depository the one that came first leaves.
 *
 * Each slot's services, each timed transition and the choice of modes draw from streams of their
 * own: two runs of one seed that differ in a parameter share the rest (common random numbers).
 *
 * What a token carries (probes) goes on to the tokens of its colour that the firing makes, to each
 * of them where it forks; where it joins others of its colour, one that carries nothing takes over
 * what another carries. Where none of its colour is made, it goes to the first new one that has no
 * other origin.
 *
 * One simulation belongs to one thread; many may share a net. Cost: O(log n) per event; memory is
 * bounded by the tokens.
 */
#ifndef ANALYZER_QPN_SIM_H
#define ANALYZER_QPN_SIM_H

#include <stdint.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/num/parallel.h"
#include "analyzer/models/sim/qhist.h"
#include "base/text/err.h"

/*
 * A simulation assumes that more firings in one instant than this, plus 16 for each token, never
 * end.
 */
#define QPN_SIM_MAX_FIRINGS 1000000
/* A net with this many tokens is assumed to be unstable; usually this is detected far earlier. */
#define QPN_SIM_MAX_TOKENS (4 * NET_MAX_TOKENS)

struct qpn_sim;

/* This struct holds what happened in one slot since the last collection. */
struct slot_sums {
	double population; /* integral over time of the tokens in the place */
	double in_queue;   /* like the member above, for tokens in the queue alone */
	double residence;  /* sum of the times in the place, over the tokens that left it */
	/* sum of the times from entry to the end of service, over the tokens that were served */
	double queueing;
	double busy;	     /* sum of the service times of tokens that were served */
	double left, served; /* tokens that left the place, and tokens that were served */
};

struct probe_sums {
	double time, nr;
};

/* This struct is a stretch of model time. A zeroed struct is empty. */
struct qpn_sample {
	double duration;
	uint64_t events; /* number of service completions and timed firings */
	uint32_t nr_slots, nr_probes;
	struct slot_sums *slots; /* owned, like all below */
	struct probe_sums *probes;
	struct qhist *residence; /* one per slot */
	struct qhist *times;	 /* one per probe */
};

/*
 * The net is borrowed and must outlive the simulation. Returns 0, -ENOMEM, or -EINVAL with a line
 * in err where no run can begin.
 */
int qpn_sim_new(struct qpn_sim **out, const struct net *n, uint64_t seed, struct err *err);
void qpn_sim_free(struct qpn_sim *s);

/*
 * Runs until model time `until`, or until nr_events more events have happened (UINT64_MAX: no
 * limit). Returns 0; -EDEADLK: nothing will ever happen again (err says where the tokens are);
 * -ELOOP: immediate transitions fire without end (err names them); -EOVERFLOW: there are more
 * tokens than QPN_SIM_MAX_TOKENS (err names the place with most); -ENOMEM.
 */
int qpn_sim_run(struct qpn_sim *s, double until, uint64_t nr_events, struct err *err);
double qpn_sim_now(const struct qpn_sim *s);

/* Hands over what was gathered since the last call, and begins again. Returns 0 or -ENOMEM. */
int qpn_sim_collect(struct qpn_sim *s, struct qpn_sample *out);

int qpn_sample_init(struct qpn_sample *x, const struct net *n);
void qpn_sample_release(struct qpn_sample *x);
/* Adds src to dst. Returns 0 or -ENOMEM. */
int qpn_sample_merge(struct qpn_sample *dst, const struct qpn_sample *src);
/* Adds all of src but the histograms, so that the means are whole and the quantiles are not. */
void qpn_sample_merge_sums(struct qpn_sample *dst, const struct qpn_sample *src);

/* Names the parts of a sample, as struct parallel says. A received sample was zeroed before. */
int qpn_sample_pieces(struct qpn_sample *x, const struct net *n, struct parallel_bytes *b);

#endif
