// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/mimic.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

#define RARE_RATIO    0.01 /* operations that may be missing with no more than a note */
#define DEPTH_RATIO   1.3  /* requests under way per client from which one has a queue */
#define CLIENTS_LEAST 0.5  /* below, nobody's thread waits for the requests */
#define IDC_EVEN      0.5  /* below: evenly spaced; closed loads are so too */
#define IDC_BURSTY    1.5  /* above: more than Poisson */
#define OPEN_SPARE    3	   /* clients to a request under way, so that few arrivals wait */
#define OPEN_LEAST    4
#define EVEN_TOP_20   0.27 /* busiest fifth below it: uniform, and runs in order */
#define TOP_20_NEAR   0.02 /* fio's own law misses the busiest fifth by no more */
/* Writes count as written back if at least this share of them is from kernel threads. */
#define WRITE_BACK     0.2
#define SUBSETS	       4      /* simulated subsets of Algorithm 1 */
#define SLEEP_SLACK_S  60e-6  /* Linux wakes 50 us late by default; fio takes the rest */
#define LEAST_THINK_S  100e-6 /* A shorter think time is fio's own time between requests. */
#define SIZE_BYTES_MAX (64u << 20)
#define DEPTH_MAX      1024
#define BURST_DEPTH    2.0 /* requests of bursts under way at most, of the mean */
#define STEP_MAX       4.0 /* No run changes a factor by more than this. */
/* No target has room for files of this size, and sums of several loads still fit in 64 bits. */
#define FILES_BYTES_MAX (1ull << 56)

/* These are values for fio if a run with the values of the profile did not give the profile. */
struct aims {
	double think_s, depth; /* NaN: the value of the profile */
	double rate_factor, burst_factor, log_depth_factor;
	double ratio_more[2]; /* added to the sequential ratios */
};

static void mimic_note(struct mimic *m, const char *line)
{
	buf_printf(&m->notes, "%s\n", line);
}

static uint64_t mimic_total(const struct profile *p)
{
	return p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE];
}

static int mimic_check(const struct profile *p, const struct mimic_options *o, struct err *err)
{
	uint64_t others = p->requests[OPERATION_DISCARD] + p->requests[OPERATION_OTHER];

	if (p->unknown & (UNKNOWN_READ | UNKNOWN_WRITE) || !mimic_total(p))
		return err_set(err, EINVAL, "no reads or writes are counted in this profile");
	if ((double)others > RARE_RATIO * (double)mimic_total(p) &&
	    !(o->leave_out & MIMIC_LEAVE_DISCARDS))
		return err_set(err, EDOM,
			       "%" PRIu64 " discards and other operations beside %" PRIu64
			       " reads and writes cannot be mimicked, unless discards are left out",
			       others, mimic_total(p));
	return 0;
}

/*
 * Rounds shares to whole percents by largest remainders; fio leaves out sizes that get 0 percent.
 */
