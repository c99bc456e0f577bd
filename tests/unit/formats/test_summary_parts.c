/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary is put together of: members, devices, profiles by series, times; in any order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/summary/segment_summary.h"
#include "tests/support/tap.h"

static void make_members(struct summary *s, uint64_t first, uint64_t step, size_t nr)
{
	summary_init(s);
	s->members = calloc(nr ? nr : 1, sizeof(*s->members));
	s->nr_members = s->members ? nr : 0;
	for (uint64_t i = 0; i < s->nr_members; i++) {
		s->members[i].sequence = first + i * step;
		s->members[i].hash.bytes[0] = (uint8_t)(first + i * step);
	}
}

static int merge_both(struct summary *a, struct summary *b, struct summary *out)
{
	int status;

	summary_init(out);
	status = summary_merge(out, a);
	if (!status)
		status = summary_merge(out, b);
	summary_release(a);
	summary_release(b);
	return status;
}

static void members_are_in_order_and_once(void)
{
	struct summary a, b, both;
	uint64_t wrong = 0;

	make_members(&a, 1, 2, 100);
	make_members(&b, 0, 2, 100);
	ok_int(merge_both(&a, &b, &both), 0);
	ok_eq(both.nr_members, 200);
	for (uint64_t i = 0; i < both.nr_members; i++)
		wrong += both.members[i].sequence != i ||
			 both.members[i].hash.bytes[0] != (uint8_t)i ||
			 summary_find(&both, i) != &both.members[i];
	ok_eq(wrong, 0);
	ok(!summary_find(&both, 200));
	summary_release(&both);
	/* One of the second is in the first: its first, its last, one between. */
	for (uint64_t at = 5; at <= 25; at += 10) {
		make_members(&a, 5, 10, 3);
		make_members(&b, at, 1, 2);
		ok_int(merge_both(&a, &b, &both), -EEXIST);
		summary_release(&both);
	}
	make_members(&a, 5, 10, 3);
	make_members(&b, 0, 1, 0);
	ok_int(merge_both(&a, &b, &both), 0);
	ok_eq(both.nr_members, 3);
	summary_release(&both);
}

static void members_are_bounded(void)
{
	for (size_t more = 0; more < 2; more++) {
		struct summary a, b, both;

		make_members(&a, 0, 1, SUMMARY_MAX_MEMBERS - 10);
		make_members(&b, SUMMARY_MAX_MEMBERS, 1, 10 + more);
		ok_int(merge_both(&a, &b, &both), more ? -E2BIG : 0);
		summary_release(&both);
	}
}

static const struct {
	uint32_t device;
	const char *name;
} sorted[] = { { 1, "b" }, { 2, "a" }, { 2, "b" }, { 2, "c" }, { 7, "a" }, { 9, "a" } };

/* Each with a request of its own number more than the one before. */
static void put_devices(struct summary *s, const size_t order[], size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t at = order[i];
		struct summary_device *d = summary_device(s, sorted[at].device, sorted[at].name);

		if (!ok(d != NULL))
			return;
		d->requests[OPERATION_READ] += at + 1;
		d->bytes[OPERATION_WRITE] += 10 * (at + 1);
	}
}

static void check_devices(const struct summary *s, uint64_t times)
{
	if (!ok_eq(s->nr_devices, TAP_NR(sorted)))
		return;
	for (size_t i = 0; i < TAP_NR(sorted); i++) {
		ok_eq(s->devices[i].device, sorted[i].device);
		ok_str(s->devices[i].name, sorted[i].name);
		ok_eq(s->devices[i].requests[OPERATION_READ], times * (i + 1));
		ok_eq(s->devices[i].bytes[OPERATION_WRITE], times * 10 * (i + 1));
		ok_eq(s->devices[i].requests[OPERATION_WRITE], 0);
	}
}

static void devices_are_in_order_and_once(void)
{
	static const size_t orders[][TAP_NR(sorted)] = { { 0, 1, 2, 3, 4, 5 },
							 { 5, 4, 3, 2, 1, 0 },
							 { 3, 1, 5, 0, 2, 4 },
							 { 2, 4, 1, 3, 0, 5 } };
	struct summary all, some, rest;

	for (size_t i = 0; i < TAP_NR(orders); i++) {
		summary_init(&all);
		put_devices(&all, orders[i], TAP_NR(sorted));
		check_devices(&all, 1);
		for (size_t k = 0; k < TAP_NR(orders); k++)
			put_devices(&all, orders[k], TAP_NR(sorted));
		check_devices(&all, 1 + TAP_NR(orders));
		summary_release(&all);
		/* The same in two parts, which overlap in one that knows its size. */
		make_members(&some, 0, 1, 1);
		make_members(&rest, 1, 1, 1);
		put_devices(&some, orders[i], 3);
		put_devices(&rest, orders[i] + 3, 3);
		summary_device(&some, 7, "a")->size_bytes = 4096;
		summary_device(&rest, 7, "a");
		ok_int(merge_both(&some, &rest, &all), 0);
		check_devices(&all, 1);
		ok_eq(summary_device(&all, 7, "a")->size_bytes, 4096);
		summary_release(&all);
	}
}

