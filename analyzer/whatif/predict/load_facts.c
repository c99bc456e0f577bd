// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/load_facts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"
#include "base/text/word_list.h"

/* largest number of points of the dispersion; profiles have four */
#define ARRIVAL_WINDOWS_MAX 16

/* This struct holds the sums per power of two, from which struct load_sizes is made. */
struct size_bins {
	double share[LOAD_SIZES_MAX], bytes[LOAD_SIZES_MAX]; /* bytes: sum of share times size */
};

static void bins_add(struct size_bins *b, double bytes, double share)
{
	int exponent;

	if (!(bytes >= 1) || !(share > 0))
		return;
	frexp(bytes, &exponent); /* bytes lie in [2^(exponent - 1), 2^exponent) */
	exponent = exponent - 1 < LOAD_SIZES_MAX ? exponent - 1 : LOAD_SIZES_MAX - 1;
	b->share[exponent] += share;
	b->bytes[exponent] += share * bytes;
}

static void bins_finish(const struct size_bins *b, struct load_sizes *out)
{
	double all = 0;

	out->nr = 0;
	for (int i = 0; i < LOAD_SIZES_MAX; i++)
		all += b->share[i];
	for (int i = 0; i < LOAD_SIZES_MAX; i++) {
		if (!(b->share[i] > 0))
			continue;
		out->at[out->nr].bytes = b->bytes[i] / b->share[i];
		out->at[out->nr].share = b->share[i] / all;
		out->nr++;
	}
}

/* Returns the mean size from the sum of bytes, which profiles made by other programs may lack. */
static double mean_bytes(uint64_t bytes, double requests, const struct direction_profile *d)
{
	if (!(requests > 0))
		return NAN;
	return bytes ? (double)bytes / requests : d->size_mean_bytes;
}

/*
 * Requests whose sizes were not counted separately get the mean size that remains without the
 * counted requests.
 */
static void take_sizes(const struct direction_profile *d, double requests, double mean,
		       struct load_sizes *out)
{
	struct size_bins bins = { 0 };
	double known = 0, known_bytes = 0;

	for (size_t i = 0; i < d->nr_sizes; i++) {
		double count = (double)d->sizes[i].count;

		bins_add(&bins, d->sizes[i].bytes, count);
		known += count;
		known_bytes += count * d->sizes[i].bytes;
	}
	if (requests > known && !(known > 0 && !d->other_sizes))
		bins_add(&bins, (requests * mean - known_bytes) / (requests - known),
			 requests - known);
	bins_finish(&bins, out);
}

/*
 * Returns the mean of the sizes if they are known, because other sums of a profile may count other
 * requests.
 */
static double mean_of_sizes(const struct load_sizes *s, double otherwise)
{
	double sum = 0;

	for (size_t i = 0; i < s->nr; i++)
		sum += s->at[i].share * s->at[i].bytes;
	return s->nr ? sum : otherwise;
}

static double range_of(const struct profile *p)
{
	double range = (double)p->locality.distribution.nr_regions *
		       (double)p->locality.distribution.region_bytes;

	return range > 0 ? range : p->locality.footprint_bytes;
}

static void find_concurrency(struct load_facts *f, double in_flight_busy)
{
	f->concurrency = 1;
	if (f->clients > f->concurrency)
		f->concurrency = f->clients;
	if (in_flight_busy > f->concurrency)
		f->concurrency = in_flight_busy;
}

double load_watched_s(const struct profile *p)
{
	double watched_s = profile_watched_s(p);

	return watched_s > 0 ? watched_s : p->end_s - p->begin_s;
}

static void take_flushes(const struct profile *p, struct load_facts *out)
{
	double flushes = (double)p->requests[OPERATION_FLUSH];
	double writes = (double)p->requests[OPERATION_WRITE];
	bool known = !(p->unknown & UNKNOWN_DURABILITY);

	out->flush_per_s = p->unknown & UNKNOWN_FLUSH ? NAN : flushes / load_watched_s(p);
	out->flush_s = flushes > 0 ? profile_mean_s(&p->flush, STAGE_TOTAL) : NAN;
	out->awaited_ratio = known && flushes > 0
				     ? fmin(1, (double)p->durability.awaited_flushes / flushes)
				     : NAN;
	out->forced_ratio =
		known && writes > 0 ? fmin(1, (double)p->durability.forced_writes / writes) : NAN;
}

