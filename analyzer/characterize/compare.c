// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define Z 1.959963984540054 /* quantile of the normal distribution for 95 %, two-sided */

/* The kind of a dimension's value. It decides how the standard error is found without windows. */
enum kind { KIND_RATE, KIND_MEAN, KIND_QUANTILE, KIND_SHARE, KIND_SIZE, KIND_PLAIN };

#define COMPARE_FLUSHES 2

struct dimension {
	const char *name;
	enum compare_unit unit;
	enum kind kind;
	int better; /* -1: a smaller value is better; 0: neither is better */
	double (*value)(const struct profile *p);
	/* of response times and sizes only */
	int direction; /* 0: reads, 1: writes, COMPARE_FLUSHES */
	int stage;
	double quantile;
};

static double compare_rate(const struct profile *p)
{
	return p->open.rate_per_s;
}
/* Returns the count of one operation per second, or NaN where it is unknown. */
static double rate_of(const struct profile *p, const uint64_t *counts, enum operation operation)
{
	return p->unknown >> operation & 1 ? NAN : (double)counts[operation] / profile_rate_s(p);
}
static double read_rate(const struct profile *p)
{
	return rate_of(p, p->requests, OPERATION_READ);
}
static double write_rate(const struct profile *p)
{
	return rate_of(p, p->requests, OPERATION_WRITE);
}
static double flush_rate(const struct profile *p)
{
	return rate_of(p, p->requests, OPERATION_FLUSH);
}
static double read_bytes(const struct profile *p)
{
	return rate_of(p, p->bytes, OPERATION_READ);
}
static double write_bytes(const struct profile *p)
{
	return rate_of(p, p->bytes, OPERATION_WRITE);
}
static double in_flight(const struct profile *p)
{
	return p->closed.in_flight_mean;
}
static double compare_clients(const struct profile *p)
{
	return p->closed.clients_mean;
}
static double think_time(const struct profile *p)
{
	return p->closed.think_time_mean_s;
}
static double interarrival_scv(const struct profile *p)
{
	return p->open.interarrival_scv;
}
static double data_requests(const struct profile *p)
{
	return (double)profile_data_requests(p);
}
static double compare_mix(const struct profile *p)
{
	return profile_is_undivided(p) ? NAN
				       : (double)p->requests[OPERATION_READ] / data_requests(p);
}
static double read_size(const struct profile *p)
{
	return p->read.size_mean_bytes;
}
static double write_size(const struct profile *p)
{
	return p->write.size_mean_bytes;
}
static double read_sequential(const struct profile *p)
{
	return p->read.sequential_ratio;
}
static double write_sequential(const struct profile *p)
{
	return p->write.sequential_ratio;
}
static double all_sequential(const struct profile *p)
{
	return p->all_sequential_ratio;
}
static double read_outstanding(const struct profile *p)
{
	return arrival_tally_mean(&p->read.arrivals[TALLY_OUTSTANDING]);
}
static double write_outstanding(const struct profile *p)
{
	return arrival_tally_mean(&p->write.arrivals[TALLY_OUTSTANDING]);
}
static double compare_near(const struct direction_profile *d)
{
	return arrival_tally_share(&d->arrivals[TALLY_SEEK], -TALLY_NEAR_SECTORS,
				   TALLY_NEAR_SECTORS);
}
static double read_near(const struct profile *p)
{
	return compare_near(&p->read);
}
static double write_near(const struct profile *p)
{
	return compare_near(&p->write);
}
static double compare_footprint(const struct profile *p)
{
	return p->locality.footprint_bytes;
}
static double compare_lost(const struct profile *p)
{
	double all = data_requests(p) + (double)p->lost;

	return all > 0 ? (double)p->lost / all : NAN;
}

#define QUANTILES(name, direction, stage)                                                 \
	{ name ".mean", UNIT_S, KIND_MEAN, -1, NULL, direction, stage, 0 },               \
		{ name ".p50", UNIT_S, KIND_QUANTILE, -1, NULL, direction, stage, 0.5 },  \
		{ name ".p95", UNIT_S, KIND_QUANTILE, -1, NULL, direction, stage, 0.95 }, \
		{ name ".p99", UNIT_S, KIND_QUANTILE, -1, NULL, direction, stage, 0.99 }, \
	{                                                                                 \
		name ".p99.9", UNIT_S, KIND_QUANTILE, -1, NULL, direction, stage, 0.999   \
	}
