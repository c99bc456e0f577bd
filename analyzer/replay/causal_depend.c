// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_depend.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "formats/histogram.h"

/*
 * Requests that would have been sent: fewer tell nothing. If 10 are expected of an independent
 * lane, 1 or none comes with a probability of 0.0005; if 20 are expected, 3 or fewer come with one
 * of 0.000003.
 */
#define EXPECTED_LEAST 10.0
#define EXPECTED_BUSY  20.0
#define SENT_MOST      0.2 /* at most this share of those expected, if the lane depends */
/*
 * The dependence of a lane is found from this many of its requests; further ones are not looked at.
 * The shares above are then known to a few percent wherever they matter, and a trace of days costs
 * no more than one of minutes.
 */
#define DEPEND_MOST 10000
/*
 * Think times are constant if the 90th percentile is at most this many times the 10th. docs/studies
 * compares this value with no other.
 */
#define CONSTANT_RATIO 1.15

/*
 * A lane follows completions of others if the number of its requests that come directly after one
 * is above FOLLOWS_FACTOR times the number that would do so by chance, and also FOLLOWS_SIGMAS
 * standard deviations above that number. At a factor of two, at least half of these requests are no
 * coincidence.
 */
#define FOLLOWS_FACTOR 2.0
#define FOLLOWS_SIGMAS 5.0
#define FOLLOWS_CHANCE 0.001

/* This struct is a walk over a lane's arrivals and completions in order of time. */
struct walk {
	const struct request *r;
	const struct causal_span *s;
	size_t nr_sent, nr_done;
};

/* Gives the next event; false if there is none. */
static bool causal_depend_next(const struct walk *w, uint64_t *ns, bool *sends)
{
	uint64_t sent = w->nr_sent < w->s->nr ? w->r[w->nr_sent].arrival_ns : UINT64_MAX;
	uint64_t done = w->nr_done < w->s->nr ? w->s->ends[w->nr_done].ns : UINT64_MAX;

	*sends = sent < done || w->nr_sent == w->nr_done;
	*ns = *sends ? sent : done;
	return w->nr_done < w->s->nr;
}

static void causal_depend_take(struct walk *w, bool sends)
{
	if (sends)
		w->nr_sent++;
	else
		w->nr_done++;
}

/*
 * This struct holds the time of a lane with nothing under way, and the number of requests sent in
 * that time.
 */
struct thinking {
	double ns, nr;
};

static struct walk walk_of(const struct causal_times *t, size_t l)
{
	return (struct walk){ .r = &t->requests[t->lanes[l].first], .s = &t->lanes[l] };
}

/* Sums up a lane's think times, and adds each to h. Returns 0 or -ENOMEM. */
static int think_of(const struct causal_times *t, size_t l, struct thinking *out,
		    struct histogram *h)
{
	struct walk w = walk_of(t, l);
	uint64_t ns, idle_ns = 0;
	bool sends, idle = false;
	int ret = 0;

	*out = (struct thinking){ 0, 0 };
	while (w.nr_sent < DEPEND_MOST && causal_depend_next(&w, &ns, &sends) && !ret) {
		if (sends && idle) {
			out->ns += (double)(ns - idle_ns);
			out->nr++;
			ret = histogram_add(h, ns - idle_ns);
		}
		causal_depend_take(&w, sends);
		idle = w.nr_sent == w.nr_done;
		idle_ns = ns;
	}
	return ret;
}

/*
 * Sums up the lane's think times while `other` had requests under way (*busy), and while `other`
 * was stuck (*stuck): it had requests under way, and had no event for the lane's mean think time.
 * `always` has all think times of the lane. The walk ends after DEPEND_MOST requests.
 */
static void think_stuck(const struct causal_times *t, size_t l, size_t other,
			const struct thinking *always, struct thinking *busy,
			struct thinking *stuck)
{
	uint64_t patience_ns = (uint64_t)(always->ns / always->nr);
	struct walk a = walk_of(t, l), b = walk_of(t, other);
	uint64_t at = 0, b_last = 0, a_ns, b_ns;
	bool a_sends, b_sends;
	bool a_goes_on = causal_depend_next(&a, &a_ns, &a_sends);
	bool b_goes_on = causal_depend_next(&b, &b_ns, &b_sends);

	*busy = *stuck = (struct thinking){ 0, 0 };
	while (a_goes_on && b_goes_on && a.nr_sent < DEPEND_MOST) {
		bool idle = a.nr_sent == a.nr_done && a.nr_done, under_way = b.nr_sent > b.nr_done;
		uint64_t to = a_ns < b_ns ? a_ns : b_ns, from = b_last + patience_ns;

		from = from > at ? from : at;
		if (idle && under_way && to > at) {
			busy->ns += (double)(to - at);
			busy->nr += a_ns < b_ns && a_sends;
		}
		if (idle && under_way && to > from) {
			stuck->ns += (double)(to - from);
			stuck->nr += a_ns < b_ns && a_sends;
		}
		at = to;
		if (a_ns < b_ns) {
			causal_depend_take(&a, a_sends);
			a_goes_on = causal_depend_next(&a, &a_ns, &a_sends);
		} else {
			causal_depend_take(&b, b_sends);
			b_last = b_ns;
			b_goes_on = causal_depend_next(&b, &b_ns, &b_sends);
		}
	}
}

/* Returns whether a lane sends hardly anything of what it would always have sent in that time. */
static bool causal_stops(const struct thinking *then, const struct thinking *always, double least)
{
	double expected = then->ns * always->nr / always->ns;

	return expected >= least && then->nr < SENT_MOST * expected;
}

