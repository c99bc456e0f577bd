// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/mimic.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/units.h"

#define RARE_RATIO     0.01 /* operations that may be missing with no more than a note */
#define DEPTH_RATIO    1.3  /* requests under way per client from which one has a queue */
#define BUSY_RATIO     0.5  /* closed: as many of the clients have a request under way ... */
#define LAW_RATIO      0.2  /* ... or the interactive law holds as well as that */
#define IDC_EVEN       0.5  /* below: evenly spaced; closed loads are so too */
#define IDC_BURSTY     1.5  /* above: more than Poisson */
#define OPEN_SPARE     3    /* clients to a request under way, so that few arrivals wait */
#define OPEN_LEAST     4
#define EVEN_TOP_20    0.25   /* busiest fifth below it: within 5 % of uniform */
#define SUBSETS	       4      /* of Algorithm 1, simulated */
#define SLEEP_SLACK_S  60e-6  /* Linux wakes 50 us late by default; fio takes the rest */
#define LEAST_THINK_S  100e-6 /* what is below is fio's own time between requests */
#define SIZE_BYTES_MAX (64u << 20)

static void note(struct mimic *m, const char *line)
{
	buf_printf(&m->notes, "%s\n", line);
}

static uint64_t total(const struct profile *p)
{
	return p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE];
}

static int check(const struct mimic *m, const struct profile *p, const struct mimic_options *o,
		 struct err *err)
{
	uint64_t others = p->requests[OPERATION_DISCARD] + p->requests[OPERATION_OTHER];

	if (p->unknown & (UNKNOWN_READ | UNKNOWN_WRITE) || !total(p))
		return err_set(err, EINVAL, "no reads or writes are counted in this profile");
	if ((double)others > RARE_RATIO * (double)total(p) &&
	    !(o->leave_out & MIMIC_LEAVE_DISCARDS))
		return err_set(err, EINVAL,
			       "%" PRIu64 " discards and other operations beside %" PRIu64
			       " reads and writes cannot be mimicked; --leave-out discards",
			       others, total(p));
	(void)m;
	return 0;
}

/* Whole percents by largest remainders; sizes that get none are gone. */
static void split_percents(struct mimic_direction *d, const struct size_count *s, size_t nr)
{
	double sum = 0, share[MIMIC_SPLIT_MAX], rest[MIMIC_SPLIT_MAX];
	unsigned int left = 100;

	for (size_t i = 0; i < nr; i++)
		sum += (double)s[i].count;
	for (size_t i = 0; i < nr; i++) {
		share[i] = 100 * (double)s[i].count / sum;
		d->split[i].bytes = s[i].bytes;
		d->split[i].percent = (unsigned int)share[i];
		rest[i] = share[i] - (double)d->split[i].percent;
		left -= d->split[i].percent;
	}
	for (; left; left--) {
		size_t best = 0;

		for (size_t i = 1; i < nr; i++)
			best = rest[i] > rest[best] ? i : best;
		d->split[best].percent++;
		rest[best] = -1;
	}
	d->split_error = 0;
	for (size_t i = 0; i < nr; i++)
		d->split_error += fabs(share[i] - (double)d->split[i].percent) / 200;
	d->nr_split = 0;
	for (size_t i = 0; i < nr; i++)
		if (d->split[i].percent)
			d->split[d->nr_split++] = d->split[i];
}

