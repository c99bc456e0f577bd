/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "workload/idc.h"

#define FINEST_NS 10000000ull

/*
 * Each length is a multiple of the finest one, so that a bin of the finest lies within one bin of
 * every other.
 */
const uint64_t idc_window_ns[IDC_NR_SCALES] = { FINEST_NS, 100000000ull, 1000000000ull,
						10000000000ull };

static uint64_t middle_begin(const struct idc_scale *s)
{
	return s->origin + IDC_OPEN_BINS;
}

void idc_init(struct idc *d, uint64_t begin_ns)
{
	memset(d, 0, sizeof(*d));
	d->begin_ns = begin_ns;
	d->bin_begin_ns = begin_ns / FINEST_NS * FINEST_NS;
	for (size_t i = 0; i < IDC_NR_SCALES; i++) {
		struct idc_scale *s = &d->scale[i];
		uint64_t bin = begin_ns / idc_window_ns[i];

		s->origin = bin > IDC_OPEN_BINS / 2 ? bin - IDC_OPEN_BINS / 2 : 0;
		s->tail_begin = middle_begin(s);
	}
}

/*
 * Closes bins of the tail until the ring begins at that bin. Only the bins of one turn of the ring
 * have counts.
 */
static void idc_advance(struct idc_scale *s, uint64_t tail_begin)
{
	uint64_t turn = s->tail_begin + IDC_OPEN_BINS;
	uint64_t stop = tail_begin < turn ? tail_begin : turn;

	for (uint64_t bin = s->tail_begin; bin < stop; bin++) {
		uint32_t *count = &s->tail[bin % IDC_OPEN_BINS];

		s->sum += *count;
		s->sum_squares += (double)*count * (double)*count;
		*count = 0;
	}
	if (tail_begin > s->tail_begin)
		s->tail_begin = tail_begin;
}

static void scale_add(struct idc_scale *s, uint64_t bin, uint32_t count)
{
	if (bin >= s->dead_begin && bin < s->dead_end)
		return;
	if (bin < s->origin)
		bin = s->origin;
	if (bin < middle_begin(s)) {
		s->head[bin - s->origin] += count;
		return;
	}
	if (bin < s->tail_begin)
		bin = s->tail_begin;
	if (bin >= s->tail_begin + IDC_OPEN_BINS)
		idc_advance(s, bin - IDC_OPEN_BINS + 1);
	s->tail[bin % IDC_OPEN_BINS] += count;
}

static void idc_flush(struct idc *d)
{
	if (d->bin_count)
		for (size_t i = 0; i < IDC_NR_SCALES; i++)
			scale_add(&d->scale[i], d->bin_begin_ns / idc_window_ns[i], d->bin_count);
	d->bin_count = 0;
}

void idc_add_many(struct idc *d, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		/*
		 * For an arrival below the bin's begin the difference wraps to a large number, and
		 * the condition holds too.
		 */
		if (r[i].arrival_ns - d->bin_begin_ns >= FINEST_NS) {
			idc_flush(d);
			d->bin_begin_ns = r[i].arrival_ns / FINEST_NS * FINEST_NS;
		}
		d->bin_count++;
	}
}

/* Sets the count of a bin that is still open to 0. */
static void scale_clear_bin(struct idc_scale *s, uint64_t bin)
{
	if (bin >= s->origin && bin < middle_begin(s))
		s->head[bin - s->origin] = 0;
	else if (bin >= s->tail_begin && bin < s->tail_begin + IDC_OPEN_BINS)
		s->tail[bin % IDC_OPEN_BINS] = 0;
}

void idc_skip(struct idc *d, uint64_t begin_ns, uint64_t end_ns)
{
	idc_flush(d);
	for (size_t i = 0; i < IDC_NR_SCALES; i++) {
		struct idc_scale *s = &d->scale[i];
		uint64_t window_ns = idc_window_ns[i], begin = begin_ns / window_ns;
		uint64_t end = end_ns / window_ns + (end_ns % window_ns != 0);
		uint64_t first = d->begin_ns / window_ns + (d->begin_ns % window_ns != 0);

		if (begin < s->dead_end)
			begin = s->dead_end;
		if (begin >= end)
			continue;
		scale_clear_bin(s, begin);
		s->dead_begin = begin;
		s->dead_end = end;
		if (end > first)
			s->nr_dead += end - (begin > first ? begin : first);
	}
}

/* Returns the number of bins before `end` that were not observed. */
static uint64_t dead_bins(const struct idc_scale *s, uint64_t end)
{
	uint64_t from = end > s->dead_begin ? end : s->dead_begin;
	uint64_t beyond = s->dead_end > from ? s->dead_end - from : 0;

	return s->nr_dead > beyond ? s->nr_dead - beyond : 0;
}

struct bin_range {
	uint64_t begin, end;
};

/* Returns the bins of `in` that are among the IDC_OPEN_BINS bins from first on. */
static struct bin_range open_bins(struct bin_range in, uint64_t first)
{
	uint64_t stop = first + IDC_OPEN_BINS;

	return (struct bin_range){ in.begin > first ? in.begin : first,
				   in.end < stop ? in.end : stop };
}

static void sum_bins(const struct idc_scale *s, struct bin_range in, double *sum, double *squares)
{
	struct bin_range head = open_bins(in, s->origin), tail = open_bins(in, s->tail_begin);

	*sum = (double)s->sum;
	*squares = s->sum_squares;
	for (uint64_t bin = head.begin; bin < head.end; bin++) {
		double x = s->head[bin - s->origin];

		*sum += x;
		*squares += x * x;
	}
	for (uint64_t bin = tail.begin; bin < tail.end; bin++) {
		double x = s->tail[bin % IDC_OPEN_BINS];

		*sum += x;
		*squares += x * x;
	}
}

double idc_at(const struct idc *d, unsigned int scale, uint64_t end_ns)
{
	const struct idc_scale *s = &d->scale[scale];
	uint64_t window_ns = idc_window_ns[scale];
	struct idc_scale flushed;
	struct bin_range in;
	uint64_t dead;
	double sum, squares, nr, mean;

	in.begin = d->begin_ns / window_ns + (d->begin_ns % window_ns != 0);
	in.end = end_ns / window_ns;
	dead = dead_bins(s, in.end);
	if (in.end < in.begin + dead + IDC_MIN_BINS)
		return NAN;
	if (d->bin_count) {
		flushed = *s;
		scale_add(&flushed, d->bin_begin_ns / window_ns, d->bin_count);
		s = &flushed;
	}
	/*
	 * Closed bins are known only as a whole. The index of a period that ends among them is
	 * unknown.
	 */
	if (in.end < s->tail_begin && s->sum)
		return NAN;
	sum_bins(s, in, &sum, &squares);
	nr = (double)(in.end - in.begin - dead);
	mean = sum / nr;
	if (sum <= 0)
		return NAN;
	return fmax((squares - sum * mean) / (nr - 1), 0) / mean;
}