/*
 * Fits the process of the arrivals if they are more bursty than Poisson arrivals and the profile
 * has their dispersion.
 */
static void take_arrivals(const struct profile *p, struct load_facts *out)
{
	double window_s[ARRIVAL_WINDOWS_MAX], idc[ARRIVAL_WINDOWS_MAX];
	struct mmpp2_aims aims = { .rate_per_s = p->open.rate_per_s,
				   .scv = p->open.interarrival_scv,
				   .lag1 = NAN,
				   .window_s = window_s,
				   .idc = idc };
	struct mmpp2_fit fit;
	struct err ignored;
	int ret;

	for (; aims.nr < p->open.nr_idc && aims.nr < ARRIVAL_WINDOWS_MAX; aims.nr++) {
		window_s[aims.nr] = p->open.idc[aims.nr].window_s;
		idc[aims.nr] = p->open.idc[aims.nr].idc;
	}
	ret = mmpp2_fit(&fit, &aims, &ignored);
	if (ret == -ERANGE && !(fit.met & MMPP2_SCV)) {
		/*
		 * The process with the nearest variation may be degenerate; the dispersion is more
		 * important.
		 */
		aims.scv = NAN;
		ret = mmpp2_fit(&fit, &aims, &ignored);
	}
	if (ret == -EINVAL)
		return;
	out->arrivals = fit.process;
	out->arrivals_met = fit.met;
}

static bool has_percentiles(const struct response_times *r)
{
	return r->stage[STAGE_TOTAL].nr > 0;
}

static unsigned int find_missing(const struct profile *p, const struct load_facts *f)
{
	const struct direction_profile *sides[2] = { &p->read, &p->write };
	unsigned int missing = 0;

	missing |= isnan(f->in_flight) ? LOAD_NO_IN_FLIGHT : 0;
	missing |= isnan(f->clients) ? LOAD_NO_CLIENTS : 0;
	missing |= isnan(f->sequential_ratio) ? LOAD_NO_PATTERN : 0;
	missing |= isnan(f->range_bytes) ? LOAD_NO_RANGE : 0;
	missing |= isnan(f->flush_per_s) ? LOAD_NO_FLUSHES : 0;
	missing |= f->flush_per_s > 0 && isnan(f->flush_s) ? LOAD_NO_FLUSH_TIMES : 0;
	missing |= p->unknown & UNKNOWN_DURABILITY ? LOAD_NO_DURABILITY : 0;
	for (int side = 0; side < 2; side++) {
		if (!load_facts_has(f, side))
			continue;
		missing |= sides[side]->nr_sizes ? 0 : LOAD_NO_SIZES;
		missing |= has_percentiles(&sides[side]->response) ? 0 : LOAD_NO_PERCENTILES;
	}
	return missing;
}

void load_facts_say_missing(unsigned int missing, char *out, size_t bytes)
{
	static const char *const words[] = {
		"requests in flight",
		"clients",
		"the distribution of sizes",
		"access pattern",
		"range of addresses",
		"flushes",
		"times of flushes",
		"forced writes",
		"percentiles of response times",
	};

	word_list_flags(missing, words, sizeof(words) / sizeof(*words), out, bytes);
}

void load_facts_of(const struct profile *p, struct load_facts *out)
{
	double reads = (double)p->requests[OPERATION_READ];
	double writes = (double)p->requests[OPERATION_WRITE], all = reads + writes;

	*out = (struct load_facts){ .clients = p->closed.clients_mean,
				    .in_flight = p->closed.in_flight_mean };
	out->requests = all;
	out->rate_per_s = all / load_watched_s(p);
	out->read_ratio = all > 0 ? reads / all : NAN;
	out->side_bytes[0] = mean_bytes(p->bytes[OPERATION_READ], reads, &p->read);
	out->side_bytes[1] = mean_bytes(p->bytes[OPERATION_WRITE], writes, &p->write);
	take_sizes(&p->read, reads, out->side_bytes[0], &out->sizes[0]);
	take_sizes(&p->write, writes, out->side_bytes[1], &out->sizes[1]);
	for (int side = 0; side < 2; side++)
		out->side_bytes[side] = mean_of_sizes(&out->sizes[side], out->side_bytes[side]);
	out->size_bytes = ((reads > 0 ? reads * out->side_bytes[0] : 0) +
			   (writes > 0 ? writes * out->side_bytes[1] : 0)) /
			  all;
	out->sequential_ratio = p->all_sequential_ratio;
	/* Each direction may be sequential by itself although reads and writes alternate. */
	if (reads > 0 && isfinite(p->read.sequential_ratio))
		out->sequential_ratio = p->read.sequential_ratio * reads / all +
					(writes > 0 ? p->write.sequential_ratio * writes / all : 0);
	out->range_bytes = range_of(p);
	take_flushes(p, out);
	take_arrivals(p, out);
	out->given_think_s = p->closed.think_time_mean_s;
	out->side_sequential[0] = p->read.sequential_ratio;
	out->side_sequential[1] = p->write.sequential_ratio;
	find_concurrency(out, out->in_flight);
	out->missing = find_missing(p, out);
}

