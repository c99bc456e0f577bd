// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page_requests.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/store/segment_facts.h"
#include "base/clock.h"

#define BATCH 1024

int page_requests_init(struct page_requests *p, const struct page_device_question *q,
		       struct err *err)
{
	unsigned int major, minor;
	int end = 0, ret = page_device_check(q, err);

	*p = (struct page_requests){ .q = q, .border_s = NAN };
	if (ret < 0)
		return ret;
	if (sscanf(q->device, "%u:%u%n", &major, &minor, &end) != 2 || q->device[end])
		return err_set(err, EINVAL, "device: expected a number such as 8:0");
	p->device = device_make(major, minor);
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

int page_requests_read(struct page_requests *p, struct page_store *store, struct err *err)
{
	struct page_question q = { .host = p->q->host,
				   .begin_real_ns = p->begin_ns,
				   .end_real_ns = p->end_ns,
				   .deadline_ns = p->deadline_ns,
				   .nr_most = PAGE_DEVICE_SEGMENTS };
	struct page_segment *segments = NULL;
	bool whole = true;
	size_t nr = 0;
	int ret = page_store_find(store, &q, &segments, &nr, &whole, err);

	for (size_t i = 0; i < nr && ret == 0; i++) {
		const struct page_segment *s = &segments[p->newest_first ? nr - 1 - i : i];
		struct err why = { 0 };

		if (clock_monotonic_ns() > p->deadline_ns || p->nr_decoded > PAGE_REQUESTS_MOST) {
			p->border_s =
				(double)(p->newest_first ? s->end_real_ns : s->begin_real_ns) / 1e9;
			break;
		}
		if (!s->nr_requests)
			continue; /* The agent kept profiles only. */
		ret = page_store_segment(store, &s->name, page_requests_visit, p, &why);
		if (ret < 0 && ret != -ENOMEM) {
			/* A segment that is gone was removed by retention meanwhile. */
			p->nr_unreadable += ret != -ENOENT;
			ret = 0;
		}
	}
	if (!whole && !isfinite(p->border_s)) {
		p->border_s = p->q->begin_s;
		if (nr)
			p->border_s = (double)(p->newest_first ? segments[0].begin_real_ns
							       : segments[nr - 1].end_real_ns) /
				      1e9;
	}
	free(segments);
	return ret;
}
