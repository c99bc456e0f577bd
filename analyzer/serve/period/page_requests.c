// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_requests.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/store/index/segment_facts.h"
#include "base/system/clock.h"
#include "formats/request.h"

#define BATCH	    1024
#define SPAN_NS	    3600000000000ull /* length of the first part of the period that is looked at */
#define SPAN_MIN_NS CLOCK_NS_PER_S

int page_requests_init(struct page_requests *p, const struct page_device_question *q,
		       struct err *err)
{
	int ret = page_device_check(q, err);

	*p = (struct page_requests){ .q = q,
				     .border_s = NAN,
				     .most = PAGE_REQUESTS_MOST,
				     .nr_together = PAGE_REQUEST_SEGMENTS };
	if (ret < 0)
		return ret;
	if (device_parse(q->device, &p->device))
		return err_set(err, EINVAL, "device: expected a number such as 8:0");
	p->begin_ns = (uint64_t)(q->begin_s * 1e9);
	p->end_ns = (uint64_t)fmin(q->end_s * 1e9, 1.8e19);
	p->deadline_ns = clock_monotonic_ns() + PAGE_REQUESTS_S * CLOCK_NS_PER_S;
	return 0;
}

static int page_requests_visit(void *ctx, const struct segment_header *h,
			       struct segment_reader *reader)
{
	struct page_requests *p = ctx;
	struct request batch[BATCH];
	int ret = p->segment ? p->segment(p->ctx, h) : 0;
	int64_t nr;

	if (ret < 0)
		return ret;
	while ((nr = segment_reader_next(reader, batch, BATCH)) > 0) {
		p->nr_decoded += (uint64_t)nr;
		for (int64_t i = 0; i < nr; i++) {
			const struct request *r = &batch[i];
			uint64_t real_ns = real_from_anchor(&h->begin, r->completion_ns);

			if (r->device != p->device || real_ns < p->begin_ns || real_ns >= p->end_ns)
				continue;
			p->nr_taken++;
			ret = p->take(p->ctx, r, real_ns);
			if (ret < 0)
				return ret;
		}
	}
	return (int)nr;
}

/*
 * A part of the period, whose segments are found together. The parts follow one another from the
 * newest or from the oldest one, so that the memory for segments is bounded however many the period
 * has.
 */
struct page_part {
	uint64_t begin_ns, end_ns;
	struct page_segment *segments; /* owned */
	size_t nr;
	bool whole;
};

static int page_segment_by_begin(const void *a, const void *b)
{
	const struct page_segment *x = a, *y = b;

	if (x->begin_real_ns != y->begin_real_ns)
		return x->begin_real_ns > y->begin_real_ns ? 1 : -1;
	return segment_name_compare(&x->name, &y->name);
}

/*
 * Finds the segments of a part in order of time. The part is made shorter as long as it has more
 * segments than one look takes.
 */
static int page_part_find(struct page_part *part, const struct page_requests *p,
			  struct page_store *store, struct err *err)
{
	int ret;

	for (;;) {
		struct page_question q = { .host = p->q->host,
					   .begin_real_ns = part->begin_ns,
					   .end_real_ns = part->end_ns,
					   .deadline_ns = p->deadline_ns,
					   .nr_most = p->nr_together };
		uint64_t half_ns = (part->end_ns - part->begin_ns) / 2;

		ret = page_store_find(store, &q, &part->segments, &part->nr, &part->whole, err);
		if (ret < 0 || part->whole || half_ns < SPAN_MIN_NS ||
		    clock_monotonic_ns() > p->deadline_ns)
			break;
		free(part->segments);
		part->segments = NULL;
		if (p->newest_first)
			part->begin_ns += half_ns;
		else
			part->end_ns -= half_ns;
	}
	if (ret == 0 && part->nr)
		qsort(part->segments, part->nr, sizeof(*part->segments), page_segment_by_begin);
	return ret;
}

/* A segment belongs to the part in which it begins, or to the first part of the period. */
static bool page_part_has(const struct page_part *part, const struct page_requests *p,
			  const struct page_segment *s)
{
	return s->begin_real_ns >= part->begin_ns || part->begin_ns == p->begin_ns;
}

/*
 * Notes where the reading ends: segments from at on were not read, counted in the order of reading.
 * Among the newest first, one that begins earlier may end later.
 */
static void page_part_stop(const struct page_part *part, struct page_requests *p, size_t at)
{
	uint64_t border_ns = part->begin_ns;

	if (!p->newest_first) {
		if (at < part->nr && part->segments[at].begin_real_ns > border_ns)
			border_ns = part->segments[at].begin_real_ns;
	} else {
		for (size_t i = at; i < part->nr; i++) {
			const struct page_segment *s = &part->segments[part->nr - 1 - i];

			border_ns = s->end_real_ns > border_ns ? s->end_real_ns : border_ns;
		}
	}
	p->border_s = (double)(border_ns < p->end_ns ? border_ns : p->end_ns) / 1e9;
}

/* Reads the segments of a part. Returns 0 or -ENOMEM. */
static int page_part_read(const struct page_part *part, struct page_requests *p,
			  struct page_store *store)
{
	for (size_t i = 0; i < part->nr; i++) {
		const struct page_segment *s =
			&part->segments[p->newest_first ? part->nr - 1 - i : i];
		struct err why = { 0 };
		int ret;

		if (!page_part_has(part, p, s) || !s->nr_requests)
			continue; /* Another part has this segment, or it has no requests. */
		if (clock_monotonic_ns() > p->deadline_ns || p->nr_decoded > p->most) {
			page_part_stop(part, p, i);
			return 0;
		}
		ret = page_store_segment(store, &s->name, page_requests_visit, p, &why);
		if (ret == -ENOMEM)
			return ret;
		/* A segment that is gone was removed by retention meanwhile. */
		p->nr_unreadable += ret < 0 && ret != -ENOENT;
	}
	return 0;
}

/* Says where the reading ends if not all segments of the part were found. */
static void page_part_cut(const struct page_part *part, struct page_requests *p)
{
	if (part->whole || isfinite(p->border_s))
		return;
	p->border_s = (double)(p->newest_first ? part->end_ns : part->begin_ns) / 1e9;
}

int page_requests_read(struct page_requests *p, struct page_store *store, struct err *err)
{
	uint64_t span_ns = SPAN_NS, left_ns;
	uint64_t begin_ns = p->begin_ns, end_ns = p->end_ns;
	int ret = 0;

	while (begin_ns < end_ns && ret == 0 && !isfinite(p->border_s)) {
		struct page_part part = { .begin_ns = begin_ns, .end_ns = end_ns };

		left_ns = end_ns - begin_ns;
		if (span_ns < left_ns && p->newest_first)
			part.begin_ns = end_ns - span_ns;
		else if (span_ns < left_ns)
			part.end_ns = begin_ns + span_ns;
		ret = page_part_find(&part, p, store, err);
		if (ret == 0)
			ret = page_part_read(&part, p, store);
		page_part_cut(&part, p);
		/* Time without segments is passed in steps that grow. */
		span_ns = part.end_ns - part.begin_ns;
		if (part.nr < p->nr_together / 4)
			span_ns *= 2;
		if (p->newest_first)
			end_ns = part.begin_ns;
		else
			begin_ns = part.end_ns;
		free(part.segments);
	}
	return ret;
}