/* Returns the requests in flight as a request finds them: idle windows have no weight. */
static double in_flight_busy(const struct profile_group *g)
{
	double requests = 0, sum = 0;

	for (size_t i = 0; i < g->nr_windows; i++) {
		const struct profile *w = &g->windows[i];
		double nr = (double)profile_data_requests(w);

		if (!isfinite(w->closed.in_flight_mean))
			continue;
		requests += nr;
		sum += nr * w->closed.in_flight_mean;
	}
	return requests > 0 ? sum / requests : NAN;
}

/*
 * Computes means over the time of the windows, so that gaps between them do not count as idle time.
 */
static void take_windows(const struct profile_group *g, struct load_facts *out)
{
	double all_s = 0, clients = 0, in_flight = 0, first = INFINITY, end = 0;

	for (size_t i = 0; i < g->nr_windows; i++) {
		const struct profile *w = &g->windows[i];
		const struct access_distribution *d = &w->locality.distribution;
		double s = w->end_s - w->begin_s, bytes = (double)d->nr_regions;

		bytes *= (double)d->region_bytes;
		all_s += s;
		clients += s * w->closed.clients_mean;
		in_flight += s * w->closed.in_flight_mean;
		if (bytes > 0) {
			first = fmin(first, (double)d->first_byte);
			end = fmax(end, (double)d->first_byte + bytes);
		}
	}
	out->clients = clients / all_s;
	out->in_flight = in_flight / all_s;
	if (end > first)
		out->range_bytes = end - first;
}

void load_facts_of_group(const struct profile_group *g, struct load_facts *out)
{
	double busy = in_flight_busy(g);

	load_facts_of(&g->whole, out);
	if (!g->has_whole && g->nr_windows)
		take_windows(g, out);
	find_concurrency(out, fmax(busy, out->in_flight));
	if (isfinite(out->in_flight))
		out->missing &= ~(unsigned int)LOAD_NO_IN_FLIGHT;
	if (isfinite(out->range_bytes))
		out->missing &= ~(unsigned int)LOAD_NO_RANGE;
}

struct load_facts load_facts_scaled(const struct load_facts *f, double factor)
{
	struct load_facts out = *f;

	out.clients *= factor;
	out.in_flight *= factor;
	out.concurrency *= factor;
	out.rate_per_s *= factor;
	out.flush_per_s *= factor;
	for (int state = 0; state < 2; state++)
		out.arrivals.rate_per_s[state] *= factor;
	return out;
}

bool load_facts_has(const struct load_facts *f, int side)
{
	return side ? f->read_ratio < 1 : f->read_ratio > 0;
}

static double side_rate(const struct load_facts *f, int side)
{
	return f->rate_per_s * (side ? 1 - f->read_ratio : f->read_ratio);
}

/* Joins sizes and patterns of one direction, over the loads that have this direction. */
static void join_side(const struct load_facts *f, size_t nr, int side, struct load_facts *out)
{
	struct size_bins bins = { 0 };
	double rate = 0, bytes = 0, sequential = 0;

	for (size_t i = 0; i < nr; i++) {
		double r = side_rate(&f[i], side);

		if (!(r > 0))
			continue;
		rate += r;
		bytes += r * f[i].side_bytes[side];
		sequential +=
			r * (isfinite(f[i].side_sequential[side]) ? f[i].side_sequential[side] : 0);
		for (size_t k = 0; k < f[i].sizes[side].nr; k++)
			bins_add(&bins, f[i].sizes[side].at[k].bytes,
				 r * f[i].sizes[side].at[k].share);
	}
	out->side_bytes[side] = bytes / rate;
	out->side_sequential[side] = sequential / rate;
	bins_finish(&bins, &out->sizes[side]);
}

