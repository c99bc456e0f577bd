/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/folder/store_aside.h"
#include "base/memory/array.h"

static struct plan_summary plan_summary_of(const struct segment_facts *f)
{
	return (struct plan_summary){
		.file = { f->name, f->generation },
		.last_sequence = f->last_sequence,
		.nr_segments = f->nr_segments,
		.file_bytes = f->file_bytes,
		.begin_real_ns = f->begin.realtime_ns,
		.end_real_ns = f->end.realtime_ns,
		.has_profiles = !f->dropped_end_real_ns || f->nr_requests > f->nr_dropped,
	};
}

static int make_room(struct retain_plan *p)
{
	return array_grow(&p->summaries, &p->cap_summaries, p->nr_summaries + 1,
			  sizeof(*p->summaries));
}

static int add_summary(void *ctx, const struct segment_facts *f)
{
	struct retain_plan *p = ctx;
	int ret = make_room(p);

	if (ret == 0)
		p->summaries[p->nr_summaries++] = plan_summary_of(f);
	return ret;
}

static int add_size(void *ctx, const struct segment_facts *f)
{
	return retain_share_add(ctx, f->name.host, f->received_real_ns, f->file_bytes);
}

static int limit_segments(struct retain_plan *p, uint64_t bytes, struct err *err)
{
	int ret = catalog_each_segment(store_catalog(p->store), add_size, &p->requests_over, err);

	if (ret == 0)
		retain_share_limit(&p->requests_over, bytes);
	return ret;
}

static int limit_summaries(struct retain_plan *p, uint64_t bytes)
{
	int ret = 0;

	for (size_t i = 0; i < p->nr_summaries && ret == 0; i++)
		if (p->summaries[i].has_profiles)
			ret = retain_share_add(&p->summaries_over, p->summaries[i].file.first.host,
					       p->summaries[i].end_real_ns,
					       p->summaries[i].file_bytes);
	retain_share_limit(&p->summaries_over, bytes);
	return ret;
}

static uint64_t retain_plan_before(uint64_t now, uint64_t age)
{
	return age && age < now ? now - age : 0;
}

int retain_plan_init(struct retain_plan *p, struct store *store, const struct retain_limits *limits,
		     uint64_t now_real_ns, struct err *err)
{
	int ret;

	*p = (struct retain_plan){ .store = store };
	p->window_ns = limits->window_ns ? limits->window_ns : RETAIN_WINDOW_NS;
	p->now_real_ns = now_real_ns;
	p->requests_until_ns = retain_plan_before(now_real_ns, limits->requests_ns);
	p->summaries_until_ns = retain_plan_before(now_real_ns, limits->summaries_ns);
	p->group = calloc(RETAIN_STEP_SEGMENTS, sizeof(*p->group));
	if (!p->group)
		return -ENOMEM;
	ret = retain_mark_open(&p->mark, store, err);
	if (ret == 0)
		ret = store_aside_read(store, &p->aside, err);
	if (ret == 0)
		ret = catalog_each_summary(store_catalog(store), add_summary, p, err);
	if (ret == 0 && limits->requests_bytes)
		ret = limit_segments(p, limits->requests_bytes, err);
	if (ret == 0 && limits->summaries_bytes)
		ret = limit_summaries(p, limits->summaries_bytes);
	return ret;
}

void retain_plan_release(struct retain_plan *p)
{
	free(p->summaries);
	free(p->group);
	buf_release(&p->aside);
	retain_share_release(&p->requests_over);
	retain_share_release(&p->summaries_over);
	*p = (struct retain_plan){ .store = NULL };
}

/* Returns the real time before which data of the host are due by age. */
static uint64_t retain_plan_until(struct retain_plan *p, const char *host)
{
	const struct store_policy *policy;
	uint64_t until = p->requests_until_ns;

	if (!p->policies || !p->policies->nr)
		return until;
	if (strcmp(p->host, host) == 0)
		return p->host_until_ns;
	policy = store_policies_find(p->policies, host);
	if (policy && retain_plan_before(p->now_real_ns, policy->keep_ns) > until)
		until = retain_plan_before(p->now_real_ns, policy->keep_ns);
	snprintf(p->host, sizeof(p->host), "%s", host);
	p->host_until_ns = until;
	return until;
}

/*
 * The sender's clock decides the age, unless it is ahead of the time of receipt: a segment that
 * claims to be of the future would otherwise stay for ever. A segment whose requests were kept back
 * has no requests to remove. It holds the only profiles of its time, and stays as long as profiles
 * do.
 */
