/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/scan_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/store_summary.h"

struct wanted {
	struct segment_name first;
	uint64_t generation, last_sequence, nr_segments;
};

struct collector {
	const struct scan_filter *filter;
	struct scan_retained *out;
	struct wanted *all; /* owned */
	size_t nr;
};

static bool is_host(const struct scan_filter *f, const char *host)
{
	for (size_t i = 0; i < f->nr_hosts; i++)
		if (!strcmp(f->hosts[i], host))
			return true;
	return !f->nr_hosts;
}

static bool touches(const struct scan_filter *f, uint64_t begin, uint64_t end)
{
	return end >= f->begin_real_ns && (!f->end_real_ns || begin < f->end_real_ns);
}

static void widen(uint64_t *begin, uint64_t *end, bool any, uint64_t from, uint64_t to)
{
	*begin = any && *begin < from ? *begin : from;
	*end = any && *end > to ? *end : to;
}

static void count(struct scan_retained *out, const struct segment_facts *f)
{
	uint64_t nr = f->nr_requests - f->nr_dropped;

	if (nr)
		widen(&out->begin_real_ns, &out->end_real_ns, out->nr_summarized != 0,
		      f->first_real_ns, f->last_real_ns);
	if (f->nr_dropped)
		widen(&out->dropped_begin_real_ns, &out->dropped_end_real_ns, out->nr_dropped != 0,
		      f->dropped_begin_real_ns, f->dropped_end_real_ns);
	out->nr_summarized += nr;
	out->nr_dropped += f->nr_dropped;
}

static int collect(void *ctx, const struct segment_facts *f)
{
	struct collector *c = ctx;
	uint64_t begin = f->begin.realtime_ns, end = f->end.realtime_ns;
	struct wanted *more;

	if (f->nr_requests)
		widen(&begin, &end, true, f->first_real_ns, f->last_real_ns);
	if (!is_host(c->filter, f->name.host) || !touches(c->filter, begin, end))
		return 0;
	count(c->out, f);
	if ((c->nr & (c->nr - 1)) == 0) { /* at powers of two */
		more = realloc(c->all, (c->nr ? 2 * c->nr : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->all = more;
	}
	c->all[c->nr++] =
		(struct wanted){ f->name, f->generation, f->last_sequence, f->nr_segments };
	return 0;
}

/* Summaries and pieces are both in the order of streams and sequences. */
static void fill_gaps(const struct collector *c, struct scan_pieces *pieces)
{
	size_t at = 0;

	for (size_t i = 0; i < pieces->nr; i++) {
		struct scan_piece *p = &pieces->items[i];

		while (at < c->nr && segment_name_compare(&c->all[at].first, &p->name) < 0) {
			const struct wanted *w = &c->all[at++];

			/* The piece after it has the gap before it. */
			if (segment_name_same_stream(&w->first, &p->name) &&
			    p->nr_missing >= w->nr_segments)
				p->nr_missing -= w->nr_segments;
		}
	}
}

static int hand_over(struct store *store, const struct collector *c, const struct scan_hooks *hooks,
		     struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < c->nr && status == 0; i++) {
		struct summary s;

		summary_init(&s);
		status = store_summary_read(store, &c->all[i].first, c->all[i].generation, &s, err);
		if (status == 0)
			status = hooks->summary(hooks->summary_ctx, &s);
		summary_release(&s);
	}
	return status;
}

int scan_summaries(struct store *store, const struct scan_filter *filter,
		   const struct scan_hooks *hooks, struct scan_pieces *pieces,
		   struct scan_retained *out, struct err *err)
{
	struct collector c = { .filter = filter, .out = out };
	int status;

	*out = (struct scan_retained){ 0 };
	status = catalog_each_summary(store_catalog(store), collect, &c, err);
	if (status == 0)
		fill_gaps(&c, pieces);
	if (status == 0 && hooks->summary)
		status = hand_over(store, &c, hooks, err);
	free(c.all);
	return status;
}
