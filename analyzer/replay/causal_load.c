// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct collected {
	struct request *requests; /* owned */
	size_t nr, cap;
	uint32_t stream; /* the stream of all requests */
	uint64_t end_ns; /* UINT64_MAX: none */
};

static int causal_load_grow(struct collected *c, size_t more)
{
	struct request *requests;

	if (c->nr + more <= c->cap)
		return 0;
	c->cap = 2 * c->cap + more;
	requests = realloc(c->requests, c->cap * sizeof(*requests));
	if (!requests)
		return -ENOMEM;
	c->requests = requests;
	return 0;
}

static int one_only(const struct scan *scan, uint32_t a, uint32_t b, struct err *err)
{
	const struct scan_stream *x = scan_stream(scan, a), *y = scan_stream(scan, b);

	if (!strcmp(x->host, y->host) && x->device == y->device && x->trace == y->trace)
		return 0;
	return err_set(
		err, ENOTUNIQ,
		"expected the requests of one device and one run of the agent, got %s %s and "
		"%s %s",
		x->host, x->device_name, y->host, y->device_name);
}

static int causal_load_collect(struct collected *c, struct scan *scan, double duration_s,
			       struct err *err)
{
	struct scan_request *batch = malloc(SCAN_BATCH * sizeof(*batch));
	int64_t got = 0;
	int ret = batch ? 0 : -ENOMEM;
	bool full = false;

	while (!ret && !full && (got = scan_next(scan, batch, SCAN_BATCH)) > 0) {
		ret = causal_load_grow(c, (size_t)got);
		for (int64_t i = 0; i < got && !ret; i++) {
			const struct request *r = &batch[i].r;

			if (!c->nr) {
				c->stream = batch[i].stream;
				c->end_ns = duration_s > 0
						    ? r->arrival_ns + (uint64_t)(duration_s * 1e9)
						    : UINT64_MAX;
			}
			if (batch[i].stream != c->stream)
				ret = one_only(scan, c->stream, batch[i].stream, err);
			full = r->arrival_ns >= c->end_ns;
			if (!full)
				c->requests[c->nr++] = *r;
		}
	}
	free(batch);
	return got < 0 ? err_set(err, (int)-got, "%s", scan_error(scan)->line) : ret;
}

int causal_load(struct causal_plan *plan, struct scan *scan, double duration_s, struct err *err)
{
	struct collected c = { 0 };
	int ret = causal_load_collect(&c, scan, duration_s, err);

	memset(plan, 0, sizeof(*plan));
	if (ret)
		goto out;
	ret = causal_make(plan, c.requests, c.nr, err);
out:
	free(c.requests);
	return ret;
}