static void split_percents(struct mimic_direction *d, const struct size_count *s, size_t nr)
{
	double sum = 0, share[MIMIC_SPLIT_MAX], rest[MIMIC_SPLIT_MAX];
	unsigned int left = 100;

	for (size_t i = 0; i < nr; i++)
		sum += (double)s[i].count;
	for (size_t i = 0; i < nr; i++) {
		share[i] = 100 * (double)s[i].count / sum;
		d->split[i].bytes = s[i].bytes;
		d->split[i].share = share[i] / 100;
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
	d->nr_split = nr;
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

/* Keeps the most common sizes; each other size is added to the nearest of them. */
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
		buf_printf(
			&m->notes,
			"%s: the shares of sizes are off by %.1f %%, because fio takes whole percents\n",
			names[side], 100 * d->split_error);
	return 0;
}

/* Returns the index of dispersion over the longest window that has one, or NaN if it is unknown. */
static double widest_idc(const struct profile *p)
{
	double idc = NAN;

	for (size_t i = 0; i < p->open.nr_idc; i++)
		if (isfinite(p->open.idc[i].idc))
			idc = p->open.idc[i].idc;
	return idc;
}

/*
 * A thread that submits usually also waits: loads with threads count as closed. Their think time
 * follows from the interactive response-time law N = X (R + Z) = in flight + X Z.
 */
static bool looks_open(const struct profile *p)
{
	return !(p->closed.clients_mean >= CLIENTS_LEAST);
}

static double law_think_s(const struct profile *p)
{
	return (p->closed.clients_mean - p->closed.in_flight_mean) / p->open.rate_per_s;
}

static int make_closed(struct mimic *m, const struct profile *p, const struct aims *aims,
		       struct err *err)
{
	double clients = p->closed.clients_mean, per;

	if (!(clients > 0))
		return err_set(err, EINVAL,
			       "the clients are unknown, which a closed load needs: expected an "
			       "open one");
	if (clients > MIMIC_CLIENTS_MAX)
		return err_set(err, EINVAL, "%.0f clients cannot be mimicked: expected up to %d",
			       clients, MIMIC_CLIENTS_MAX);
	m->clients = clients < 1 ? 1 : (unsigned int)lround(clients);
	per = isnan(aims->depth) ? p->closed.in_flight_mean / m->clients : aims->depth;
	m->depth = per > DEPTH_RATIO ? (unsigned int)fmin(lround(per), DEPTH_MAX) : 1;
	if (m->depth > 1)
		return 0;
	if (!isnan(aims->think_s))
		m->think_s = aims->think_s;
	else if (law_think_s(p) >= LEAST_THINK_S)
		m->think_s = law_think_s(p) - SLEEP_SLACK_S;
	return 0;
}

/*
 * Fits the process with the dispersion of the profile, whose excess over 1 is multiplied by factor.
 * A sender that submits in bursts also has a limit of requests under way. A profile does not
 * contain this limit; it is taken as a multiple of the mean number under way.
 */
static int fit_bursts(struct mimic *m, const struct profile *p, double rate_per_s, double in_flight,
		      double factor, const struct aims *aims)
{
	struct idc_point *idc = calloc(p->open.nr_idc + 1, sizeof(*idc));
	double depth;

	if (!idc)
		return -ENOMEM;
	for (size_t i = 0; i < p->open.nr_idc; i++) {
		idc[i] = p->open.idc[i];
		idc[i].idc = 1 + (idc[i].idc - 1) * factor * aims->burst_factor;
	}
	/* The variation is that of all arrivals, and does not describe the writes alone. */
	m->bursty = mimic_bursts_fit(&m->bursts, idc, p->open.nr_idc, rate_per_s,
				     factor == 1 ? p->open.interarrival_scv : NAN);
	free(idc);
	depth = ceil(BURST_DEPTH * in_flight * aims->log_depth_factor);
	m->log_depth = depth >= 1     ? (unsigned int)fmin(depth, DEPTH_MAX)
		       : isnan(depth) ? DEPTH_MAX
				      : 1;
	return 0;
}

/* Makes bursts, if the profile contains them and fio can imitate them. */
static int make_bursts(struct mimic *m, const struct profile *p, const struct mimic_options *o,
		       const struct aims *aims, struct err *err)
{
	double idc = widest_idc(p);

	if (!(idc > IDC_BURSTY) || o->leave_out & MIMIC_LEAVE_BURSTS)
		return 0;
	if (!o->log || o->directory)
		return err_set(
			err, EDOM,
			"arrivals in bursts (index of dispersion %.3g) are a log of requests "
			"beside the job, of a device or file: expected a file for the job and such "
			"a target, unless bursts are left out, which makes them Poisson",
			idc);
	m->log = o->log;
	return fit_bursts(m, p, p->open.rate_per_s * aims->rate_factor, p->closed.in_flight_mean, 1,
			  aims);
}

/* Returns whether kernel threads write what clients wrote to memory, later and in bursts. */
static bool is_written_back(const struct profile *p, const struct mimic_options *o)
{
	double writes = (double)p->requests[OPERATION_WRITE];

	return o->intensity == MIMIC_AUTO && !(p->unknown & UNKNOWN_KERNEL_THREAD) && writes > 0 &&
	       (double)p->kernel_thread_requests >= WRITE_BACK * writes &&
	       widest_idc(p) > IDC_BURSTY && o->log && !o->directory &&
	       !(o->leave_out & MIMIC_LEAVE_BURSTS);
}

/*
 * Readers run in a loop: each of N readers sends a read every N / X seconds, and the read takes R
 * of this time. Variation of all arrivals beyond that of a Poisson process is attributed to the
 * writes.
 */
static int make_write_back(struct mimic *m, const struct profile *p, const struct mimic_options *o,
			   const struct aims *aims)
{
	double clients = p->closed.clients_mean, reads = m->side[0].rate_per_s;
	double writes = m->side[1].rate_per_s;
	double took = profile_mean_s(&p->read.response, STAGE_TOTAL);

	m->write_back = true;
	m->log = o->log;
	m->depth = 1;
	m->clients = clients >= 1 ? (unsigned int)fmin(lround(clients), MIMIC_CLIENTS_MAX) : 1;
	m->think_s = aims->think_s;
	if (isnan(m->think_s))
		m->think_s = reads > 0 ? m->clients / reads - took - SLEEP_SLACK_S : 0;
	if (!(m->think_s > 0))
		m->think_s = 0;
	return fit_bursts(m, p, writes * aims->rate_factor,
			  writes * profile_mean_s(&p->write.response, STAGE_TOTAL),
			  (reads + writes) / writes, aims);
}

static int make_open(struct mimic *m, const struct profile *p, const struct mimic_options *o,
		     const struct aims *aims, struct err *err)
{
	double idc = widest_idc(p), clients = p->closed.clients_mean;
	double needed = OPEN_SPARE * p->closed.in_flight_mean;

	if (!(p->open.rate_per_s > 0))
		return err_set(err, EINVAL, "the rate is unknown: an open load needs it");
	m->open = true;
	m->even = idc < IDC_EVEN;
	clients = isfinite(clients) ? clients : OPEN_LEAST;
	if (isfinite(needed) && needed > clients)
		clients = needed;
	if (clients > MIMIC_CLIENTS_MAX)
		mimic_note(m, "more clients are needed than fio should have: arrivals may wait");
	m->depth = 1;
	m->clients = (unsigned int)fmin(MIMIC_CLIENTS_MAX, fmax(clients, OPEN_LEAST) + 0.5);
	for (int k = 0; k < 2; k++)
		m->side[k].rate_per_s *= aims->rate_factor;
	return make_bursts(m, p, o, aims, err);
}

static int make_intensity(struct mimic *m, const struct profile *p, const struct mimic_options *o,
			  const struct aims *aims, struct err *err)
{
	double seconds = profile_rate_s(p);
	bool open = o->intensity == MIMIC_OPEN || (o->intensity == MIMIC_AUTO && looks_open(p));

	for (int k = 0; k < 2; k++) {
		uint64_t nr = p->requests[k ? OPERATION_WRITE : OPERATION_READ];

		m->side[k].share = (double)nr / (double)mimic_total(p);
		m->side[k].rate_per_s = (double)nr / seconds;
	}
	m->think_s = 0;
	if (is_written_back(p, o))
		return make_write_back(m, p, o, aims);
	return open ? make_open(m, p, o, aims, err) : make_closed(m, p, aims, err);
}

static double mimic_step(double wanted, double got)
{
	double by = wanted / got;

	return by > 0 && isfinite(by) ? fmin(STEP_MAX, fmax(1 / STEP_MAX, by)) : 1;
}

static double mimic_rate(const struct profile *p, enum operation operation)
{
	return (double)p->requests[operation] / profile_rate_s(p);
}

/* Moves the aims of job m by the difference between its run and p. One run, which may have been
 * disturbed, moves each aim by a bounded factor only. */
static void mimic_correct(struct aims *aims, const struct mimic *m, const struct profile *p,
			  const struct profile *run)
{
	const struct direction_profile *wanted[2] = { &p->read, &p->write };
	const struct direction_profile *got[2] = { &run->read, &run->write };
	double think = m->clients / p->open.rate_per_s - m->clients / run->open.rate_per_s;
	double depth = isnan(aims->depth) ? m->depth : aims->depth;

	if (m->open) {
		aims->rate_factor *= mimic_step(p->open.rate_per_s, run->open.rate_per_s);
	} else if (m->write_back) {
		aims->rate_factor *= mimic_step(mimic_rate(p, OPERATION_WRITE),
						mimic_rate(run, OPERATION_WRITE));
		think = m->clients / mimic_rate(p, OPERATION_READ) -
			m->clients / mimic_rate(run, OPERATION_READ);
	}
	if (m->bursty) {
		aims->burst_factor *= mimic_step(widest_idc(p) - 1, widest_idc(run) - 1);
		/* Above STEP_MAX the log's depth is not what keeps the requests in flight few. */
		aims->log_depth_factor = fmin(
			STEP_MAX, aims->log_depth_factor * mimic_step(p->closed.in_flight_mean,
								      run->closed.in_flight_mean));
	}
	if (m->depth > 1)
		aims->depth =
			depth * mimic_step(p->closed.in_flight_mean, run->closed.in_flight_mean);
	else if (!m->open && isfinite(think))
		aims->think_s = fmax(m->think_s / 2, m->think_s + think);
	for (int k = 0; k < 2; k++) {
		double more = wanted[k]->sequential_ratio - got[k]->sequential_ratio;

		if (isfinite(more))
			aims->ratio_more[k] += more;
	}
}

/*
 * fio scatters the ranks over the range. Regions then differ less in their number of requests than
 * single offsets do.
 */
static int choose_law(struct mimic *m)
{
	double scattered;

	m->by_zones = m->distribution.kind == DISTRIBUTION_GAUSSIAN;
	if (m->distribution.kind != DISTRIBUTION_ZIPF || m->distribution.nr_regions < 5)
		return 0;
	scattered = mimic_scattered_top_20(m);
	if (isnan(scattered))
		return -ENOMEM;
	m->by_zones = fabs(scattered - m->distribution.top_20_ratio) > TOP_20_NEAR;
	return 0;
}

static int mimic_aim(struct aims *aims, struct mimic *m, const struct profile *p,
		     const struct mimic_options *o, struct err *err)
{
	int ret = make_intensity(m, p, o, aims, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < o->nr_runs; i++) {
		mimic_correct(aims, m, p, o->runs[i]);
		ret = make_intensity(m, p, o, aims, err);
		if (ret)
			return ret;
	}
	return 0;
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
		/* Sequential runs make regions differ too. */
		m->distribution.kind = DISTRIBUTION_UNIFORM;
	m->first_byte = d->kind == DISTRIBUTION_UNKNOWN ? 0 : d->first_byte;
	m->range_bytes = (uint64_t)d->nr_regions * d->region_bytes;
	if (d->kind == DISTRIBUTION_UNKNOWN || !m->range_bytes) {
		m->range_bytes = isfinite(p->locality.footprint_bytes)
					 ? (uint64_t)fmin(p->locality.footprint_bytes, 1e18)
					 : 0;
		mimic_note(m, "the access distribution is unknown: uniform over the footprint");
	}
	if (m->range_bytes < 2 * largest)
		m->range_bytes = 2 * largest;
	if (o->directory || (o->target_bytes && m->first_byte + m->range_bytes > o->target_bytes)) {
		/* The last region may extend beyond the end of the device. */
		if (!o->directory && m->range_bytes > o->target_bytes &&
		    m->range_bytes <= o->target_bytes + d->region_bytes)
			m->range_bytes = o->target_bytes;
		m->first_byte = 0;
	}
	if (!o->target_bytes || m->range_bytes <= o->target_bytes)
		return 0;
	if (!(o->leave_out & MIMIC_LEAVE_LOCALITY))
		return err_set(err, EDOM,
			       "the load touches a range of %s, the target has %s, in which it "
			       "fits only if locality is left out",
			       units_bytes((double)m->range_bytes, need),
			       units_bytes((double)o->target_bytes, have));
	m->range_bytes = o->target_bytes;
	mimic_note(m, "the address range was made to fit the target");
	return 0;
}

/*
 * Draws with replacement touch range (1 - exp(-bytes / range)); a random map touches the whole
 * range.
 */
static void make_map(struct mimic *m, const struct profile *p)
{
	double bytes = (double)p->bytes[OPERATION_READ] + (double)p->bytes[OPERATION_WRITE];
	double range = (double)m->range_bytes, drawn = range * (1 - exp(-bytes / range));
	double mapped = fmin(bytes, range), seen = p->locality.footprint_bytes;

	m->random_map = m->distribution.kind != DISTRIBUTION_ZIPF && !m->by_zones &&
			m->clients == 1 && m->side[0].nr_split + m->side[1].nr_split == 1 &&
			isfinite(seen) && fabs(seen - mapped) < fabs(seen - drawn);
}

static int make_sequential(struct mimic *m, const struct profile *p, int side, double more)
{
	const struct direction_profile *from = side ? &p->write : &p->read;
	double wanted = from->sequential_ratio + more;
	struct mimic_direction *d = &m->side[side];
	uint64_t count = p->requests[side ? OPERATION_WRITE : OPERATION_READ];
	uint32_t subset = p->window_requests ? p->window_requests : 4096;
	uint64_t nr = count < (uint64_t)SUBSETS * subset ? count : (uint64_t)SUBSETS * subset;
	unsigned int low = 0, high = 100;
	double at_low, at_high;

	d->percent_random = 100;
	if (isnan(wanted))
		return 0;
	/* The ratio falls with the percentage: the loop finds the two whole percents around it. */
	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;
		double ratio = mimic_simulate_ratio(m, side, middle, subset, nr);

		if (isnan(ratio))
			return -ENOMEM;
		if (ratio > wanted)
			low = middle;
		else
			high = middle;
	}
	at_low = mimic_simulate_ratio(m, side, low, subset, nr);
	at_high = mimic_simulate_ratio(m, side, high, subset, nr);
	if (isnan(at_low) || isnan(at_high))
		return -ENOMEM;
	d->percent_random = fabs(at_low - wanted) <= fabs(at_high - wanted) ? low : high;
	d->sequential_ratio = d->percent_random == low ? at_low : at_high;
	return 0;
}