#define PLAIN(name, unit, kind, value, direction)           \
	{                                                   \
		name, unit, kind, 0, value, direction, 0, 0 \
	}

static const struct dimension dimensions[] = {
	PLAIN("arrivals.rate", UNIT_PER_S, KIND_RATE, compare_rate, 0),
	PLAIN("read.rate", UNIT_PER_S, KIND_RATE, read_rate, 0),
	PLAIN("write.rate", UNIT_PER_S, KIND_RATE, write_rate, 0),
	PLAIN("flush.rate", UNIT_PER_S, KIND_RATE, flush_rate, 0),
	PLAIN("read.throughput", UNIT_BYTES_PER_S, KIND_RATE, read_bytes, 0),
	PLAIN("write.throughput", UNIT_BYTES_PER_S, KIND_RATE, write_bytes, 0),
	PLAIN("arrivals.scv", UNIT_COUNT, KIND_PLAIN, interarrival_scv, 0),
	PLAIN("in_flight", UNIT_COUNT, KIND_PLAIN, in_flight, 0),
	PLAIN("read.outstanding", UNIT_COUNT, KIND_PLAIN, read_outstanding, 0),
	PLAIN("write.outstanding", UNIT_COUNT, KIND_PLAIN, write_outstanding, 1),
	PLAIN("clients", UNIT_COUNT, KIND_PLAIN, compare_clients, 0),
	PLAIN("think_time", UNIT_S, KIND_PLAIN, think_time, 0),
	PLAIN("read.share", UNIT_RATIO, KIND_SHARE, compare_mix, 0),
	PLAIN("read.size", UNIT_BYTES, KIND_SIZE, read_size, 0),
	PLAIN("write.size", UNIT_BYTES, KIND_SIZE, write_size, 1),
	PLAIN("read.sequential", UNIT_RATIO, KIND_SHARE, read_sequential, 0),
	PLAIN("write.sequential", UNIT_RATIO, KIND_SHARE, write_sequential, 1),
	PLAIN("all.sequential", UNIT_RATIO, KIND_SHARE, all_sequential, 0),
	PLAIN("read.near", UNIT_RATIO, KIND_SHARE, read_near, 0),
	PLAIN("write.near", UNIT_RATIO, KIND_SHARE, write_near, 1),
	PLAIN("footprint", UNIT_BYTES, KIND_PLAIN, compare_footprint, 0),
	{ "lost", UNIT_RATIO, KIND_SHARE, -1, compare_lost, 0, 0, 0 },
	QUANTILES("read.response.total", 0, STAGE_TOTAL),
	QUANTILES("read.response.queue", 0, STAGE_QUEUE),
	QUANTILES("read.response.device", 0, STAGE_DEVICE),
	QUANTILES("write.response.total", 1, STAGE_TOTAL),
	QUANTILES("write.response.queue", 1, STAGE_QUEUE),
	QUANTILES("write.response.device", 1, STAGE_DEVICE),
	QUANTILES("flush.response", COMPARE_FLUSHES, STAGE_TOTAL),
};

size_t compare_nr_dimensions(void)
{
	return sizeof(dimensions) / sizeof(*dimensions);
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[NR_VERDICTS] = { "same", "better", "worse", "different",
							"cannot tell" };

	return v < NR_VERDICTS ? names[v] : "cannot tell";
}

static const struct direction_profile *direction_of(const struct profile *p, int direction)
{
	return direction ? &p->write : &p->read;
}

static const struct response_times *times_of(const struct dimension *d, const struct profile *p)
{
	if (d->direction == COMPARE_FLUSHES)
		return &p->flush;
	return &direction_of(p, d->direction)->response;
}

static double value_of(const struct dimension *d, const struct profile *p)
{
	const struct response_times *times = times_of(d, p);

	if (d->value)
		return d->value(p);
	if (d->kind == KIND_MEAN)
		return profile_mean_s(times, d->stage);
	return histogram_quantile_s(&times->stage[d->stage], d->quantile);
}

