/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/scan/scan_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/scan/scan_match.h"
#include "analyzer/store/store_summary.h"

struct wanted {
	struct segment_name first;
	uint64_t generation, last_sequence, nr_segments;
	bool is_taken; /* the filter's times take it; the others still fill gaps before pieces */
};

struct collector {
	const struct scan_filter *filter;
	const struct scan_part *part;
	struct scan_retained *out;
	struct wanted *all; /* owned */
	size_t nr;
};

static bool scan_summary_touches(const struct scan_filter *f, uint64_t begin, uint64_t end)
{
	return end >= f->begin_real_ns && (!f->end_real_ns || begin < f->end_real_ns);
}

static void scan_summary_widen(uint64_t *begin, uint64_t *end, bool any, uint64_t from, uint64_t to)
{
	*begin = any && *begin < from ? *begin : from;
	*end = any && *end > to ? *end : to;
}

static void scan_summary_count(struct scan_retained *out, const struct segment_facts *f)
{
	uint64_t nr = f->nr_requests - f->nr_dropped;

	if (nr)
		scan_summary_widen(&out->begin_real_ns, &out->end_real_ns, out->nr_summarized != 0,
				   f->first_real_ns, f->last_real_ns);
	if (f->nr_dropped)
		scan_summary_widen(&out->dropped_begin_real_ns, &out->dropped_end_real_ns,
				   out->nr_dropped != 0, f->dropped_begin_real_ns,
				   f->dropped_end_real_ns);
	out->nr_summarized += nr;
	out->nr_dropped += f->nr_dropped;
}

static int scan_summary_collect(void *ctx, const struct segment_facts *f)
{
	struct collector *c = ctx;
	uint64_t begin = f->begin.realtime_ns, end = f->end.realtime_ns;
	struct wanted *more;
	bool is_taken;

	if (!scan_match_host(c->filter, f->name.host) ||
	    (c->filter->nr_parts && !scan_part_has(c->part, f->name.host)))
		return 0;
	if (f->nr_requests)
		scan_summary_widen(&begin, &end, true, f->first_real_ns, f->last_real_ns);
	is_taken = scan_summary_touches(c->filter, begin, end);
	if (is_taken)
		scan_summary_count(c->out, f);
	if ((c->nr & (c->nr - 1)) == 0) { /* the array has room for a power of two */
		more = realloc(c->all, (c->nr ? 2 * c->nr : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->all = more;
	}
	c->all[c->nr++] = (struct wanted){ f->name, f->generation, f->last_sequence, f->nr_segments,
					   is_taken };
	return 0;
}

/*
 * Counts the members of a summary from first up to but not including end. Counts 0 where the
 * summary cannot be read, because its members are then unknown.
 */
static int count_members(const struct store *store, const struct wanted *w, uint64_t first,
			 uint64_t end, uint64_t *nr)
{
	struct summary s;
	int ret;

	*nr = w->nr_segments;
	if (w->first.sequence >= first && w->last_sequence < end)
		return 0;
	*nr = 0;
	summary_init(&s);
	ret = store_summary_read(store, &w->first, w->generation, &s, NULL);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	for (size_t i = 0; i < s.nr_members; i++)
		*nr += s.members[i].sequence >= first && s.members[i].sequence < end;
	summary_release(&s);
	return 0;
}

static bool ends_before(const struct wanted *w, const struct segment_name *n)
{
	struct segment_name last = w->first;

	last.sequence = w->last_sequence;
	return segment_name_compare(&last, n) < 0;
}

/*
 * Summaries and pieces are both ordered by stream and sequence. A piece has the gap directly before
 * it; earlier gaps lie before pieces that the filter left out. A segment that arrived late may lie
 * between the members of a summary, which must then be read.
 */
static int fill_gaps(const struct store *store, const struct collector *c,
		     struct scan_pieces *pieces)
{
	size_t at = 0;

	for (size_t i = 0; i < pieces->nr; i++) {
		struct scan_piece *p = &pieces->items[i];
		struct segment_name gap = p->name;

		gap.sequence -= p->nr_missing;
		while (at < c->nr && ends_before(&c->all[at], &gap))
			at++;
		for (size_t k = at; k < c->nr && p->nr_missing; k++) {
			uint64_t nr;
			int ret;

			if (segment_name_compare(&c->all[k].first, &p->name) >= 0)
				break;
			ret = count_members(store, &c->all[k], gap.sequence, p->name.sequence, &nr);
			if (ret < 0)
				return ret;
			p->nr_missing -= nr < p->nr_missing ? nr : p->nr_missing;
		}
	}
	return 0;
}

static int hand_over(struct store *store, const struct collector *c, const struct scan_hooks *hooks,
		     struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < c->nr && ret == 0; i++) {
		struct summary s;

		if (!c->all[i].is_taken)
			continue;
		summary_init(&s);
		ret = store_summary_read(store, &c->all[i].first, c->all[i].generation, &s, err);
		if (ret == 0)
			ret = hooks->summary(hooks->summary_ctx, &s);
		summary_release(&s);
	}
	return ret;
}

int scan_summaries(struct store *store, const struct scan_filter *filter,
		   const struct scan_hooks *hooks, struct scan_pieces *pieces,
		   struct scan_retained *out, struct err *err)
{
	struct collector c = { .filter = filter, .part = &pieces->part, .out = out };
	int ret;

	*out = (struct scan_retained){ 0 };
	ret = catalog_each_summary(store_catalog(store), scan_summary_collect, &c, err);
	if (ret == 0)
		ret = fill_gaps(store, &c, pieces);
	if (ret == 0 && hooks->summary)
		ret = hand_over(store, &c, hooks, err);
	free(c.all);
	return ret;
}
