/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/summary/segment_summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_merge.h"

void summary_init(struct summary *s)
{
	*s = (struct summary){ 0 };
	ledger_init(&s->ledger);
}

static void release_profiles(struct summary *s)
{
	for (size_t i = 0; i < s->nr_profiles; i++)
		profile_release(&s->profiles[i]);
	free(s->profiles);
	s->profiles = NULL;
	s->nr_profiles = 0;
}

void summary_release(struct summary *s)
{
	ledger_release(&s->ledger);
	free(s->members);
	free(s->devices);
	release_profiles(s);
	summary_init(s);
}

/* Profiles of requests and profiles of counters are never merged. */
bool summary_is_one_series(const struct profile *a, const struct profile *b)
{
	return !strcmp(a->device, b->device) && !strcmp(a->device_name, b->device_name) &&
	       !strcmp(a->host, b->host) && a->layer == b->layer &&
	       (a->source == SOURCE_DISKSTATS) == (b->source == SOURCE_DISKSTATS);
}

int summary_add_profile(struct summary *s, const struct profile *p)
{
	struct profile *more;
	int ret;

	for (size_t i = 0; i < s->nr_profiles; i++)
		if (summary_is_one_series(&s->profiles[i], p))
			return profile_merge(&s->profiles[i], p);
	more = realloc(s->profiles, (s->nr_profiles + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->profiles = more;
	profile_init(&more[s->nr_profiles]);
	ret = profile_copy(&more[s->nr_profiles], p);
	if (ret)
		return ret;
	s->nr_profiles++;
	return 0;
}

static int compare_member(const void *a, const void *b)
{
	const struct summary_member *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

const struct summary_member *summary_find(const struct summary *s, uint64_t sequence)
{
	const struct summary_member wanted = { .sequence = sequence };

	return s->nr_members
		       ? bsearch(&wanted, s->members, s->nr_members, sizeof(wanted), compare_member)
		       : NULL;
}

static int merge_members(struct summary *to, const struct summary *from)
{
	size_t nr = to->nr_members + from->nr_members;
	struct summary_member *all;

	if (nr > SUMMARY_MAX_MEMBERS)
		return -E2BIG;
	if (!from->nr_members)
		return 0;
	all = realloc(to->members, nr * sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all + to->nr_members, from->members, from->nr_members * sizeof(*all));
	qsort(all, nr, sizeof(*all), compare_member);
	to->members = all;
	to->nr_members = nr;
	for (size_t i = 1; i < nr; i++)
		if (all[i - 1].sequence == all[i].sequence)
			return -EEXIST;
	return 0;
}

/* Returns the index where the device of this number and name is, or where it would be inserted. */
static size_t device_place(const struct summary *s, uint32_t device, const char *name)
{
	size_t from = 0, to = s->nr_devices;

	while (from < to) {
		size_t at = from + (to - from) / 2;
		const struct summary_device *d = &s->devices[at];

		if (d->device < device || (d->device == device && strcmp(d->name, name) < 0))
			from = at + 1;
		else
			to = at;
	}
	return from;
}

struct summary_device *summary_device(struct summary *s, uint32_t device, const char *name)
{
	struct summary_device *more;
	size_t at = device_place(s, device, name);

	if (at < s->nr_devices && s->devices[at].device == device &&
	    !strcmp(s->devices[at].name, name))
		return &s->devices[at];
	/* The array has room for a power of two of entries. */
	more = s->devices;
	if (!(s->nr_devices & (s->nr_devices - 1)))
		more = realloc(more, (s->nr_devices ? 2 * s->nr_devices : 1) * sizeof(*more));
	if (!more)
		return NULL;
	s->devices = more;
	memmove(more + at + 1, more + at, (s->nr_devices - at) * sizeof(*more));
	more[at] = (struct summary_device){ .device = device };
	snprintf(more[at].name, sizeof(more[at].name), "%s", name);
	s->nr_devices++;
	return &more[at];
}

static int merge_devices(struct summary *to, const struct summary *from)
{
	for (size_t i = 0; i < from->nr_devices; i++) {
		const struct summary_device *d = &from->devices[i];
		struct summary_device *mine = summary_device(to, d->device, d->name);

		if (!mine)
			return -ENOMEM;
		mine->size_bytes = d->size_bytes ? d->size_bytes : mine->size_bytes;
		for (int op = 0; op < NR_OPERATIONS; op++) {
			mine->requests[op] += d->requests[op];
			mine->bytes[op] += d->bytes[op];
		}
	}
	return 0;
}

static void segment_summary_widen(uint64_t *begin, uint64_t *end, uint64_t from, uint64_t to)
{
	if (from < *begin)
		*begin = from;
	if (to > *end)
		*end = to;
}

/* All numbers of both are below 2^63, because those of files are. */
static void merge_facts(struct summary *to, const struct summary *from)
{
	if (from->begin.realtime_ns < to->begin.realtime_ns)
		to->begin = from->begin;
	if (from->end.realtime_ns > to->end.realtime_ns)
		to->end = from->end;
	if (!to->nr_requests) {
		to->first_real_ns = from->first_real_ns;
		to->last_real_ns = from->last_real_ns;
	} else if (from->nr_requests) {
		segment_summary_widen(&to->first_real_ns, &to->last_real_ns, from->first_real_ns,
				      from->last_real_ns);
	}
	if (!to->dropped_end_real_ns) {
		to->dropped_begin_real_ns = from->dropped_begin_real_ns;
		to->dropped_end_real_ns = from->dropped_end_real_ns;
	} else if (from->dropped_end_real_ns) {
		segment_summary_widen(&to->dropped_begin_real_ns, &to->dropped_end_real_ns,
				      from->dropped_begin_real_ns, from->dropped_end_real_ns);
	}
	if (from->generation > to->generation)
		to->generation = from->generation;
	to->nr_requests += from->nr_requests;
	to->nr_dropped += from->nr_dropped;
	/* A header may claim any number, but the file can store no larger one. */
	to->nr_captured = from->nr_captured > INT64_MAX - to->nr_captured
				  ? INT64_MAX
				  : to->nr_captured + from->nr_captured;
	to->segment_bytes += from->segment_bytes;
}

static void take_stream(struct summary *to, const struct summary *from)
{
	memcpy(to->host, from->host, sizeof(to->host));
	memcpy(to->boot_id, from->boot_id, sizeof(to->boot_id));
	to->epoch = from->epoch;
	to->source = from->source;
	to->layer = from->layer;
	to->begin = from->begin;
	to->end = from->end;
}

int summary_merge(struct summary *dst, const struct summary *src)
{
	int ret;

	if (!dst->nr_members)
		take_stream(dst, src);
	merge_facts(dst, src);
	ret = merge_members(dst, src);
	if (ret)
		return ret;
	ret = merge_devices(dst, src);
	if (ret)
		return ret;
	ret = ledger_merge(&dst->ledger, &src->ledger);
	if (ret)
		return ret;
	for (size_t i = 0; i < src->nr_profiles; i++) {
		ret = summary_add_profile(dst, &src->profiles[i]);
		if (ret)
			return ret;
	}
	return 0;
}

void summary_drop_profiles(struct summary *s)
{
	bool any = s->dropped_end_real_ns != 0;
	uint64_t begin = s->nr_requests ? s->first_real_ns : s->begin.realtime_ns;
	uint64_t end = s->nr_requests ? s->last_real_ns : s->end.realtime_ns;

	if (!any)
		s->dropped_begin_real_ns = begin;
	segment_summary_widen(&s->dropped_begin_real_ns, &s->dropped_end_real_ns, begin, end);
	s->nr_dropped = s->nr_requests;
	release_profiles(s);
}

static size_t histogram_packed_bytes(const struct histogram *h)
{
	size_t nr = histogram_nr_used(h) * sizeof(struct histogram_bucket_count);
	size_t whole = HISTOGRAM_NR_BUCKETS * sizeof(uint64_t);

	return nr < whole ? nr : whole;
}

static size_t response_bytes(const struct response_times *r)
{
	size_t bytes = 0;

	for (int i = 0; i < NR_STAGES; i++)
		bytes += histogram_packed_bytes(&r->stage[i]);
	for (int i = 0; i < NR_SIZE_CLASSES; i++)
		bytes += histogram_packed_bytes(&r->size_class[i]);
	return bytes;
}

static size_t arrivals_bytes(const struct arrival_tally tallies[NR_TALLIES])
{
	size_t nr = 0;

	for (int i = 0; i < NR_TALLIES; i++)
		nr += tallies[i].nr;
	return nr * sizeof(struct arrival_tally_count);
}

size_t summary_profile_bytes(const struct profile *p)
{
	return sizeof(*p) + response_bytes(&p->read.response) + response_bytes(&p->write.response) +
	       response_bytes(&p->flush) +
	       (p->read.nr_sizes + p->write.nr_sizes) * sizeof(struct size_count) +
	       arrivals_bytes(p->read.arrivals) + arrivals_bytes(p->write.arrivals) +
	       arrivals_bytes(p->undivided_arrivals) + p->open.nr_idc * sizeof(struct idc_point) +
	       p->locality.nr_miss_ratio * sizeof(struct cache_point) +
	       (p->source_detail ? strlen(p->source_detail) + 1 : 0);
}

static void sizes_fit(struct direction_profile *d)
{
	while (d->nr_sizes > SUMMARY_MAX_SIZES)
		d->other_sizes += d->sizes[--d->nr_sizes].count;
}

static void size_classes_drop(struct direction_profile *d)
{
	for (int i = 0; i < NR_SIZE_CLASSES; i++)
		histogram_release(&d->response.size_class[i]);
}

void summary_fit(struct summary *s)
{
	size_t all = 0;

	for (size_t i = 0; i < s->nr_profiles; i++) {
		struct profile *p = &s->profiles[i];

		sizes_fit(&p->read);
		sizes_fit(&p->write);
		if (summary_profile_bytes(p) > SUMMARY_MAX_ITEM_BYTES / 2) {
			size_classes_drop(&p->read);
			size_classes_drop(&p->write);
		}
		all += summary_profile_bytes(p);
	}
	for (size_t i = 0; i < s->nr_profiles && all > SUMMARY_MAX_PROFILE_BYTES; i++) {
		all -= summary_profile_bytes(&s->profiles[i]);
		size_classes_drop(&s->profiles[i].read);
		size_classes_drop(&s->profiles[i].write);
		all += summary_profile_bytes(&s->profiles[i]);
	}
}