static double histogram_deviation_s(const struct histogram *h)
{
	double mean = histogram_mean_s(h), sum = 0;

	for (int i = histogram_next(h, HISTOGRAM_BUCKET_MIN); i <= HISTOGRAM_BUCKET_MAX;
	     i = histogram_next(h, i + 1)) {
		double middle = histogram_bucket_end_s(i) / exp2(0.5 / HISTOGRAM_PER_OCTAVE);

		sum += (double)histogram_count(h, i) * (middle - mean) * (middle - mean);
	}
	return sqrt(sum / (double)h->nr);
}

/*
 * Returns half the distance between the order statistics around the quantile, as a standard error.
 */
static double quantile_error_s(const struct histogram *h, double p)
{
	double n = (double)h->nr;
	double half = Z * sqrt(n * p * (1 - p)) / n;
	double lo = p - half, hi = p + half;

	if (lo <= 0 || hi >= 1)
		return NAN;
	return (histogram_quantile_any_s(h, hi) - histogram_quantile_any_s(h, lo)) / (2 * Z);
}

static double size_error_bytes(const struct direction_profile *d)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < d->nr_sizes; i++) {
		double off = d->sizes[i].bytes - d->size_mean_bytes;

		n += (double)d->sizes[i].count;
		sum += (double)d->sizes[i].count * off * off;
	}
	return d->other_sizes || n < 2 ? NAN : sqrt(sum / n / n);
}

/* If arrivals come in bursts, their counts vary more than those of a Poisson process. */
static double rate_error(const struct profile *p, double value)
{
	double idc = 1, n = data_requests(p);

	for (size_t i = 0; i < p->open.nr_idc; i++)
		if (!isnan(p->open.idc[i].idc))
			idc = p->open.idc[i].idc;
	return n > 0 ? value * sqrt(idc / n) : NAN;
}

static double share_error(const struct dimension *d, const struct profile *p, double value)
{
	double n = data_requests(p);

	if (d->value == read_sequential || d->value == read_near)
		n = (double)p->requests[OPERATION_READ];
	else if (d->value == write_sequential || d->value == write_near)
		n = (double)p->requests[OPERATION_WRITE];
	return n > 0 ? sqrt(value * (1 - value) / n) : NAN;
}

static double lone_error(const struct dimension *d, const struct profile *p, double value,
			 const char **method)
{
	const struct histogram *h = &times_of(d, p)->stage[d->stage];

	switch (d->kind) {
	case KIND_RATE:
		*method = "counts by index of dispersion";
		return rate_error(p, value);
	case KIND_MEAN:
		*method = "normal, independent requests";
		return h->nr ? histogram_deviation_s(h) / sqrt((double)h->nr) : NAN;
	case KIND_QUANTILE:
		*method = "order statistics, independent requests";
		return h->nr ? quantile_error_s(h, d->quantile) : NAN;
	case KIND_SHARE:
		*method = "binomial, independent requests";
		return share_error(d, p, value);
	case KIND_SIZE:
		*method = "normal, independent requests";
		return size_error_bytes(direction_of(p, d->direction));
	default:
		*method = "none";
		return NAN;
	}
}

struct estimate {
	double value, error; /* NaN: unknown */
	double freedom;	     /* degrees of freedom; INFINITY for the normal distribution */
	const char *method;
};

/* The windows of one dimension that have a value (Welford's algorithm). */
struct spread {
	size_t nr;
	double mean, squares;
};

static void spread_add(struct spread *s, double x)
{
	double off = x - s->mean;

	if (isnan(x))
		return;
	s->mean += off / (double)++s->nr;
	s->squares += off * (x - s->mean);
}

int compare_sum_window(void **sums, const struct profile *window)
{
	struct spread *all = *sums;

	if (!all)
		all = *sums = calloc(compare_nr_dimensions(), sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < compare_nr_dimensions(); i++)
		spread_add(&all[i], value_of(&dimensions[i], window));
	return 0;
}

/* Computes the mean over the windows that have a value, and its standard error. */
static void batch_means(const struct dimension *d, const struct profile_group *g,
			struct estimate *e)
{
	struct spread s = { 0 };

