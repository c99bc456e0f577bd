/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/profile/arrival_tally.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

unsigned int arrival_tally_nr(enum arrival_kind kind)
{
	static const unsigned int nrs[NR_TALLIES] = { TALLY_NR_OUTSTANDING, TALLY_NR_INTERARRIVAL,
						      TALLY_NR_SEEK };

	return nrs[kind];
}

static int64_t arrival_outstanding_bucket(unsigned int index)
{
	unsigned int above = index - 17; /* quarters of a power of two, from 16 on */

	if (index <= 16)
		return index;
	if (index == TALLY_NR_OUTSTANDING - 1)
		return TALLY_OUTSTANDING_MORE;
	return (5 + (int64_t)above % 4) << (above / 4 + 2);
}

static int64_t arrival_seek_bucket(unsigned int index)
{
	int away = (int)index - TALLY_NR_SEEK / 2;

	if (!away)
		return 0;
	return away > 0 ? 1ll << (away - 1) : -(1ll << (-away - 1));
}

int64_t arrival_tally_bucket(enum arrival_kind kind, unsigned int index)
{
	switch (kind) {
	case TALLY_OUTSTANDING:
		return arrival_outstanding_bucket(index);
	case TALLY_INTERARRIVAL:
		return ((int64_t)index - 119) * 8;
	default:
		return arrival_seek_bucket(index);
	}
}

bool arrival_tally_is_bucket(enum arrival_kind kind, int64_t bucket)
{
	unsigned int first = 0, end = arrival_tally_nr(kind);

	while (first < end) {
		unsigned int middle = (first + end) / 2;

		if (arrival_tally_bucket(kind, middle) < bucket)
			first = middle + 1;
		else
			end = middle;
	}
	return first < arrival_tally_nr(kind) && arrival_tally_bucket(kind, first) == bucket;
}

void arrival_tally_release(struct arrival_tally *t)
{
	free(t->counts);
	*t = (struct arrival_tally){ 0 };
}

int arrival_tally_make(struct arrival_tally *t, enum arrival_kind kind, const uint64_t *by_index)
{
	unsigned int nr = 0, end = arrival_tally_nr(kind);

	for (unsigned int i = 0; i < end; i++)
		nr += by_index[i] != 0;
	if (!nr)
		return 0;
	t->counts = calloc(nr, sizeof(*t->counts));
	if (!t->counts)
		return -ENOMEM;
	for (unsigned int i = 0; i < end; i++)
		if (by_index[i])
			t->counts[t->nr++] =
				(struct arrival_tally_count){ arrival_tally_bucket(kind, i),
							      by_index[i] };
	return 0;
}

int arrival_tally_copy(struct arrival_tally *dst, const struct arrival_tally *src)
{
	*dst = (struct arrival_tally){ 0 };
	return arrival_tally_merge(dst, src);
}

int arrival_tally_merge(struct arrival_tally *dst, const struct arrival_tally *src)
{
	size_t cap = dst->nr + src->nr, a = 0, b = 0, nr = 0;
	struct arrival_tally_count *all;

	if (!src->nr)
		return 0;
	all = calloc(cap, sizeof(*all));
	if (!all)
		return -ENOMEM;
	while (a < dst->nr || b < src->nr) {
		bool is_left = b == src->nr ||
			       (a < dst->nr && dst->counts[a].bucket <= src->counts[b].bucket);
		const struct arrival_tally_count *next =
			is_left ? &dst->counts[a++] : &src->counts[b++];

		if (nr && all[nr - 1].bucket == next->bucket)
			all[nr - 1].count += next->count;
		else
			all[nr++] = *next;
	}
	free(dst->counts);
	dst->counts = all;
	dst->nr = nr;
	return 0;
}

uint64_t arrival_tally_total(const struct arrival_tally *t)
{
	return arrival_tally_between(t, INT64_MIN, INT64_MAX);
}

uint64_t arrival_tally_between(const struct arrival_tally *t, int64_t from, int64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (t->counts[i].bucket >= from && t->counts[i].bucket <= to)
			sum += t->counts[i].count;
	return sum;
}

double arrival_tally_share(const struct arrival_tally *t, int64_t from, int64_t to)
{
	return (double)arrival_tally_between(t, from, to) / (double)arrival_tally_total(t);
}

double arrival_tally_mean(const struct arrival_tally *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->nr; i++)
		sum += (double)t->counts[i].bucket * (double)t->counts[i].count;
	return sum / (double)arrival_tally_total(t);
}

bool arrival_tally_quantile(const struct arrival_tally *t, double p, int64_t *bucket)
{
	double rank = p * (double)arrival_tally_total(t), sum = 0;

	for (size_t i = 0; i < t->nr; i++) {
		*bucket = t->counts[i].bucket;
		sum += (double)t->counts[i].count;
		if (sum >= rank)
			break;
	}
	return t->nr > 0;
}