static void make_files(struct mimic *m, const struct profile *p, const struct mimic_options *o)
{
	double count = p->locality.file_count_mean, bytes = p->locality.file_size_mean_bytes;

	m->nr_files = 1;
	m->file_bytes = m->range_bytes < FILES_BYTES_MAX ? m->range_bytes : FILES_BYTES_MAX;
	if (!o->directory && isfinite(count))
		mimic_note(m, "the target is no folder: its files are not mimicked");
	if (!o->directory || !(count >= 1) || !(bytes >= 1))
		return;
	m->nr_files = (unsigned int)lround(fmin(count, 100000));
	bytes = fmin(bytes, (double)(FILES_BYTES_MAX / m->nr_files));
	m->file_bytes = ((uint64_t)bytes + 4095) / 4096 * 4096;
}

/* Notes rates that fio can express only as evenly spaced bytes per second. */
static void note_slow_rates(struct mimic *m)
{
	static const char *const names[2] = { "reads", "writes" };

	for (int k = 0; k < 2 && m->open && !m->bursty; k++)
		if (m->side[k].nr_split && !m->even && !mimic_whole_rate(m->side[k].rate_per_s))
			buf_printf(&m->notes,
				   "%s: %.3g a second are spaced evenly, since fio has Poisson "
				   "arrivals at whole rates only\n",
				   names[k], m->side[k].rate_per_s);
}

