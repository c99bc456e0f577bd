// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_bins.h"

#include <errno.h>
#include <math.h>

#include "base/memory/varint.h"

void page_bins_merge(struct bins *dst, const struct bins *src)
{
	for (int kind = 0; kind < NR_BINS; kind++)
		for (int side = 0; side < 2; side++)
			for (int i = 0; i < MIRROR_BINS; i++)
				dst->counts[kind][side][i] += src->counts[kind][side][i];
}

void page_bins_add(struct bins *to, const struct profile *p, double from, double until)
{
	struct bins whole = { 0 };

	bins_add_tallies(&whole, p->read.arrivals, 0);
	bins_add_tallies(&whole, p->undivided_arrivals, 0);
	bins_add_tallies(&whole, p->write.arrivals, 1);
	for (int kind = 0; kind < NR_BINS; kind++)
		for (int side = 0; side < 2; side++)
			for (int i = 0; i < MIRROR_BINS; i++) {
				double count = whole.counts[kind][side][i];

				to->counts[kind][side][i] +=
					floor(count * until + 0.5) - floor(count * from + 0.5);
			}
}

/*
 * The packed form of a distribution is the set of bins with a count, one bit each, and their
 * counts.
 */
static void page_bins_pack_one(const double counts[MIRROR_BINS], struct buf *out)
{
	uint64_t used = 0;

	for (int i = 0; i < MIRROR_BINS; i++)
		used |= (uint64_t)(counts[i] > 0) << i;
	varint_put(out, used);
	for (int i = 0; i < MIRROR_BINS; i++)
		if (used >> i & 1)
			varint_put(out, (uint64_t)fmin(counts[i], 0x1p62));
}

void page_bins_pack(const struct bins *b, struct buf *out)
{
	for (int kind = 0; kind < NR_BINS; kind++)
		for (int side = 0; side < 2 && kind != BINS_FLUSH; side++)
			page_bins_pack_one(b->counts[kind][side], out);
}

static int page_bins_merge_one(double counts[MIRROR_BINS], struct cursor *from)
{
	uint64_t used, count;

	if (varint_get(from, &used) < 0 || used >> MIRROR_BINS)
		return -EBADMSG;
	for (int i = 0; i < MIRROR_BINS; i++) {
		if (!(used >> i & 1))
			continue;
		if (varint_get(from, &count) < 0)
			return -EBADMSG;
		counts[i] += (double)count;
	}
	return 0;
}

int page_bins_merge_packed(struct bins *dst, struct cursor *from)
{
	int ret = 0;

	for (int kind = 0; kind < NR_BINS; kind++)
		for (int side = 0; side < 2 && kind != BINS_FLUSH && !ret; side++)
			ret = page_bins_merge_one(dst->counts[kind][side], from);
	return ret;
}

static json_t *page_bins_list(const struct bins *b, enum bins_kind kind)
{
	const double *reads = b->counts[kind][0], *writes = b->counts[kind][1];
	unsigned int end = 0, first = MIRROR_BINS;
	json_t *list = json_array();

	for (unsigned int i = 0; i < MIRROR_BINS; i++)
		if (reads[i] + writes[i] > 0) {
			first = i < first ? i : first;
			end = i + 1;
		}
	for (unsigned int i = first; i < end; i++)
		json_array_append_new(list, json_pack("[s, I, I]", bins_label(kind, i),
						      (json_int_t)fmin(reads[i], 0x1p62),
						      (json_int_t)fmin(writes[i], 0x1p62)));
	return list;
}

json_t *page_bins_json(const struct bins *b)
{
	json_t *object = json_object();

	for (int kind = 0; kind < NR_BINS; kind++)
		json_object_set_new(object, bins_name((enum bins_kind)kind),
				    page_bins_list(b, (enum bins_kind)kind));
	return object;
}
