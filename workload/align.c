/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/order.h"
#include "workload/align.h"

#define NS_PER_S      1000000000ull
#define FIRST_CELLS   64
#define MIN_CELLS     1024
#define CELLS_GRANTED 16
#define LONGEST_SHIFT 34 /* one interval of 2^34 s covers 64 bits of ns */

struct cell {
	uint64_t count[NR_ALIGN_QUANTITIES];
};

struct stream {
	char host[PROFILE_NAME_BYTES], device[PROFILE_NAME_BYTES];
	uint64_t first; /* interval of cells[0] */
	struct cell *cells;
	size_t nr, cap; /* intervals first .. first + nr - 1 */
};

struct align {
	struct stream *streams;
	size_t nr, cap;
	size_t nr_cells, max_cells; /* nr_cells: allocated over all streams */
	uint64_t first, last; /* intervals that any stream covers; undefined while none does */
	unsigned int shift;   /* the interval is 2^shift seconds */
};

int align_new(struct align **out, size_t max_cells)
{
	struct align *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->max_cells = max_cells ? max_cells : ALIGN_MAX_CELLS;
	if (a->max_cells < MIN_CELLS)
		a->max_cells = MIN_CELLS;
	*out = a;
	return 0;
}

void align_free(struct align *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nr; i++)
		free(a->streams[i].cells);
	free(a->streams);
	free(a);
}

