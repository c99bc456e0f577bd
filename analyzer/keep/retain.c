/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/keep/retain_plan.h"
#include "analyzer/keep/retain_step.h"

struct pass {
	struct retain_plan plan;
	struct store_policies policies;
	struct store *store;
	const atomic_bool *stop;
	struct retain_counts *counts;
	struct err *err;
};

/* Returns a generation above all generations of the stream. */
static uint64_t next_generation(const struct retain_plan *p, const struct segment_name *stream)
{
	uint64_t highest = 0;
	struct segment_name first = *stream;

	first.sequence = 0;
	for (size_t i = retain_plan_find(p, &first);
	     i < p->nr_summaries && segment_name_same_stream(&p->summaries[i].file.first, stream);
	     i++)
		if (p->summaries[i].file.generation > highest)
			highest = p->summaries[i].file.generation;
	return highest + 1;
}

static int make_step(struct pass *s, struct retain_step *step, struct summary_file *files,
		     size_t from)
{
	struct retain_plan *p = &s->plan;
	struct segment_facts made;
	int ret;

	for (size_t i = 0; i < step->nr_summaries; i++)
		files[i] = p->summaries[from + i].file;
	step->summaries = files;
	step->store = s->store;
	step->stop = s->stop;
	step->generation =
		next_generation(p, step->nr_summaries ? &files[0].first : step->segments);
	ret = retain_step_run(step, &made, s->counts, s->err);
	if (ret != 0)
		return ret < 0 ? ret : 0;
	ret = retain_plan_replace(p, from, step->nr_summaries, &made);
	segment_facts_release(&made);
	return ret;
}

/* Writes one new summary in place of the segments and of the summaries from `from` on. */
static int run_step(struct pass *s, struct retain_step *step, size_t from)
{
	struct summary_file *files = calloc(step->nr_summaries + 1, sizeof(*files));
	int ret = files ? make_step(s, step, files, from) : -ENOMEM;

	free(files);
	return ret;
}

/* Summaries of the group's stream that the new summary will contain. */
struct span {
	size_t from, nr;
	uint64_t nr_segments;
};

/*
 * Returns whether a neighbouring summary of the same window, without a gap between, fits into the
 * new one.
 */
static bool retain_joins(const struct retain_plan *p, size_t at, const struct span *span)
{
	const struct plan_summary *n = &p->summaries[at];

	return at < p->nr_summaries && n->has_profiles &&
	       segment_name_same_stream(&n->file.first, &p->group[0]) &&
	       n->begin_real_ns / p->window_ns == p->group_window &&
	       retain_plan_touch(n->begin_real_ns, n->end_real_ns, p->group_begin_real_ns,
				 p->group_end_real_ns) &&
	       span->nr_segments + n->nr_segments <= SUMMARY_MAX_MEMBERS;
}

/*
 * Ranges of sequences must not overlap, so summaries that the group's range touches must be joined.
 */
static struct span find_span(const struct retain_plan *p)
{
	const struct segment_name *last = &p->group[p->nr_group - 1];
	struct span span = { .from = retain_plan_find(p, &p->group[0]),
			     .nr_segments = p->nr_group };

	while (span.from + span.nr < p->nr_summaries) {
		const struct plan_summary *n = &p->summaries[span.from + span.nr];

		if (!segment_name_same_stream(&n->file.first, last) ||
		    n->file.first.sequence > last->sequence)
			break;
		span.nr_segments += n->nr_segments;
		span.nr++;
	}
	if (span.nr_segments > SUMMARY_MAX_MEMBERS)
		return span;
	if (span.from && retain_joins(p, span.from - 1, &span)) {
		span.from--;
		span.nr_segments += p->summaries[span.from].nr_segments;
		span.nr++;
	}
	if (retain_joins(p, span.from + span.nr, &span))
		span.nr++;
	return span;
}

/* Does the same while the step is noted in the store, because it reads data that senders wrote. */
static int run_marked(struct pass *s, struct retain_step *step, size_t from)
{
	int ret = retain_mark_set(&s->plan.mark, step->segments, step->nr_segments, s->err);

	if (ret == 0)
		ret = run_step(s, step, from);
	retain_mark_clear(&s->plan.mark);
	return ret;
}

static int summarize_group(struct pass *s)
{
	const struct retain_plan *p = &s->plan;
	struct span span = find_span(p);
	struct retain_step step = { .segments = p->group,
				    .nr_segments = p->nr_group,
				    .nr_summaries = span.nr };

	if (span.nr_segments > SUMMARY_MAX_MEMBERS) {
		s->counts->nr_left_out += p->nr_group;
		return 0;
	}
	return run_marked(s, &step, span.from);
}