/* Returns the set of lanes on which lane l depends; it thinks like `always`. */
static uint64_t causal_depends_on(const struct causal_times *t, size_t l,
				  const struct thinking *always)
{
	uint64_t depends = 0;

	for (size_t other = 0; other < t->nr_lanes && other < CAUSAL_DEPEND_LANES; other++) {
		struct thinking busy, stuck;

		if (other == l)
			continue;
		/*
		 * A lane that waits for another one's commit still works for a while. A lane that
		 * needs a lock, which the other holds during its requests, sends nothing at all.
		 */
		think_stuck(t, l, other, always, &busy, &stuck);
		if (causal_stops(&stuck, always, EXPECTED_LEAST) ||
		    causal_stops(&busy, always, EXPECTED_BUSY))
			depends |= 1ull << other;
	}
	return depends;
}

/*
 * A lane with constant think times depends on no other lane, since waiting for another lane would
 * make its think times differ. The search would be misled here: lanes that think for the same time
 * queue in the same order again and again, so that each seems to stop while another one is busy.
 */
int causal_depends(const struct causal_times *t, size_t l, uint64_t *depends, bool *constant)
{
	struct thinking always;
	struct histogram h;
	int ret;

	*depends = 0;
	*constant = false;
	if (l >= CAUSAL_DEPEND_LANES)
		return 0;
	histogram_init(&h);
	ret = think_of(t, l, &always, &h);
	/* The comparison is false for too few think times, whose percentiles are NaN. */
	*constant = histogram_quantile_s(&h, 0.9) <= CONSTANT_RATIO * histogram_quantile_s(&h, 0.1);
	if (!ret && always.nr > 0 && always.ns > 0 && !*constant)
		*depends = causal_depends_on(t, l, &always);
	histogram_release(&h);
	return ret;
}

/*
 * Adds one pause of a lane, which ends with a request. Time counts from CAUSAL_FOLLOW_NS on, and is
 * covered for CAUSAL_FOLLOW_NS after each of the given completions. *k is the first completion that
 * may belong to this pause or to a later one.
 */
static void causal_follow_add(struct causal_following *f, const struct causal_end *ends,
			      size_t nr_ends, size_t *k, uint64_t begin_ns, uint64_t sent_ns)
{
	uint64_t from = begin_ns + CAUSAL_FOLLOW_NS, last = 0;

	if (sent_ns <= from)
		return;
	for (; *k < nr_ends && ends[*k].ns <= sent_ns; ++*k) {
		uint64_t at = ends[*k].ns, to = at + CAUSAL_FOLLOW_NS;

		/*
		 * A completion at begin_ns or before it begins the pause and does not lie within
		 * the pause.
		 */
		if (at <= begin_ns)
			continue;
		to = to < sent_ns ? to : sent_ns;
		at = at > from ? at : from;
		f->covered_ns += to > at ? (double)(to - at) : 0;
		from = to > from ? to : from;
		last = ends[*k].ns;
	}
	f->nr++;
	f->nr_follow += last && sent_ns - last <= CAUSAL_FOLLOW_NS;
	f->ns += (double)(sent_ns - begin_ns - CAUSAL_FOLLOW_NS);
}

bool causal_follows(const struct causal_following *f)
{
	double expected, sd;

	if (!(f->ns > 0) || f->nr_follow < EXPECTED_LEAST)
		return false;
	expected = f->nr * f->covered_ns / f->ns;
	sd = sqrt(expected * (1 - f->covered_ns / f->ns));
	return f->nr_follow > FOLLOWS_FACTOR * expected &&
	       f->nr_follow > expected + FOLLOWS_SIGMAS * sd;
}

bool causal_follows_rare(const struct causal_following *f)
{
	double expected;

	if (!(f->ns > 0) || f->nr_follow < 1)
		return false;
	expected = f->nr * f->covered_ns / f->ns;
	return f->nr_follow > FOLLOWS_FACTOR * expected &&
	       gsl_cdf_poisson_Q((unsigned int)f->nr_follow - 1, expected) <= FOLLOWS_CHANCE;
}

void causal_follow(struct causal_following *f, const struct causal_times *t, size_t l,
		   const struct causal_end *ends, size_t nr_ends, bool reads)
{
	struct walk w = walk_of(t, l);
	uint64_t ns, idle_ns = 0;
	bool sends, idle = false;
	size_t k = 0;

	if (l >= CAUSAL_DEPEND_LANES)
		return;
	while (w.nr_sent < DEPEND_MOST && causal_depend_next(&w, &ns, &sends)) {
		if (sends && idle && (reads || w.r[w.nr_sent].operation != OPERATION_READ))
			causal_follow_add(f, ends, nr_ends, &k, idle_ns, ns);
		causal_depend_take(&w, sends);
		idle = w.nr_sent == w.nr_done;
		idle_ns = ns;
	}
}

bool causal_refills(const struct causal_times *t, size_t l)
{
	struct walk w = walk_of(t, l);
	struct causal_following f = { 0 };
	uint64_t ns, sent_ns = 0;
	bool sends;
	size_t k = 0;

	while (w.nr_sent < DEPEND_MOST && causal_depend_next(&w, &ns, &sends)) {
		if (sends && w.nr_sent > w.nr_done)
			causal_follow_add(&f, w.s->ends, w.s->nr, &k, sent_ns, ns);
		if (sends)
			sent_ns = ns;
		causal_depend_take(&w, sends);
	}
	return causal_follows(&f);
}
