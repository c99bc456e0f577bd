/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain_step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/replay.h"
#include "analyzer/store/store_replace.h"
#include "base/memory/order.h"
#include "base/text/err.h"
#include "formats/request.h"
#include "formats/summary/segment_summary.h"

/*
 * The estimators take some hundred KiB per device, so a host with many devices is read several
 * times.
 */
#define RETAIN_DEVICES 64

struct taker {
	struct summary *s;
	const atomic_bool *stop;
	uint32_t nr_ranges; /* of devices, at most */
};

/*
 * Returns all losses that the segments report for the device or for an unknown device; nothing is
 * cut at the ends. Requests that were kept back on purpose are not lost.
 */
static uint64_t lost_of(const struct ledger *ledger, const char *name)
{
	uint32_t device = 0;
	uint64_t sum = 0;

	device_parse(name, &device);
	for (size_t i = 0; i < ledger->nr; i++)
		if (ledger->losses[i].cause != LOSS_KEPT_BACK &&
		    (!ledger->losses[i].device || ledger->losses[i].device == device))
			sum += ledger->losses[i].count;
	return sum;
}

static int retain_profiles_take(void *ctx, struct profile *p)
{
	struct taker *t = ctx;

	if (p->source != SOURCE_DISKSTATS) {
		p->lost = lost_of(&t->s->ledger, p->device);
		profile_grade(p);
	}
	return summary_add_profile(t->s, p);
}

static int look_at_stop(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr)
{
	const struct taker *t = ctx;

	(void)scan, (void)r, (void)nr;
	return t->stop && atomic_load(t->stop) ? -ECANCELED : 0;
}

/* Makes the profiles of the requests of a range of devices. */
static int profile_range(struct taker *t, const char *const *paths, size_t nr,
			 const struct scan_filter *range, const struct scan_hooks *hooks,
			 struct scan **scan, struct err *err)
{
	struct replay_config config = { .profile = retain_profiles_take,
					.nr_shares = t->nr_ranges,
					.batch = look_at_stop,
					.ctx = t };
	int ret = scan_open_files(scan, paths, nr, range, hooks, err);

	return ret == 0 ? replay(*scan, &config, err) : ret;
}

/* Returns the numbers of the summary's devices, ascending, or NULL where memory is short. */
static uint32_t *device_numbers(const struct summary *s)
{
	uint32_t *numbers = calloc(s->nr_devices + 1, sizeof(*numbers));

	for (size_t i = 0; numbers && i < s->nr_devices; i++)
		numbers[i] = s->devices[i].device;
	if (numbers && s->nr_devices)
		qsort(numbers, s->nr_devices, sizeof(*numbers), order_u32);
	return numbers;
}

/*
 * Adds to s, which has the ledger of all the segments, a profile of each device with requests and
 * of each device with counters. Returns 0, -ECANCELED, -ENOMEM, -EBADMSG, ...
 */
static int retain_profiles(struct summary *s, const char *const *paths, size_t nr,
			   const atomic_bool *stop, struct err *err)
{
	struct taker t = { s, stop, (uint32_t)(s->nr_devices / RETAIN_DEVICES + 1) };
	const struct selection all = { .dir = NULL };
	struct counted *counted = NULL;
	struct scan *scan = NULL;
	uint32_t *numbers = device_numbers(s);
	size_t at = 0;
	int ret = numbers ? counted_new(&counted, &all, 0) : -ENOMEM;
	struct scan_hooks hooks = { .profile = counted_take, .ctx = counted };

	/* Profiles from counters come with the first range, because they have no requests. */
	while (ret == 0 && (at == 0 || at < s->nr_devices)) {
		size_t end =
			at + RETAIN_DEVICES < s->nr_devices ? at + RETAIN_DEVICES : s->nr_devices;
		struct scan_filter range = { .first_device = at ? numbers[at - 1] + 1 : 0,
					     .last_device = UINT32_MAX };

		if (end < s->nr_devices)
			range.last_device = numbers[end - 1];
		/* The range is empty where the same number was already in the range before. */
		if (at == 0 || numbers[end - 1] > numbers[at - 1])
			ret = profile_range(&t, paths, nr, &range, at ? NULL : &hooks, &scan, err);
		if (ret == 0 && at == 0)
			ret = counted_emit(counted, scan, retain_profiles_take, &t);
		scan_close(scan);
		scan = NULL;
		at = end ? end : 1;
	}
	counted_free(counted);
	free(numbers);
	return ret;
}