static bool is_due(struct retain_plan *p, const struct segment_facts *f, uint64_t window)
{
	uint64_t end = f->end.realtime_ns,
		 over = retain_share_until(&p->requests_over, f->name.host),
		 until = f->is_kept_back ? p->summaries_until_ns
					 : retain_plan_until(p, f->name.host);

	if (over && f->received_real_ns <= over)
		return true;
	if (end > f->received_real_ns) {
		end = f->received_real_ns;
		window = end / p->window_ns;
	}
	return end <= until && window < until / p->window_ns;
}

bool retain_plan_drops(const struct retain_plan *p, const struct plan_summary *one)
{
	uint64_t over = retain_share_until(&p->summaries_over, one->file.first.host);

	return one->has_profiles &&
	       (one->end_real_ns <= p->summaries_until_ns || (over && one->end_real_ns <= over));
}

bool retain_plan_touch(uint64_t begin_a, uint64_t end_a, uint64_t begin_b, uint64_t end_b)
{
	return begin_a <= end_b + RETAIN_TOUCH_NS && begin_b <= end_a + RETAIN_TOUCH_NS;
}

#define GROUP_IS_WHOLE 1

static bool is_aside(const struct retain_plan *p, const struct segment_name *n)
{
	char path[SEGMENT_PATH_MAX];

	if (p->aside.len <= 1)
		return false;
	segment_name_path(n, path);
	return store_aside_has(&p->aside, path);
}

/* Returns whether a due segment of that window continues the group. */
static bool retain_plan_follows(const struct retain_plan *p, const struct segment_facts *f,
				uint64_t window)
{
	return window == p->group_window && p->nr_group < RETAIN_STEP_SEGMENTS &&
	       segment_name_same_stream(&p->group[0], &f->name) &&
	       retain_plan_touch(p->group_begin_real_ns, p->group_end_real_ns, f->begin.realtime_ns,
				 f->end.realtime_ns);
}

static int add_due(void *ctx, const struct segment_facts *f)
{
	struct retain_plan *p = ctx;
	uint64_t window = f->begin.realtime_ns / p->window_ns;
	bool due = is_due(p, f, window);

	if (due && is_aside(p, &f->name)) {
		due = false;
		p->nr_aside += p->nr_group == 0; /* the segment is visited again otherwise */
	}
	if (p->nr_group && retain_mark_suspects(&p->mark, &f->name))
		return GROUP_IS_WHOLE;
	if (p->nr_group && (!due || retain_mark_suspects(&p->mark, &p->group[0]) ||
			    !retain_plan_follows(p, f, window)))
		return GROUP_IS_WHOLE;
	p->after = f->name;
	p->is_begun = true;
	if (due) {
		if (!p->nr_group) {
			p->group_window = window;
			p->group_begin_real_ns = f->begin.realtime_ns;
			p->group_end_real_ns = 0;
		}
		if (f->end.realtime_ns > p->group_end_real_ns)
			p->group_end_real_ns = f->end.realtime_ns;
		p->group[p->nr_group++] = f->name;
	}
	return 0;
}

int retain_plan_next(struct retain_plan *p, struct err *err)
{
	int ret;

	p->nr_group = 0;
	if (!p->requests_until_ns && !p->requests_over.nr_hosts &&
	    !(p->policies && store_policies_retire(p->policies)))
		return 0;
	ret = catalog_each_segment_after(store_catalog(p->store), p->is_begun ? &p->after : NULL,
					 add_due, p, err);
	return ret < 0 ? ret : p->nr_group > 0;
}

size_t retain_plan_find(const struct retain_plan *p, const struct segment_name *n)
{
	size_t low = 0, high = p->nr_summaries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct segment_name last = p->summaries[middle].file.first;

		last.sequence = p->summaries[middle].last_sequence;
		if (segment_name_compare(&last, n) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int retain_plan_replace(struct retain_plan *p, size_t from, size_t nr,
			const struct segment_facts *by)
{
	int ret = nr ? 0 : make_room(p);

	if (ret < 0)
		return ret;
	memmove(p->summaries + from + 1, p->summaries + from + nr,
		(p->nr_summaries - from - nr) * sizeof(*p->summaries));
	p->nr_summaries += 1 - nr;
	p->summaries[from] = plan_summary_of(by);
	return 0;
}