/* Drops the profiles of one summary; of neighbours without profiles one file is left. */
static int drop_one(struct pass *s, size_t *at)
{
	const struct retain_plan *p = &s->plan;
	const struct plan_summary *one = &p->summaries[*at], *before = *at ? one - 1 : NULL;
	struct retain_step step = { .nr_summaries = 1, .drop = true };

	if (before && !before->has_profiles &&
	    segment_name_same_stream(&before->file.first, &one->file.first) &&
	    retain_plan_touch(before->begin_real_ns, before->end_real_ns, one->begin_real_ns,
			      one->end_real_ns) &&
	    before->nr_segments + one->nr_segments <= SUMMARY_MAX_MEMBERS) {
		step.nr_summaries = 2;
		--*at;
	}
	return run_step(s, &step, *at);
}

static bool is_stopped(const struct pass *s)
{
	return s->stop && atomic_load(s->stop);
}

/*
 * A failed step changes nothing: its segments stay, the pass continues with the others, and its
 * result is the first failure. So the segments of one sender cannot keep the requests of all others
 * in the store.
 */
static int pass_summarize(struct pass *s, int *failure)
{
	struct err err = { 0 }, *first = s->err;
	int ret;

	s->err = &err;
	ret = summarize_group(s);
	s->err = first;
	if (ret >= 0 || ret == -ECANCELED)
		return ret;
	s->counts->nr_left_out += s->plan.nr_group;
	if (*failure == 0) {
		*failure = ret;
		if (first)
			*first = err;
	}
	return 0;
}

static int run_pass(struct pass *s)
{
	int ret = 1, failure = 0;

	while (ret > 0) {
		ret = is_stopped(s) ? -ECANCELED : retain_plan_next(&s->plan, s->err);
		if (ret > 0) {
			int done = pass_summarize(s, &failure);

			ret = done < 0 ? done : 1;
		}
	}
	for (size_t i = 0; i < s->plan.nr_summaries && ret == 0; i++) {
		if (retain_plan_drops(&s->plan, &s->plan.summaries[i]))
			ret = is_stopped(s) ? -ECANCELED : drop_one(s, &i);
	}
	s->counts->nr_left_out += s->plan.nr_aside;
	return ret < 0 ? ret : failure;
}

bool retain_limits_any(const struct retain_limits *l)
{
	return l->requests_ns || l->requests_bytes || l->summaries_ns || l->summaries_bytes;
}

int retain_is_wanted(const char *store, const struct retain_limits *limits, bool *out,
		     struct err *err)
{
	struct store_policies policies = { .list = NULL };
	int ret = 0;

	*out = retain_limits_any(limits);
	if (*out)
		return 0;
	ret = store_policies_of(store, &policies, err);
	*out = ret == 0 && store_policies_retire(&policies);
	store_policies_release(&policies);
	return ret;
}

static int pass_within_limits(struct pass *s, const struct retain_limits *limits,
			      uint64_t now_real_ns)
{
	int ret = store_refresh(s->store, s->err);

	if (ret == 0)
		ret = retain_plan_init(&s->plan, s->store, limits, now_real_ns, s->err);
	s->plan.policies = &s->policies;
	if (ret == 0)
		ret = run_pass(s);
	retain_plan_release(&s->plan);
	return ret;
}

int retain_pass(struct store *store, const struct retain_limits *limits, uint64_t now_real_ns,
		const atomic_bool *stop, struct retain_counts *counts, struct err *err)
{
	struct pass s = { .store = store, .stop = stop, .counts = counts, .err = err };
	struct store_compaction how = { .stop = stop };
	struct err second = { 0 };
	struct err wrong = { 0 };
	int token, compacted, unread, ret = store_lock(store, STORE_LOCK_RETENTION, &token, err);

	if (ret < 0)
		return ret;
	unread = store_policies_of(store_dir(store), &s.policies, &wrong);
	/* Policies can only make more requests due, so the limits are applied without them. */
	if (unread < 0)
		store_policies_release(&s.policies);
	if (retain_limits_any(limits) || store_policies_retire(&s.policies))
		ret = pass_within_limits(&s, limits, now_real_ns);
	store_policies_release(&s.policies);
	if (ret == 0 && unread < 0) {
		ret = unread;
		*err = wrong;
	}
	if (ret == -ENOMEM && !err->code)
		err_set(err, ENOMEM, "no memory for a pass of retention");
	/* A step of retention that failed does not keep small objects from being joined. */
	if (ret != -ECANCELED) {
		compacted = store_compact(store, &how, &counts->compaction, &second);
		if (ret == 0 && compacted < 0) {
			ret = compacted;
			*err = second;
		}
	}
	store_unlock(store, STORE_LOCK_RETENTION, token);
	return ret;
}

int retain_open(struct store **out, const char *dir, struct err *err)
{
	char path[4096];

	if (!store_is_folder(dir))
		return store_open(out, dir, true, err);
	if (snprintf(path, sizeof(path), "%s/segments", dir) >= (int)sizeof(path))
		return err_set(err, ENAMETOOLONG, "%.80s...: too long a path", dir);
	if (access(path, F_OK) < 0)
		return err_set(err, ENOENT, "%s: expected a store: it has no folder `segments`",
			       dir);
	if (access(path, W_OK) < 0)
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	return store_open(out, dir, true, err);
}