/* The summary that is being made. */
struct work {
	const struct retain_step *step;
	struct summary fresh;	    /* summary of the segments */
	struct segment_name *names; /* owned; the valid ones */
	char **paths;		    /* owned; each string too */
	struct summary all;	    /* what will be written */
	uint64_t nr_damaged;
	uint64_t nr_dropped; /* requests that the earlier summaries had dropped */
	struct buf data;
};

static uint64_t retain_step_within(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : value;
}

static void take_anchors(struct summary *s, const struct segment_facts *f)
{
	struct clock_anchor begin = { retain_step_within(f->begin.monotonic_ns),
				      retain_step_within(f->begin.boottime_ns),
				      retain_step_within(f->begin.realtime_ns) };
	struct clock_anchor end = { retain_step_within(f->end.monotonic_ns),
				    retain_step_within(f->end.boottime_ns),
				    retain_step_within(f->end.realtime_ns) };

	if (!s->nr_members || begin.realtime_ns < s->begin.realtime_ns)
		s->begin = begin;
	if (!s->nr_members || end.realtime_ns > s->end.realtime_ns)
		s->end = end;
	if (!f->nr_requests)
		return;
	if (!s->nr_requests || retain_step_within(f->first_real_ns) < s->first_real_ns)
		s->first_real_ns = retain_step_within(f->first_real_ns);
	if (retain_step_within(f->last_real_ns) > s->last_real_ns)
		s->last_real_ns = retain_step_within(f->last_real_ns);
}

static int take_losses(struct summary *s, const struct segment_facts *f)
{
	int ret = 0;

	for (size_t i = 0; i < f->ledger.nr && ret == 0; i++) {
		struct loss l = f->ledger.losses[i];

		l.count = retain_step_within(l.count);
		l.begin_real_ns = retain_step_within(l.begin_real_ns);
		l.end_real_ns = retain_step_within(l.end_real_ns);
		ret = ledger_add(&s->ledger, &l);
	}
	return ret;
}

static int take_devices(struct summary *s, const struct segment_facts *f)
{
	for (size_t i = 0; i < f->nr_devices; i++) {
		const struct device_facts *d = &f->devices[i];
		struct summary_device *to = summary_device(s, d->device, d->name);

		if (!to)
			return -ENOMEM;
		to->size_bytes = retain_step_within(d->size_bytes);
		for (int op = 0; op < NR_OPERATIONS; op++) {
			to->requests[op] += d->requests[op];
			to->bytes[op] += d->bytes[op];
		}
	}
	return 0;
}

static int take_facts(struct work *w, const struct segment_facts *f)
{
	struct summary *s = &w->fresh;
	int ret;

	if (!s->nr_members) {
		memcpy(s->host, f->name.host, sizeof(s->host));
		memcpy(s->boot_id, f->name.boot_id, sizeof(s->boot_id));
		s->epoch = f->name.epoch;
		s->source = f->source;
		s->layer = f->layer;
	}
	take_anchors(s, f);
	ret = take_losses(s, f);
	if (ret == 0)
		ret = take_devices(s, f);
	s->nr_requests += f->nr_requests;
	s->nr_captured = retain_step_within(s->nr_captured + retain_step_within(f->nr_captured));
	s->segment_bytes += f->file_bytes;
	w->names[s->nr_members] = f->name;
	s->members[s->nr_members++] = (struct summary_member){ f->name.sequence, f->hash };
	return ret;
}