static void copy_name(char *to, const char *from)
{
	size_t len = strnlen(from, PROFILE_NAME_BYTES - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

int align_stream(struct align *a, const char *host, const char *device, uint32_t *out)
{
	struct stream wanted = { 0 };

	copy_name(wanted.host, host);
	copy_name(wanted.device, device);
	for (size_t i = 0; i < a->nr; i++) {
		if (!strcmp(a->streams[i].host, wanted.host) &&
		    !strcmp(a->streams[i].device, wanted.device)) {
			*out = (uint32_t)i;
			return 0;
		}
	}
	if (a->nr == ALIGN_MAX_STREAMS)
		return -ENOSPC;
	if (a->nr == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 8;
		struct stream *streams = realloc(a->streams, cap * sizeof(*streams));

		if (!streams)
			return -ENOMEM;
		a->streams = streams;
		a->cap = cap;
	}
	a->streams[a->nr] = wanted;
	*out = (uint32_t)a->nr++;
	return 0;
}

static void add_cell(struct cell *to, const struct cell *from)
{
	for (size_t q = 0; q < NR_ALIGN_QUANTITIES; q++)
		to->count[q] += from->count[q];
}

/* Joins intervals 2i and 2i + 1 of every stream, and frees the memory that is no longer needed. */
static void double_interval(struct align *a)
{
	a->shift++;
	a->first >>= 1;
	a->last >>= 1;
	a->nr_cells = 0;
	for (size_t i = 0; i < a->nr; i++) {
		struct stream *s = &a->streams[i];
		uint64_t first = s->first >> 1;
		struct cell *smaller;

		for (size_t k = 0; k < s->nr; k++) {
			struct cell moved = s->cells[k];

			s->cells[k] = (struct cell){ 0 };
			add_cell(&s->cells[((s->first + k) >> 1) - first], &moved);
		}
		if (s->nr)
			s->nr = ((s->first + s->nr - 1) >> 1) - first + 1;
		s->first = first;
		smaller = s->nr ? realloc(s->cells, s->nr * sizeof(*s->cells)) : NULL;
		if (smaller) {
			s->cells = smaller;
			s->cap = s->nr;
		}
		a->nr_cells += s->cap;
	}
}

/* Returns the number of cells that the stream would have if it covered that interval too. */
static uint64_t cells_with(const struct stream *s, uint64_t interval)
{
	if (!s->nr)
		return 1;
	if (interval < s->first)
		return s->first - interval + s->nr;
	return interval - s->first < s->nr ? s->nr : interval - s->first + 1;
}

/* Creates the interval's cell. It must lie at most max_cells away from the others. */
static int align_cover(struct align *a, struct stream *s, uint64_t interval)
{
	size_t nr = (size_t)cells_with(s, interval), front = 0;

	if (nr > s->cap) {
		size_t cap = nr + nr / 2 < FIRST_CELLS ? FIRST_CELLS : nr + nr / 2;
		struct cell *cells;

		/*
		 * Close to the bound half of the rest is taken, because growing cell by cell would
		 * be quadratic.
		 */
		if (a->nr_cells - s->cap + cap > a->max_cells) {
			size_t others = a->nr_cells - s->cap;

			cap = nr; /* which align_fits() allowed */
			if (others + nr < a->max_cells)
				cap += (a->max_cells - others - nr) / 2;
		}
		cells = realloc(s->cells, cap * sizeof(*cells));
		if (!cells)
			return -ENOMEM;
		a->nr_cells += cap - s->cap;
		s->cells = cells;
		s->cap = cap;
	}
	if (!s->nr)
		s->first = interval;
	if (interval < s->first) {
		front = (size_t)(s->first - interval);
		memmove(s->cells + front, s->cells, s->nr * sizeof(*s->cells));
		memset(s->cells, 0, front * sizeof(*s->cells));
		s->first = interval;
	}
	memset(s->cells + front + s->nr, 0, (nr - front - s->nr) * sizeof(*s->cells));
	s->nr = nr;
	return 0;
}

/*
 * Returns whether the interval fits. Two numbers must stay within the bound: the cells of all
 * streams, and the span from the first to the last interval, for which align_sum() allocates an
 * array. The bound is never below a few cells for every stream.
 */
static bool align_fits(const struct align *a, const struct stream *s, uint64_t interval)
{
	size_t limit = a->nr * CELLS_GRANTED > a->max_cells ? a->nr * CELLS_GRANTED : a->max_cells;
	uint64_t nr = cells_with(s, interval), first = interval, last = interval;

	if (a->nr_cells) {
		first = interval < a->first ? interval : a->first;
		last = interval > a->last ? interval : a->last;
	}
	if (last - first >= limit)
		return false;
	return nr <= s->cap || a->nr_cells - s->cap + nr <= limit;
}

/* Adds the load to an interval of 2^shift seconds. shift is at most that of a. */
static int align_add_load(struct align *a, uint32_t stream, uint64_t interval, unsigned int shift,
			  const struct cell *load)
{
	struct stream *s = &a->streams[stream];
	uint64_t at = interval >> (a->shift - shift);

	while (!align_fits(a, s, at) && a->shift < LONGEST_SHIFT) {
		double_interval(a);
		at = interval >> (a->shift - shift);
	}
	if (!s->nr || at < s->first || at - s->first >= s->nr) {
		bool is_only = !a->nr_cells;
		int ret = align_cover(a, s, at);

		if (ret)
			return ret;
		a->first = is_only || at < a->first ? at : a->first;
		a->last = is_only || at > a->last ? at : a->last;
	}
	add_cell(&s->cells[at - s->first], load);
	return 0;
}

int align_add(struct align *a, uint32_t stream, uint64_t real_ns, uint64_t requests, uint64_t bytes)
{
	struct cell load = { .count = { requests, bytes } };

	if (stream >= a->nr)
		return -EINVAL;
	return align_add_load(a, stream, real_ns / NS_PER_S, 0, &load);
}

static int stream_compare(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : strcmp(x->device, y->device);
}

void align_sort(struct align *a)
{
	if (a->nr > 1)
		qsort(a->streams, a->nr, sizeof(*a->streams), stream_compare);
}

int align_write(const struct align *a, struct buf *out)
{
	buf_put_le32(out, a->shift);
	buf_put_le64(out, a->nr);
	for (size_t i = 0; i < a->nr; i++) {
		const struct stream *s = &a->streams[i];

		buf_put(out, s->host, sizeof(s->host));
		buf_put(out, s->device, sizeof(s->device));
		buf_put_le64(out, s->first);
		buf_put_le64(out, s->nr);
		for (size_t k = 0; k < s->nr; k++)
			for (int q = 0; q < NR_ALIGN_QUANTITIES; q++)
				buf_put_le64(out, s->cells[k].count[q]);
	}
	return out->error;
}

/* Adds the intervals of one stream, each of 2^shift seconds. */
static int stream_join(struct align *a, uint32_t stream, unsigned int shift, struct cursor *in)
{
	uint64_t first, nr;
	int ret = cursor_get_le64(in, &first);

	if (!ret)
		ret = cursor_get_le64(in, &nr);
	if (ret)
		return ret;
	for (uint64_t k = 0; k < nr; k++) {
		struct cell load;

		for (int q = 0; q < NR_ALIGN_QUANTITIES && !ret; q++)
			ret = cursor_get_le64(in, &load.count[q]);
		/* Intervals without load cover time too, as they did where they were counted. */
		if (!ret)
			ret = align_add_load(a, stream, first + k, shift, &load);
		if (ret)
			return ret;
	}
	return 0;
}

int align_join(struct align *a, struct cursor *in)
{
	uint32_t shift = 0;
	uint64_t nr = 0;
	int ret = cursor_get_le32(in, &shift);

	if (!ret)
		ret = cursor_get_le64(in, &nr);
	if (!ret && shift > LONGEST_SHIFT)
		ret = -EBADMSG;
	while (!ret && a->shift < shift)
		double_interval(a);
	for (uint64_t i = 0; i < nr && !ret; i++) {
		char host[PROFILE_NAME_BYTES], device[PROFILE_NAME_BYTES];
		uint32_t stream = 0;

		ret = cursor_get(in, host, sizeof(host));
		if (!ret)
			ret = cursor_get(in, device, sizeof(device));
		if (ret)
			break;
		host[sizeof(host) - 1] = device[sizeof(device) - 1] = '\0';
		ret = align_stream(a, host, device, &stream);
		if (!ret)
			ret = stream_join(a, stream, shift, in);
	}
	return ret;
}

bool align_has_room(const struct align *a)
{
	uint64_t nr = 0;

	/*
	 * This is the allocation of align_cover(): half more than is needed, and at least
	 * FIRST_CELLS.
	 */
	for (size_t i = 0; i < a->nr; i++)
		nr += a->streams[i].nr + a->streams[i].nr / 2 + FIRST_CELLS;
	return a->shift == 0 && nr <= a->max_cells &&
	       (!a->nr_cells || a->last - a->first < a->max_cells);
}

/* Returns the smallest value for which at least a share p of the values is not larger. */
static double nearest_rank(const uint64_t *sorted, size_t nr, double p)
{
	/*
	 * A share such as 0.95 is not exact in binary. The small offset keeps that error from
	 * raising the rank by one.
	 */
	double rank = ceil(p * (double)nr - 1e-9);

	return (double)sorted[rank < 1 ? 0 : (size_t)rank - 1];
}

static uint64_t count_at(const struct stream *s, uint64_t interval, enum align_quantity quantity)
{
	if (interval < s->first || interval - s->first >= s->nr)
		return 0;
	return s->cells[interval - s->first].count[quantity];
}

/*
 * Keeps the ALIGN_NR_MAKERS largest contributors. Of equal ones it prefers the stream seen first.
 */
static void note_maker(struct align_sum *out, struct align_maker maker)
{
	size_t at = out->nr_makers;

	while (at && out->makers[at - 1].per_s < maker.per_s)
		at--;
	if (at == ALIGN_NR_MAKERS)
		return;
	if (out->nr_makers < ALIGN_NR_MAKERS)
		out->nr_makers++;
	memmove(&out->makers[at + 1], &out->makers[at],
		(out->nr_makers - at - 1) * sizeof(out->makers[0]));
	out->makers[at] = maker;
}

static void find_makers(const struct align *a, enum align_quantity quantity, uint64_t interval,
			struct align_sum *out)
{
	for (size_t i = 0; i < a->nr; i++) {
		double per_s =
			(double)count_at(&a->streams[i], interval, quantity) / out->interval_s;

		if (per_s > 0)
			note_maker(out, (struct align_maker){ .stream = (uint32_t)i,
							      .per_s = per_s,
							      .share = per_s / out->max_per_s });
	}
}

/* Adds up the streams interval by interval, and finds each stream's own maximum. */
static void add_up(const struct align *a, enum align_quantity quantity, uint64_t *sums,
		   struct align_sum *out)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct stream *s = &a->streams[i];
		uint64_t peak = 0;

		for (size_t k = 0; k < s->nr; k++) {
			uint64_t count = s->cells[k].count[quantity];

			sums[s->first - a->first + k] += count;
			peak = count > peak ? count : peak;
		}
		out->own_peaks_per_s += (double)peak / out->interval_s;
		out->nr_streams += peak > 0;
	}
}

