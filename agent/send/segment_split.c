/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/send/segment_split.h"

#include <errno.h>

#include "formats/segment/segment.h"

#define BATCH 256

/* Copies the next nr requests of the reader; *first_ns receives the arrival of the first. */
static int copy_requests(struct segment_reader *r, struct segment_writer *w, size_t nr)
{
	struct request batch[BATCH];

	while (nr) {
		int64_t got = segment_reader_next(r, batch, nr < BATCH ? nr : BATCH);

		if (got <= 0)
			return got ? (int)got : -EBADMSG;
		for (int64_t i = 0; i < got; i++) {
			int ret = segment_writer_add(w, &batch[i]);

			if (ret)
				return ret;
		}
		nr -= (size_t)got;
	}
	return 0;
}

static void segment_split_halve(uint64_t *first, uint64_t *second, size_t nr, size_t nr_first)
{
	/*
	 * The number of delivered requests is at least the number kept; the first half takes the
	 * difference.
	 */
	*second = *first >= nr ? nr - nr_first : *first / 2;
	*first -= *second;
}

int segment_split(const struct segment_origin *o, const void *data, size_t len, struct buf *first,
		  struct buf *second)
{
	struct segment_header head, tail;
	struct segment_reader *r = NULL;
	struct segment_writer *w = NULL;
	size_t nr, nr_first;
	int ret;

	if (2 * o->number + 1 >= SEGMENT_SPLIT_PARTS)
		return -ERANGE;
	ret = segment_reader_new(&r, data, len, NULL);
	if (ret)
		return ret;
	ret = segment_writer_new(&w);
	if (ret)
		goto out;
	nr = segment_reader_count(r);
	nr_first = nr / 2;
	ret = nr < 2 ? -ERANGE : copy_requests(r, w, nr_first);
	if (ret)
		goto out;
	head = tail = *segment_reader_header(r);
	segment_split_halve(&head.nr_captured, &tail.nr_captured, nr, nr_first);
	ret = segment_writer_finish(w, &head, first);
	if (ret)
		goto out;
	ret = copy_requests(r, w, nr - nr_first);
	if (ret)
		goto out;
	tail.epoch = o->epoch + 1 + o->sequence * SEGMENT_SPLIT_PARTS + 2 * o->number + 1;
	tail.sequence = 0;
	tail.ledger = NULL;
	tail.profiles = NULL;
	tail.nr_profiles = 0;
	ret = segment_writer_finish(w, &tail, second);
out:
	segment_writer_free(w);
	segment_reader_free(r);
	return ret;
}

int segment_rename(const struct segment_origin *o, const void *data, size_t len, struct buf *out)
{
	struct segment_hash hash = segment_hash_of(data, len);
	struct segment_reader *r = NULL;
	struct segment_writer *w = NULL;
	struct segment_header h;
	uint32_t nr_ns;
	int ret = segment_reader_new(&r, data, len, NULL);

	if (ret)
		goto out;
	ret = segment_writer_new(&w);
	if (ret)
		goto out;
	ret = copy_requests(r, w, segment_reader_count(r));
	if (ret)
		goto out;
	h = *segment_reader_header(r);
	nr_ns = (uint32_t)hash.bytes[0] << 24 | (uint32_t)hash.bytes[1] << 16 |
		(uint32_t)hash.bytes[2] << 8 | hash.bytes[3];
	h.epoch = o->epoch + (nr_ns | 1u << 31);
	h.sequence = 0;
	ret = segment_writer_finish(w, &h, out);
out:
	segment_writer_free(w);
	segment_reader_free(r);
	return ret;
}