/* Reads one segment to its last request. A damaged one stays where it is, for `blkcast check`. */
static int take_segment(struct work *w, const struct segment_name *n, struct err *err)
{
	const struct store *store = w->step->store;
	char path[SEGMENT_PATH_MAX], full[STORE_FILE_MAX];
	struct segment_facts f;
	struct err why = { 0 };
	size_t at = w->fresh.nr_members;
	int ret;

	segment_name_path(n, path);
	ret = store_read(store, path, &w->data, err);
	if (ret == -ENOENT) /* another program removed it; the next sync notices */
		return 0;
	if (ret < 0 && ret != -EFBIG && ret != -ELOOP)
		return ret;
	if (ret == 0)
		ret = segment_facts_read(&f, w->data.data, w->data.len, &why);
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0 || segment_name_compare(&f.name, n) != 0) {
		if (ret == 0)
			segment_facts_release(&f);
		w->nr_damaged++;
		return 0;
	}
	ret = take_facts(w, &f);
	segment_facts_release(&f);
	if (ret == 0)
		ret = store_file(store, path, &w->data, full, err);
	w->paths[at] = ret == 0 ? strdup(full) : NULL;
	return ret == 0 && !w->paths[at] ? -ENOMEM : ret;
}

static int take_segments(struct work *w, struct err *err)
{
	const struct retain_step *step = w->step;
	int ret = 0;

	if (!step->nr_segments)
		return 0;
	w->names = calloc(step->nr_segments, sizeof(*w->names));
	w->paths = calloc(step->nr_segments, sizeof(*w->paths));
	w->fresh.members = calloc(step->nr_segments, sizeof(*w->fresh.members));
	if (!w->names || !w->paths || !w->fresh.members)
		return -ENOMEM;
	for (size_t i = 0; i < step->nr_segments && ret == 0; i++)
		ret = step->stop && atomic_load(step->stop)
			      ? -ECANCELED
			      : take_segment(w, &step->segments[i], err);
	if (ret == 0 && w->fresh.nr_members && !step->drop)
		ret = retain_profiles(&w->fresh, (const char *const *)w->paths, w->fresh.nr_members,
				      step->stop, err);
	return ret;
}

static int by_begin(const void *a, const void *b)
{
	const struct summary *const *x = a, *const *y = b;

	return ((*x)->begin.realtime_ns > (*y)->begin.realtime_ns) -
	       ((*x)->begin.realtime_ns < (*y)->begin.realtime_ns);
}

/* Puts the stream concerned before the message. */
static int of_stream(const struct summary *s, int status, struct err *err)
{
	err_prefix(err, "%s/%s/%" PRIu64, s->host, s->boot_id, s->epoch);
	return status;
}

static int add_to_all(struct work *w, const struct summary *s, struct err *err)
{
	int ret = summary_merge(&w->all, s);

	if (ret == 0 || ret == -ENOMEM)
		return ret;
	if (ret == -EEXIST)
		err_set(err, EEXIST, "two summaries name the same segment");
	else if (ret == -E2BIG)
		err_set(err, E2BIG, "expected at most %u segments in a summary",
			SUMMARY_MAX_MEMBERS);
	else
		err_set(err, -ret, "summaries cannot be merged: %s", strerror(-ret));
	return of_stream(s, ret, err);
}

/* Merges the earlier summaries and the new one in order of time. */
static int merge_all(struct work *w, struct summary *old, const struct summary **order,
		     struct err *err)
{
	const struct retain_step *step = w->step;
	size_t nr = 0;
	int ret = 0;

	for (; nr < step->nr_summaries && ret == 0; nr++) {
		const struct summary_file *f = &step->summaries[nr];

		ret = store_summary_read(step->store, &f->first, f->generation, &old[nr], err);
		order[nr] = &old[nr];
		w->nr_dropped += old[nr].nr_dropped;
	}
	if (w->fresh.nr_members)
		order[nr++] = &w->fresh;
	if (ret == 0)
		qsort(order, nr, sizeof(struct summary *), by_begin);
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = add_to_all(w, order[i], err);
	for (size_t i = 0; i < w->all.ledger.nr; i++)
		w->all.ledger.losses[i].count = retain_step_within(w->all.ledger.losses[i].count);
	if (ret == 0 && step->drop)
		summary_drop_profiles(&w->all);
	w->all.generation = step->generation;
	return ret;
}