int align_sum(const struct align *a, enum align_quantity quantity, struct align_sum *out)
{
	return align_sum_watched(a, quantity, 0, out);
}

int align_sum_watched(const struct align *a, enum align_quantity quantity, size_t nr_unwatched,
		      struct align_sum *out)
{
	struct align_sum r = { .interval_s = align_interval_s(a),
			       .mean_per_s = NAN,
			       .p95_per_s = NAN,
			       .p99_per_s = NAN,
			       .max_per_s = NAN,
			       .max_begin_s = NAN };
	size_t nr = (size_t)(a->last - a->first) + 1, at_max = 0, nr_left_out = 0;
	uint64_t *sums;

	if (!a->nr_cells) {
		*out = r;
		return 0;
	}
	sums = calloc(nr, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	add_up(a, quantity, sums, &r);
	for (size_t i = 0; i < nr; i++) {
		r.total += (double)sums[i];
		if (sums[i] > sums[at_max])
			at_max = i;
	}
	r.begin_s = (double)a->first * r.interval_s;
	r.max_per_s = (double)sums[at_max] / r.interval_s;
	r.max_begin_s = (double)(a->first + at_max) * r.interval_s;
	find_makers(a, quantity, a->first + at_max, &r);
	qsort(sums, nr, sizeof(*sums), order_u64);
	/* Unwatched intervals have no load, so they are among the first. One interval stays. */
	while (nr_left_out < nr_unwatched && nr_left_out + 1 < nr && !sums[nr_left_out])
		nr_left_out++;
	nr -= nr_left_out;
	r.nr_intervals = nr;
	r.mean_per_s = r.total / (double)nr / r.interval_s;
	r.p95_per_s = nearest_rank(sums + nr_left_out, nr, 0.95) / r.interval_s;
	r.p99_per_s = nearest_rank(sums + nr_left_out, nr, 0.99) / r.interval_s;
	free(sums);
	*out = r;
	return 0;
}

uint32_t align_nr_streams(const struct align *a)
{
	return (uint32_t)a->nr;
}

const char *align_host(const struct align *a, uint32_t stream)
{
	return stream < a->nr ? a->streams[stream].host : NULL;
}

const char *align_device(const struct align *a, uint32_t stream)
{
	return stream < a->nr ? a->streams[stream].device : NULL;
}

double align_interval_s(const struct align *a)
{
	return ldexp(1, (int)a->shift);
}