	if (g->sums)
		s = ((const struct spread *)g->sums)[d - dimensions];
	for (size_t i = 0; g->windows && i < g->nr_windows; i++)
		spread_add(&s, value_of(d, &g->windows[i]));
	*e = (struct estimate){ NAN, NAN, INFINITY, "none" };
	if (s.nr)
		e->value = s.mean;
	if (s.nr >= COMPARE_MIN_WINDOWS) {
		e->error = sqrt(s.squares / (double)(s.nr - 1) / (double)s.nr);
		e->freedom = (double)(s.nr - 1);
		e->method = "batch means";
	}
}

static struct estimate estimate_of(const struct dimension *d, const struct profile_group *g)
{
	struct estimate e;
	const char *method = "none";
	double lone;

	batch_means(d, g, &e);
	if (!g->has_whole)
		return e;
	/*
	 * A value that grows with the observed time (footprint) takes the relative spread of its
	 * windows.
	 */
	e.error *= fabs(value_of(d, &g->whole) / e.value);
	e.value = value_of(d, &g->whole);
	lone = isnan(e.value) ? NAN : lone_error(d, &g->whole, e.value, &method);
	/*
	 * Windows that hold one value each, and the same one (a constant size), have no spread at
	 * all.
	 */
	if (isnan(e.error) || lone > e.error) {
		e.error = lone;
		e.freedom = INFINITY;
		e.method = method;
	}
	return e;
}

/*
 * Returns Student's t at 97.5 % by the Cornish-Fisher expansion (Abramowitz and Stegun, Handbook of
 * Mathematical Functions, 1964, 26.7.5). From 4 degrees of freedom on its error is below 1 %.
 */
static double compare_student(double freedom)
{
	double z = Z, z3 = z * z * z, z5 = z3 * z * z;

	if (isinf(freedom))
		return z;
	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

/* Returns the degrees of freedom after Welch and Satterthwaite. */
static double joint_freedom(const struct estimate *a, const struct estimate *b)
{
	double va = a->error * a->error, vb = b->error * b->error;
	double below = va * va / a->freedom + vb * vb / b->freedom;

	return below > 0 ? (va + vb) * (va + vb) / below : INFINITY;
}

static enum verdict compare_judge(const struct dimension *d, const struct comparison *c,
				  double margin)
{
	if (isnan(c->lo) || isnan(c->hi))
		return VERDICT_CANNOT_TELL;
	if (c->lo >= -margin && c->hi <= margin)
		return VERDICT_SAME;
	if (c->lo <= margin && c->hi >= -margin)
		return VERDICT_CANNOT_TELL;
	if (d->better == 0)
		return VERDICT_DIFFERENT;
	return (c->difference < 0) == (d->better < 0) ? VERDICT_BETTER : VERDICT_WORSE;
}

/*
 * Rates, shares and sizes describe what was asked for. All other dimensions depend on the answers
 * as well.
 */
static bool compare_is_of_load(const struct dimension *d)
{
	return d->better == 0 &&
	       (d->kind == KIND_RATE || d->kind == KIND_SHARE || d->kind == KIND_SIZE);
}

/*
 * No dimension has values below 0, and no share is above 1: the interval ends where the second
 * value would be impossible, so that nothing falls by more than 100 %.
 */
static void compare_interval(struct comparison *c, double half)
{
	c->lo = c->difference - half;
	c->hi = c->difference + half;
	if (c->lo < -c->a)
		c->lo = -c->a;
	if (c->unit == UNIT_RATIO && c->hi > 1 - c->a)
		c->hi = 1 - c->a;
}

void compare_dimension(const struct profile_group *a, const struct profile_group *b, size_t i,
		       double tolerance_ratio, struct comparison *out)
{
	const struct dimension *d = &dimensions[i];
	struct estimate x = estimate_of(d, a), y = estimate_of(d, b);
	double half = compare_student(joint_freedom(&x, &y)) * hypot(x.error, y.error);

	*out = (struct comparison){
		.dimension = d->name,
		.unit = d->unit,
		.a = x.value,
		.b = y.value,
		.difference = y.value - x.value,
		.of_load = compare_is_of_load(d),
		.method = isnan(x.error) || (x.error >= y.error && !isnan(y.error)) ? x.method
										    : y.method,
	};
	compare_interval(out, half);
	out->verdict = compare_judge(d, out, tolerance_ratio * fabs(x.value));
}