static int retain_step_merge(struct work *w, struct err *err)
{
	size_t nr = w->step->nr_summaries;
	struct summary *old = calloc(nr + 1, sizeof(*old));
	const struct summary **order = calloc(nr + 1, sizeof(*order));
	int ret = old && order ? merge_all(w, old, order, err) : -ENOMEM;

	for (size_t i = 0; old && i < nr; i++)
		summary_release(&old[i]);
	free(old);
	free(order);
	return ret;
}

/*
 * Encodes the summary and reads it back, because nothing may be removed for a summary that cannot
 * be read.
 */
static int retain_step_encode(struct work *w, struct buf *out, struct err *err)
{
	struct summary again;
	int ret;

	summary_fit(&w->all);
	ret = summary_write(&w->all, out);
	if (ret < 0)
		return of_stream(
			&w->all,
			err_set(err, -ret, "a summary cannot be written: %s", strerror(-ret)), err);
	summary_init(&again);
	ret = summary_read(&again, out->data, out->len, err);
	summary_release(&again);
	if (ret == 0)
		return 0;
	err_prefix(err, "what would be its summary");
	return of_stream(&w->all, ret, err);
}

static int retain_step_put(struct work *w, struct segment_facts *out, struct err *err)
{
	const struct retain_step *step = w->step;
	struct segment_facts f;
	struct store_replacement r = { .summary = &w->all,
				       .facts = &f,
				       .data = &w->data,
				       .names = w->names,
				       .nr_names = w->fresh.nr_members,
				       .replaced = step->summaries,
				       .nr_replaced = step->nr_summaries };
	int ret;

	buf_clear(&w->data);
	ret = retain_step_encode(w, &w->data, err);
	if (ret == 0)
		ret = summary_facts(&f, &w->all, w->data.len);
	if (ret < 0)
		return ret;
	ret = store_replace(step->store, &r, err);
	if (ret < 0) {
		segment_facts_release(&f);
		return ret;
	}
	*out = f;
	return 0;
}

static void retain_step_count(const struct work *w, uint64_t file_bytes,
			      struct retain_counts *counts)
{
	counts->nr_segments += w->fresh.nr_members;
	counts->nr_requests += w->fresh.nr_requests;
	counts->segment_bytes += w->fresh.segment_bytes;
	counts->summary_bytes += file_bytes;
	counts->nr_dropped += w->all.nr_dropped - w->nr_dropped;
}

static void work_release(struct work *w)
{
	for (size_t i = 0; w->paths && i < w->step->nr_segments; i++) {
		if (w->paths[i])
			store_file_done(w->step->store, w->paths[i]);
		free(w->paths[i]);
	}
	free(w->paths);
	free(w->names);
	summary_release(&w->fresh);
	summary_release(&w->all);
	buf_release(&w->data);
}

int retain_step_run(const struct retain_step *step, struct segment_facts *out,
		    struct retain_counts *counts, struct err *err)
{
	struct work w = { .step = step };
	int ret;

	summary_init(&w.fresh);
	summary_init(&w.all);
	buf_init(&w.data);
	ret = take_segments(&w, err);
	if (ret == 0 && !w.fresh.nr_members && step->nr_segments)
		ret = 1;
	if (ret >= 0)
		counts->nr_left_out += w.nr_damaged;
	if (ret == 0)
		ret = retain_step_merge(&w, err);
	if (ret == 0)
		ret = retain_step_put(&w, out, err);
	if (ret == 0)
		retain_step_count(&w, out->file_bytes, counts);
	work_release(&w);
	if (ret == -ENOMEM)
		err_set(err, ENOMEM, "no memory for a step of retention");
	return ret;
}