/*
 * Adds the flushes per second of all loads; the flush time is the mean over the loads where it is
 * known.
 */
static void join_flushes(const struct load_facts *f, size_t nr, struct load_facts *out)
{
	double timed = 0, time = 0, awaited = 0, writes = 0, forced = 0;

	for (size_t i = 0; i < nr; i++) {
		double w = side_rate(&f[i], 1);

		out->flush_per_s += f[i].flush_per_s;
		if (f[i].flush_per_s > 0 && isfinite(f[i].flush_s)) {
			timed += f[i].flush_per_s;
			time += f[i].flush_per_s * f[i].flush_s;
			awaited += f[i].flush_per_s * f[i].awaited_ratio;
		}
		writes += w > 0 ? w : 0;
		forced += w > 0 ? w * f[i].forced_ratio : 0;
		out->missing |= f[i].missing;
	}
	out->flush_s = time / timed;
	out->awaited_ratio = awaited / timed;
	out->forced_ratio = forced / writes;
}

void load_facts_join(const struct load_facts *f, size_t nr, struct load_facts *out)
{
	struct load_facts sum = { 0 };

	if (nr == 1) { /* Sums and means over a single load would only add rounding errors. */
		*out = f[0];
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		sum.clients += f[i].clients;
		sum.in_flight += f[i].in_flight;
		sum.concurrency += f[i].concurrency;
		sum.requests += f[i].requests;
		sum.rate_per_s += f[i].rate_per_s;
		sum.read_ratio += f[i].read_ratio * f[i].rate_per_s;
		sum.size_bytes += f[i].size_bytes * f[i].rate_per_s;
		sum.sequential_ratio += f[i].sequential_ratio * f[i].rate_per_s;
		sum.range_bytes += f[i].range_bytes;
		sum.given_think_s += f[i].given_think_s * f[i].concurrency;
	}
	sum.given_think_s /= sum.concurrency;
	sum.read_ratio /= sum.rate_per_s;
	sum.size_bytes /= sum.rate_per_s;
	sum.sequential_ratio /= sum.rate_per_s;
	join_flushes(f, nr, &sum);
	join_side(f, nr, 0, &sum);
	join_side(f, nr, 1, &sum);
	*out = sum;
}

void load_facts_all_sizes(const struct load_facts *f, struct load_sizes *out)
{
	struct size_bins bins = { 0 };

	for (int side = 0; side < 2; side++)
		for (size_t k = 0; k < f->sizes[side].nr; k++)
			bins_add(&bins, f->sizes[side].at[k].bytes,
				 (side ? 1 - f->read_ratio : f->read_ratio) *
					 f->sizes[side].at[k].share);
	bins_finish(&bins, out);
}

void load_facts_set_size(struct load_facts *f, int side, double bytes)
{
	f->side_bytes[side] = bytes;
	f->sizes[side].nr = 1;
	f->sizes[side].at[0].bytes = bytes;
	f->sizes[side].at[0].share = 1;
}

double load_flush_wait_s(const struct load_facts *f)
{
	double wait_s = f->flush_per_s / f->rate_per_s * f->flush_s;

	return wait_s > 0 && isfinite(wait_s) ? wait_s : 0;
}

double load_away_s(const struct load_facts *f)
{
	return load_think_s(f) + load_flush_wait_s(f);
}

double load_think_s(const struct load_facts *f)
{
	if (!(f->rate_per_s > 0))
		return 0;
	if (isfinite(f->in_flight))
		return fmax(0, f->concurrency - f->in_flight) / f->rate_per_s;
	return f->given_think_s > 0 ? f->given_think_s : 0;
}

enum load_carried load_facts_carried(const struct load_facts *f, double per_s, double high_per_s)
{
	double least = LOAD_CARRIES_RATIO * f->rate_per_s;

	if (!(per_s < least))
		return LOAD_CARRIED;
	return high_per_s >= least ? LOAD_MAY_NOT : LOAD_CANNOT;
}

void load_facts_say_carried(enum load_carried c, const char *target, const char *name,
			    double offered_per_s, double per_s, char *out, size_t bytes)
{
	char offered[UNITS_BYTES], gives[UNITS_BYTES];

	snprintf(out, bytes, "%s %s carry this load: %s offered %s requests/s, it gives %s/s",
		 target, c == LOAD_CANNOT ? "cannot" : "may not", name,
		 units_count(offered_per_s, offered), units_count(per_s, gives));
}
