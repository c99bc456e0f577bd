/* SPDX-License-Identifier: Apache-2.0 */
/* segment_read_next: decodes the requests of a segment that segment_read.c has opened. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/segment/segment_read_state.h"

/* number of requests decoded at a time, chosen so that they stay in the first-level cache */
#define CHUNK 256u

/*
 * Decodes the sectors. Kinds and sizes must be known, because a stream belongs to a device and an
 * operation, and a size determines where a request ends.
 */
static void next_streams(struct segment_reader *s, struct request *out, size_t nr)
{
	const uint8_t *stream = s->stream.at + s->at, *low = s->low.at + s->low_at;
	uint64_t near[CHUNK], place[CHUNK];
	size_t nr_near, nr_place;

	s->has_streams = true;
	segment_count_streams(stream, nr, &nr_near, &nr_place);
	column_reader_next(&s->near, near, nr_near);
	column_reader_next(&s->place, place, nr_place);
	s->low_at += nr_near + nr_place;
	nr_near = nr_place = 0;
	for (size_t i = 0; i < nr; i++) {
		struct request *r = &out[i];
		struct streams *at = &s->streams[streams_context(r->device, r->operation)];
		unsigned int rank = STREAM_NONE;
		uint32_t issuer;

		if (stream[i] == 2 * NR_STREAMS) {
			r->sector = place[nr_place++] << 3 | *low++;
		} else {
			rank = stream[i] % NR_STREAMS;
			r->sector = streams_end(at, rank);
			if (stream[i] >= NR_STREAMS)
				r->sector += (near[nr_near++] << 3) + *low++;
		}
		issuer = streams_swap_issuer(at, rank, common_index(&s->issuers, s->at + i));
		streams_advance(at, rank, r->sector + request_sectors(r), issuer);
		r->tid = s->issuers.entries[issuer].tid;
		r->pid = s->issuers.entries[issuer].pid;
		r->cgroup_id = s->issuers.entries[issuer].cgroup_id;
	}
}

static int segment_read_refuse(struct segment_reader *s, size_t i, const char *field)
{
	snprintf(s->refusal, sizeof(s->refusal),
		 "request %zu has a value of %s that no kernel gives", s->at + i, field);
	return -EBADMSG;
}

/* Decodes times and sizes. Returns -EBADMSG where a number does not fit its field. */
static int next_numbers(struct segment_reader *s, struct request *out, size_t nr)
{
	uint64_t a[CHUNK], b[CHUNK], c[CHUNK];

	column_reader_next(&s->bytes, a, nr);
	column_reader_next(&s->depth, b, nr);
	for (size_t i = 0; i < nr; i++) {
		out[i].bytes = (uint32_t)a[i];
		out[i].queue_depth = (uint32_t)b[i];
		if ((a[i] | b[i]) >> 32)
			return segment_read_refuse(s, i, a[i] >> 32 ? "bytes" : "depth");
	}
	column_reader_next(&s->arrival, a, nr);
	column_reader_next(&s->queue, b, nr);
	column_reader_next(&s->device, c, nr);
	for (size_t i = 0; i < nr; i++) {
		/* Each is at most 2^62, so the sum of all three cannot wrap. */
		if (a[i] > TRACE_TIME_MAX_NS || b[i] > TRACE_TIME_MAX_NS ||
		    c[i] > TRACE_TIME_MAX_NS)
			return segment_read_refuse(s, i, "time");
		out[i].arrival_ns = a[i];
		out[i].dispatch_ns = a[i] + b[i];
		out[i].completion_ns = a[i] + b[i] + c[i];
	}
	return 0;
}

/*
 * Decodes the next nr requests, which must exist. Returns -EBADMSG where a request has values that
 * no kernel gives.
 */
static int next_chunk(struct segment_reader *s, struct request *out, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = s->kinds.entries[common_index(&s->kinds, s->at + i)];
	if (next_numbers(s, out, nr))
		return -EBADMSG;
	next_streams(s, out, nr);
	for (size_t i = 0; i < nr; i++) {
		const char *field = request_check(&out[i]);

		if (field)
			return segment_read_refuse(s, i, field);
	}
	s->at += nr;
	return 0;
}

int64_t segment_reader_next(struct segment_reader *s, struct request *out, size_t max)
{
	size_t done = 0;

	while (done < max && s->at < s->nr) {
		size_t nr = s->nr - s->at < max - done ? s->nr - s->at : max - done;

		nr = nr < CHUNK ? nr : CHUNK;
		if (next_chunk(s, out + done, nr))
			return -EBADMSG;
		done += nr;
	}
	return (int64_t)done;
}

const char *segment_reader_refusal(const struct segment_reader *s)
{
	return s->refusal;
}

/* Adds nr requests, the first of which has number `from`, to the sums of their kinds. */
static void total_chunk(const struct segment_reader *s, struct segment_totals *t,
			const struct request *r, size_t from, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct segment_kind *kind = &t->kinds[common_index(&s->kinds, from + i)];

		kind->requests++;
		kind->bytes += r[i].bytes;
		t->nr_untimed += request_is_untimed(&r[i]);
		if (r[i].arrival_ns < t->first_arrival_ns)
			t->first_arrival_ns = r[i].arrival_ns;
		if (r[i].completion_ns > t->last_completion_ns)
			t->last_completion_ns = r[i].completion_ns;
	}
}

int segment_reader_total(struct segment_reader *s, struct segment_totals *out)
{
	struct segment_totals t = { .nr_kinds = s->kinds.nr, .first_arrival_ns = UINT64_MAX };
	struct request chunk[CHUNK];
	int ret = 0;

	t.kinds = calloc(t.nr_kinds + 1, sizeof(*t.kinds));
	if (!t.kinds)
		return -ENOMEM;
	for (size_t i = 0; i < t.nr_kinds; i++) {
		t.kinds[i].device = s->kinds.entries[i].device;
		t.kinds[i].operation = s->kinds.entries[i].operation;
	}
	while (!ret && s->at < s->nr) {
		size_t nr = s->nr - s->at < CHUNK ? s->nr - s->at : CHUNK;

		ret = next_chunk(s, chunk, nr);
		if (!ret)
			total_chunk(s, &t, chunk, s->at - nr, nr);
	}
	if (ret) {
		segment_totals_release(&t);
		return ret;
	}
	t.first_arrival_ns = s->nr ? t.first_arrival_ns : 0;
	*out = t;
	return 0;
}

void segment_totals_release(struct segment_totals *t)
{
	free(t->kinds);
	*t = (struct segment_totals){ 0 };
}