int mimic_make(struct mimic *m, const struct profile *p, const struct mimic_options *o,
	       struct err *err)
{
	struct aims aims = { .think_s = NAN,
			     .depth = NAN,
			     .rate_factor = 1,
			     .burst_factor = 1,
			     .log_depth_factor = 1 };
	int ret;

	memset(m, 0, sizeof(*m));
	buf_init(&m->notes);
	m->target = o->target;
	m->directory = o->directory;
	m->duration_s = o->duration_s > 0 ? o->duration_s : p->end_s - p->begin_s;
	m->seed = o->seed;
	ret = mimic_check(p, o, err);
	if (!ret)
		ret = mimic_aim(&aims, m, p, o, err);
	for (int k = 0; k < 2 && !ret; k++)
		if (p->requests[k ? OPERATION_WRITE : OPERATION_READ])
			ret = make_sizes(m, k ? &p->write : &p->read, k, err);
	if (!ret)
		ret = make_range(m, p, o, err);
	if (ret)
		return ret;
	ret = choose_law(m);
	make_map(m, p);
	for (int k = 0; k < 2 && !ret; k++)
		if (m->side[k].nr_split)
			ret = make_sequential(m, p, k, aims.ratio_more[k]);
	make_files(m, p, o);
	note_slow_rates(m);
	mimic_make_durable(m, p);
	return ret ? ret : m->notes.error;
}

void mimic_release(struct mimic *m)
{
	buf_release(&m->notes);
}

bool mimic_leave_out(unsigned int *set, const char *name)
{
	static const char *const parts[] = { "discards", "bursts", "locality" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(parts[i], name)) {
			*set |= 1u << i;
			return true;
		}
	return false;
}