static int by_count(const void *a, const void *b)
{
	const struct size_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_bytes(const void *a, const void *b)
{
	const struct size_count *x = a, *y = b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The commonest sizes stay; each other one joins the nearest of them. */
static size_t fewer_sizes(struct size_count *s, size_t nr)
{
	qsort(s, nr, sizeof(*s), by_count);
	for (size_t i = MIMIC_SPLIT_MAX; i < nr; i++) {
		size_t best = 0;

		for (size_t k = 1; k < MIMIC_SPLIT_MAX; k++)
			if (llabs((long long)s[k].bytes - s[i].bytes) <
			    llabs((long long)s[best].bytes - s[i].bytes))
				best = k;
		s[best].count += s[i].count;
	}
	nr = nr < MIMIC_SPLIT_MAX ? nr : MIMIC_SPLIT_MAX;
	qsort(s, nr, sizeof(*s), by_bytes);
	return nr;
}

static int make_sizes(struct mimic *m, const struct direction_profile *from, int side,
		      struct err *err)
{
	static const char *const names[2] = { "reads", "writes" };
	struct mimic_direction *d = &m->side[side];
	struct size_count *s;
	size_t nr = from->nr_sizes;

	if (!nr)
		return err_set(err, EINVAL, "the sizes of %s are unknown: nothing to mimic",
			       names[side]);
	for (size_t i = 0; i < nr; i++)
		if (from->sizes[i].bytes % SECTOR_BYTES || !from->sizes[i].bytes ||
		    from->sizes[i].bytes > SIZE_BYTES_MAX)
			return err_set(err, EINVAL,
				       "%s of %" PRIu32
				       " bytes cannot be mimicked: expected sectors up to 64 MiB",
				       names[side], from->sizes[i].bytes);
	s = malloc(nr * sizeof(*s));
	if (!s)
		return -ENOMEM;
	memcpy(s, from->sizes, nr * sizeof(*s));
	nr = fewer_sizes(s, nr);
	split_percents(d, s, nr);
	free(s);
	if (from->nr_sizes > nr)
		buf_printf(&m->notes, "%s: %zu sizes joined to %zu\n", names[side], from->nr_sizes,
			   nr);
	if (d->split_error > 0.02)
		buf_printf(&m->notes, "%s: sizes in whole percents differ by %.1f %%\n",
			   names[side], 100 * d->split_error);
	return 0;
}

/* The index of dispersion over the longest window that has one; NaN unknown. */
static double widest_idc(const struct profile *p)
{
	double idc = NAN;

	for (size_t i = 0; i < p->open.nr_idc; i++)
		if (isfinite(p->open.idc[i].idc))
			idc = p->open.idc[i].idc;
	return idc;
}

/*
 * A closed load obeys the interactive response-time law N = X (R + Z) = in flight + X Z, or keeps a
 * queue per client (then no think time is seen).
 */
static bool looks_open(const struct profile *p)
{
	double clients = p->closed.clients_mean, flight = p->closed.in_flight_mean;
	double law = flight + p->open.rate_per_s * p->closed.think_time_mean_s;

	if (!(clients > 0))
		return true;
	return !(flight >= BUSY_RATIO * clients) && !(fabs(law - clients) <= LAW_RATIO * clients);
}

static int make_closed(struct mimic *m, const struct profile *p, struct err *err)
{
	double clients = p->closed.clients_mean, per;

	if (!(clients > 0))
		return err_set(err, EINVAL,
			       "the clients are unknown: a closed load needs them; "
			       "--intensity open");
	if (clients > MIMIC_CLIENTS_MAX)
		return err_set(err, EINVAL, "%.0f clients cannot be mimicked: expected up to %d",
			       clients, MIMIC_CLIENTS_MAX);
	m->clients = clients < 1 ? 1 : (unsigned int)lround(clients);
	per = p->closed.in_flight_mean / m->clients;
	m->depth = per > DEPTH_RATIO ? (unsigned int)lround(per) : 1;
	if (m->depth > 1)
		return 0;
	if (p->closed.think_time_mean_s >= LEAST_THINK_S)
		m->think_s = p->closed.think_time_mean_s - SLEEP_SLACK_S;
	return 0;
}

static int make_open(struct mimic *m, const struct profile *p, const struct mimic_options *o,
		     struct err *err)
{
	double idc = widest_idc(p), clients = p->closed.clients_mean;
	double needed = OPEN_SPARE * p->closed.in_flight_mean;

	if (!(p->open.rate_per_s > 0))
		return err_set(err, EINVAL, "the rate is unknown: an open load needs it");
	if (idc > IDC_BURSTY && !(o->leave_out & MIMIC_LEAVE_BURSTS))
		return err_set(err, EINVAL,
			       "arrivals in bursts (index of dispersion %.3g) cannot be mimicked: "
			       "--replay does, --leave-out bursts makes them Poisson",
			       idc);
	m->open = true;
	m->even = idc < IDC_EVEN;
	clients = isfinite(clients) ? clients : OPEN_LEAST;
	if (isfinite(needed) && needed > clients)
		clients = needed;
	if (clients > MIMIC_CLIENTS_MAX)
		note(m, "more clients are needed than fio should have: arrivals may wait");
	m->depth = 1;
	m->clients = (unsigned int)fmin(MIMIC_CLIENTS_MAX, fmax(clients, OPEN_LEAST) + 0.5);
	return 0;
}

static int make_intensity(struct mimic *m, const struct profile *p, const struct mimic_options *o,
			  struct err *err)
{
	double seconds = p->end_s - p->begin_s;
	bool open = o->intensity == MIMIC_OPEN || (o->intensity == MIMIC_AUTO && looks_open(p));

	for (int k = 0; k < 2; k++) {
		uint64_t nr = p->requests[k ? OPERATION_WRITE : OPERATION_READ];

		m->side[k].share = (double)nr / (double)total(p);
		m->side[k].rate_per_s = (double)nr / seconds;
	}
	return open ? make_open(m, p, o, err) : make_closed(m, p, err);
}

static int make_range(struct mimic *m, const struct profile *p, const struct mimic_options *o,
		      struct err *err)
{
	const struct access_distribution *d = &p->locality.distribution;
	char need[UNITS_BYTES], have[UNITS_BYTES];
	uint64_t largest = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < m->side[k].nr_split; i++)
			if (m->side[k].split[i].bytes > largest)
				largest = m->side[k].split[i].bytes;
	m->distribution = *d;
	if (d->kind == DISTRIBUTION_ZIPF && d->top_20_ratio < EVEN_TOP_20)
		m->distribution.kind = DISTRIBUTION_UNIFORM; /* runs make regions differ too */
	m->first_byte = d->kind == DISTRIBUTION_UNKNOWN ? 0 : d->first_byte;
	m->range_bytes = (uint64_t)d->nr_regions * d->region_bytes;
	if (d->kind == DISTRIBUTION_UNKNOWN || !m->range_bytes) {
		m->range_bytes = isfinite(p->locality.footprint_bytes)
					 ? (uint64_t)p->locality.footprint_bytes
					 : 0;
		note(m, "the access distribution is unknown: uniform over the footprint");
	}
	if (m->range_bytes < 2 * largest)
		m->range_bytes = 2 * largest;
	if (o->directory || (o->target_bytes && m->first_byte + m->range_bytes > o->target_bytes)) {
		/* the last region may stick out of the device */
		if (!o->directory && m->range_bytes > o->target_bytes &&
		    m->range_bytes <= o->target_bytes + d->region_bytes)
			m->range_bytes = o->target_bytes;
		m->first_byte = 0;
	}
	if (!o->target_bytes || m->range_bytes <= o->target_bytes)
		return 0;
	if (!(o->leave_out & MIMIC_LEAVE_LOCALITY))
		return err_set(err, EINVAL,
			       "the load touches a range of %s, the target has %s; --leave-out "
			       "locality makes it fit",
			       units_bytes((double)m->range_bytes, need),
			       units_bytes((double)o->target_bytes, have));
	m->range_bytes = o->target_bytes;
	note(m, "the address range was made to fit the target");
	return 0;
}

/* Draws with replacement touch range (1 - exp(-bytes / range)); a random map touches all of them. */
static void make_map(struct mimic *m, const struct profile *p)
{
	double bytes = (double)p->bytes[OPERATION_READ] + (double)p->bytes[OPERATION_WRITE];
	double range = (double)m->range_bytes, drawn = range * (1 - exp(-bytes / range));
	double mapped = fmin(bytes, range), seen = p->locality.footprint_bytes;

	m->random_map = m->distribution.kind != DISTRIBUTION_ZIPF &&
			m->distribution.kind != DISTRIBUTION_GAUSSIAN && m->clients == 1 &&
			m->side[0].nr_split + m->side[1].nr_split == 1 && isfinite(seen) &&
			fabs(seen - mapped) < fabs(seen - drawn);
}

static int make_sequential(struct mimic *m, const struct profile *p, int side)
{
	const struct direction_profile *from = side ? &p->write : &p->read;
	struct mimic_direction *d = &m->side[side];
	uint64_t count = p->requests[side ? OPERATION_WRITE : OPERATION_READ];
	uint32_t subset = p->window_requests ? p->window_requests : 4096;
	uint64_t nr = count < (uint64_t)SUBSETS * subset ? count : (uint64_t)SUBSETS * subset;
	unsigned int low = 0, high = 100;
	double at_low, at_high;

	d->percent_random = 100;
	if (isnan(from->sequential_ratio))
		return 0;
	/* falls with the percentage: the two whole percents around the ratio */
	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;
		double ratio = mimic_simulate_ratio(m, side, middle, subset, nr);

		if (isnan(ratio))
			return -ENOMEM;
		if (ratio > from->sequential_ratio)
			low = middle;
		else
			high = middle;
	}
	at_low = mimic_simulate_ratio(m, side, low, subset, nr);
	at_high = mimic_simulate_ratio(m, side, high, subset, nr);
	if (isnan(at_low) || isnan(at_high))
		return -ENOMEM;
	d->percent_random =
		fabs(at_low - from->sequential_ratio) <= fabs(at_high - from->sequential_ratio)
			? low
			: high;
	d->sequential_ratio = d->percent_random == low ? at_low : at_high;
	return 0;
}

