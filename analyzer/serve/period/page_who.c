// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_who.h"

#include <errno.h>

#include "analyzer/characterize/issuers.h"
#include "analyzer/serve/period/page_requests.h"
#include "base/data/json.h"

struct page_who {
	struct issuers issuers;
	uint64_t nr_segments;
};

static int page_who_segment(void *ctx, const struct segment_header *h)
{
	struct page_who *w = ctx;

	/* Each segment is read once, so that its names replace those of the segment before it. */
	return issuers_segment(&w->issuers, ISSUERS_TRACES * w->nr_segments++, h);
}

static int page_who_take(void *ctx, const struct request *r, uint64_t real_ns)
{
	struct page_who *w = ctx;

	(void)real_ns;
	issuers_add(&w->issuers, r);
	return 0;
}

int page_who_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		  struct err *err)
{
	struct page_who w = { .nr_segments = 0 };
	struct page_requests requests;
	int ret = page_requests_init(&requests, q, err);

	if (ret < 0)
		return ret;
	requests.newest_first = true;
	requests.segment = page_who_segment;
	requests.take = page_who_take;
	requests.ctx = &w;
	ret = issuers_init(&w.issuers);
	if (ret == 0)
		ret = page_requests_read(&requests, store, err);
	if (ret == 0) {
		issuers_rank(&w.issuers);
		*out = json_object();
		json_object_set_new(*out, "schema", json_string("blkcast.who/1"));
		json_object_set_new(*out, "begin_s", json_number(q->begin_s));
		json_object_set_new(*out, "end_s", json_number(q->end_s));
		json_object_set_new(*out, "requests", json_integer((json_int_t)requests.nr_taken));
		json_object_set_new(*out, "read_from_s", json_number(requests.border_s));
		json_object_set_new(*out, "unreadable",
				    json_integer((json_int_t)requests.nr_unreadable));
		json_object_set_new(*out, "processes",
				    issuers_json(&w.issuers.processes, ISSUERS_SHOWN));
		json_object_set_new(*out, "cgroups",
				    issuers_json(&w.issuers.cgroups, ISSUERS_SHOWN));
	}
	issuers_release(&w.issuers);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "no memory for the answer") : ret;
}