static void name_profile(struct profile *p, const char *host, const char *device, const char *name,
			 uint8_t layer, uint8_t source)
{
	profile_init(p);
	snprintf(p->host, sizeof(p->host), "%s", host);
	snprintf(p->device, sizeof(p->device), "%s", device);
	snprintf(p->device_name, sizeof(p->device_name), "%s", name);
	p->layer = layer;
	p->source = source;
	p->begin_s = 1;
	p->end_s = 2;
}

/* Of each series one: what differs in one thing only is another's. */
static void profiles_are_merged_by_series(void)
{
	static const struct {
		const char *host, *device, *name;
		uint8_t layer, source;
	} series[] = {
		{ "h", "8:0", "sda", LAYER_DEVICE, SOURCE_BPF },
		{ "h", "8:16", "sda", LAYER_DEVICE, SOURCE_BPF },
		{ "h", "8:0", "sdb", LAYER_DEVICE, SOURCE_BPF },
		{ "i", "8:0", "sda", LAYER_DEVICE, SOURCE_BPF },
		{ "h", "8:0", "sda", LAYER_QUEUE, SOURCE_BPF },
		{ "h", "8:0", "sda", LAYER_DEVICE, SOURCE_DISKSTATS },
	};
	struct profile p;
	struct summary s;

	summary_init(&s);
	for (int times = 0; times < 3; times++)
		for (size_t i = 0; i < TAP_NR(series); i++) {
			name_profile(&p, series[i].host, series[i].device, series[i].name,
				     series[i].layer, series[i].source);
			p.begin_s += times;
			p.end_s += times;
			ok_int(summary_add_profile(&s, &p), 0);
			ok_eq(s.nr_profiles, times ? TAP_NR(series) : i + 1);
			profile_release(&p);
		}
	for (size_t i = 0; i < s.nr_profiles; i++) {
		ok_str(s.profiles[i].host, series[i].host);
		ok_str(s.profiles[i].device, series[i].device);
		ok_str(s.profiles[i].device_name, series[i].name);
		ok(s.profiles[i].begin_s == 1 && s.profiles[i].end_s == 4);
	}
	/* Whichever tracer told of the requests, they are one series. */
	name_profile(&p, "h", "8:0", "sda", LAYER_DEVICE, SOURCE_TRACEFS);
	ok_int(summary_add_profile(&s, &p), 0);
	ok_eq(s.nr_profiles, TAP_NR(series));
	profile_release(&p);
	summary_release(&s);
	ok(!s.profiles && !s.nr_profiles && !s.members && !s.devices);
}

static struct clock_anchor at(uint64_t ns)
{
	return (struct clock_anchor){ ns, ns, ns };
}

static void make_times(struct summary *s, uint64_t sequence, uint64_t begin, uint64_t end,
		       uint64_t nr_requests)
{
	make_members(s, sequence, 1, 1);
	s->begin = at(begin);
	s->end = at(end);
	s->nr_requests = nr_requests;
	s->first_real_ns = nr_requests ? begin + 1 : 0;
	s->last_real_ns = nr_requests ? end - 1 : 0;
}

/* One without requests knows no time of any; what was dropped keeps its own interval. */
static void times_are_those_of_requests(void)
{
	for (int turned = 0; turned < 2; turned++) {
		struct summary a, b, empty, both, all;

		make_times(&a, 1, 100, 200, 5);
		make_times(&b, 2, 300, 400, 7);
		make_times(&empty, 3, 500, 600, 0);
		a.source = b.source = empty.source = SOURCE_TRACEFS;
		a.layer = b.layer = empty.layer = LAYER_QUEUE;
		summary_drop_profiles(&a);
		ok(a.dropped_begin_real_ns == 101 && a.dropped_end_real_ns == 199);
		ok_int(turned ? merge_both(&b, &a, &both) : merge_both(&a, &b, &both), 0);
		ok_int(turned ? merge_both(&both, &empty, &all) : merge_both(&empty, &both, &all),
		       0);
		ok(all.begin.realtime_ns == 100 && all.end.realtime_ns == 600);
		ok(all.first_real_ns == 101 && all.last_real_ns == 399);
		ok(all.dropped_begin_real_ns == 101 && all.dropped_end_real_ns == 199);
		ok(all.source == SOURCE_TRACEFS && all.layer == LAYER_QUEUE);
		ok_eq(all.nr_requests, 12);
		ok_eq(all.nr_dropped, 5);
		summary_drop_profiles(&all);
		ok(all.dropped_begin_real_ns == 101 && all.dropped_end_real_ns == 399);
		ok_eq(all.nr_dropped, 12);
		summary_release(&all);
	}
}

static const struct tap_test tests[] = {
	{ "members are in order, and each once", members_are_in_order_and_once },
	{ "members are bounded", members_are_bounded },
	{ "devices are in order, each once, with its own requests", devices_are_in_order_and_once },
	{ "profiles are merged by series", profiles_are_merged_by_series },
	{ "times are those of requests, kept and dropped", times_are_those_of_requests },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