static void make_files(struct mimic *m, const struct profile *p, const struct mimic_options *o)
{
	double count = p->locality.file_count_mean, bytes = p->locality.file_size_mean_bytes;

	m->nr_files = 1;
	m->file_bytes = m->range_bytes;
	if (!o->directory && isfinite(count))
		note(m, "the target is no folder: its files are not mimicked");
	if (!o->directory || !(count >= 1) || !(bytes >= 1))
		return;
	m->nr_files = (unsigned int)fmin(lround(count), 100000);
	m->file_bytes = ((uint64_t)bytes + 4095) / 4096 * 4096;
}

int mimic_make(struct mimic *m, const struct profile *p, const struct mimic_options *o,
	       struct err *err)
{
	uint64_t flushes = p->requests[OPERATION_FLUSH], writes = p->requests[OPERATION_WRITE];
	int status;

	memset(m, 0, sizeof(*m));
	buf_init(&m->notes);
	m->target = o->target;
	m->directory = o->directory;
	m->duration_s = o->duration_s > 0 ? o->duration_s : p->end_s - p->begin_s;
	m->seed = o->seed;
	status = check(m, p, o, err);
	if (!status)
		status = make_intensity(m, p, o, err);
	for (int k = 0; k < 2 && !status; k++)
		if (p->requests[k ? OPERATION_WRITE : OPERATION_READ])
			status = make_sizes(m, k ? &p->write : &p->read, k, err);
	if (!status)
		status = make_range(m, p, o, err);
	if (status)
		return status;
	make_map(m, p);
	for (int k = 0; k < 2 && !status; k++)
		if (m->side[k].nr_split)
			status = make_sequential(m, p, k);
	make_files(m, p, o);
	if (flushes && writes)
		m->fsync =
			(unsigned int)fmax(1, fmin(1e6, round((double)writes / (double)flushes)));
	return status ? status : m->notes.error;
}

void mimic_release(struct mimic *m)
{
	buf_release(&m->notes);
}
