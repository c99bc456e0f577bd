/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/collect/profile_sum.h"
#include "analyzer/report/collect/report.h"

void report_free(struct report *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->each && i < r->collect->nr_devices; i++)
		profile_release(&r->each[i]);
	profile_release(&r->all);
	ledger_release(&r->ledger);
	for (size_t i = 0; r->gaps && i < r->collect->nr_devices; i++)
		gaps_release(&r->gaps[i]);
	free(r->gaps);
	gaps_release(&r->common);
	slo_release(&r->slo);
	collect_free(r->collect);
	free(r->each);
	free(r->busiest);
	free(r->loads);
	free(r);
}

uint64_t report_lost(const struct report *r)
{
	return ledger_sum(&r->ledger);
}

struct view report_view(const struct report *r, bool of_device, size_t device)
{
	const struct collect_device *d = r->collect->devices[device];
	struct view v = r->view;

	v.gaps = of_device ? r->gaps[device].items : r->common.items;
	v.nr_gaps = of_device ? r->gaps[device].nr : r->common.nr;
	if (of_device && d->map.grid.nr)
		frame_view(&d->map.grid, d->nr_requests, &v);
	return v;
}

/* Moves the profile of every device to the device's index. */
static int take_profiles(struct report *r, const struct report_facts *facts)
{
	struct collect *c = r->collect;

	r->each = calloc(c->nr_devices, sizeof(*r->each));
	if (!r->each)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_devices; i++)
		profile_init(&r->each[i]);
	for (size_t i = 0; i < c->nr_devices; i++) {
		const struct collect_device *d = c->devices[i];
		struct profile *found = NULL;

		for (size_t j = 0; j < facts->nr_profiles && !found; j++) {
			struct profile *p = &facts->profiles[j];

			if (!strcmp(p->host, d->host) && !strcmp(p->device_name, d->name) &&
			    !strcmp(p->device, d->device))
				found = p;
		}
		if (!found)
			return -EINVAL;
		r->each[i] = *found;
		profile_init(found);
	}
	return 0;
}

/* Takes over the gaps of every device, and finds those that all devices share. */
static int take_gaps(struct report *r, const struct report_facts *facts)
{
	struct collect *c = r->collect;

	r->gaps = calloc(c->nr_devices, sizeof(*r->gaps));
	if (!r->gaps)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_devices && facts->gaps; i++) {
		struct gaps common;
		int ret;

		r->gaps[i] = facts->gaps[i];
		facts->gaps[i] = (struct gaps){ 0 };
		ret = gaps_common(i ? &r->common : &r->gaps[0], &r->gaps[i], &common);
		if (ret)
			return ret;
		gaps_release(&r->common);
		r->common = common;
	}
	return 0;
}

/*
 * Nobody watched before and after the period, so the rates of its first and last column leave that
 * time out.
 */
static int report_close_gaps(struct report *r)
{
	struct collect *c = r->collect;
	int ret = gaps_outside(&r->common, r->begin_ns, r->end_ns);

	for (size_t i = 0; i < c->nr_devices && !ret; i++) {
		ret = gaps_outside(&r->gaps[i], r->begin_ns, r->end_ns);
		c->devices[i]->load.gaps = r->gaps[i].items;
		c->devices[i]->load.nr_gaps = r->gaps[i].nr;
	}
	c->sum.gaps = r->common.items;
	c->sum.nr_gaps = r->common.nr;
	return ret;
}

static int sum_profiles(struct report *r)
{
	int ret;

	if (r->collect->nr_devices == 1)
		return profile_copy(&r->all, &r->each[0]);
	ret = profile_sum(&r->all, r->each, r->collect->nr_devices);
	if (ret)
		return ret;
	/* A loss of unknown device is counted in the profile of each device. */
	if (r->all.lost > report_lost(r))
		r->all.lost = report_lost(r);
	profile_grade(&r->all);
	return 0;
}

/* An insertion sort, because there are at most a few dozen devices; equal ones keep their order. */
static int rank_devices(struct report *r)
{
	struct collect *c = r->collect;

	r->busiest = calloc(c->nr_devices, sizeof(*r->busiest));
	r->loads = calloc(c->nr_devices, sizeof(*r->loads));
	if (!r->busiest || !r->loads)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_devices; i++) {
		size_t at = i;

		while (at &&
		       c->devices[r->busiest[at - 1]]->nr_requests < c->devices[i]->nr_requests) {
			r->busiest[at] = r->busiest[at - 1];
			at--;
		}
		r->busiest[at] = i;
	}
	for (size_t i = 0; i < c->nr_devices; i++)
		r->loads[i] = (struct device_load){ .name = c->devices[r->busiest[i]]->label,
						    .load = &c->devices[r->busiest[i]]->load };
	return 0;
}

/* Idle time counts: the columns reach from the begin to the end of the watched period. */
static int report_cover(struct timegrid *g, uint64_t begin_ns, uint64_t end_ns)
{
	return timegrid_at(g, begin_ns) && timegrid_at(g, end_ns - 1) ? 0 : -ENOMEM;
}

static int cover_period(struct report *r)
{
	struct collect *c = r->collect;
	int ret;

	r->begin_ns = (uint64_t)(r->all.begin_s * 1e9);
	r->end_ns = (uint64_t)(r->all.end_s * 1e9);
	if (r->end_ns <= r->begin_ns)
		r->end_ns = r->begin_ns + 1;
	r->window_ns = load_window_ns(r->end_ns - r->begin_ns);
	if (c->retired.longest_ns > r->window_ns)
		r->window_ns = timegrid_round_ns(c->retired.longest_ns);
	ret = report_cover(&c->intensity.grid, r->begin_ns, r->end_ns);
	if (ret)
		return ret;
	ret = report_cover(&c->sum.grid, r->begin_ns, r->end_ns);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->nr_devices; i++) {
		uint64_t begin_ns = (uint64_t)(r->each[i].begin_s * 1e9);
		uint64_t end_ns = (uint64_t)(r->each[i].end_s * 1e9);

		ret = report_cover(&c->devices[i]->load.grid, r->begin_ns, r->end_ns);
		if (ret)
			return ret;
		if (c->devices[i]->map.started)
			ret = report_cover(&c->devices[i]->map.grid, begin_ns,
					   end_ns > begin_ns ? end_ns : begin_ns + 1);
		if (ret)
			return ret;
	}
	return 0;
}

static int close_report(struct report *r, const struct report_facts *facts)
{
	struct collect *c = r->collect;
	int ret = facts->ledger ? ledger_merge(&r->ledger, facts->ledger) : 0;

	r->nr_missing = facts->nr_missing;
	if (!ret)
		ret = take_profiles(r, facts);
	if (!ret)
		ret = take_gaps(r, facts);
	if (!ret)
		ret = sum_profiles(r);
	if (!ret)
		ret = rank_devices(r);
	if (!ret)
		ret = cover_period(r);
	if (!ret)
		ret = report_close_gaps(r);
	if (!ret)
		ret = slo_judge(&r->slo, r);
	if (ret)
		return ret;
	frame_view(&c->intensity.grid, c->nr_requests, &r->view);
	/* Narrower columns would show how counts are rounded, not what happened. */
	if (c->retired.nr_requests == c->nr_requests && r->view.step_ns < r->window_ns)
		frame_view_step(&c->intensity.grid, r->window_ns, &r->view);
	r->view.objectives = c->objectives;
	return load_peaks(&c->sum, r->window_ns, &r->peaks);
}

int report_new(struct report **out, struct collect *c, const struct report_facts *facts, bool utc,
	       struct err *err)
{
	struct report *r;
	int failed;

	if (!c->intensity.grid.nr) {
		uint64_t nr = c->nr_requests;

		collect_free(c);
		if (nr)
			return err_set(err, ENODATA,
				       "no read and no write in the selection: its %llu requests "
				       "are flushes, discards and others, which `blkcast "
				       "characterize` counts and `blkcast dump` lists",
				       (unsigned long long)nr);
		return err_set(err, ENODATA,
			       "no read and no write in the selection: nothing to draw (a source "
			       "that only counts, diskstats, hands over none)");
	}
	r = calloc(1, sizeof(*r));
	if (!r) {
		collect_free(c);
		return err_set(err, ENOMEM, "no memory for the report");
	}
	r->collect = c;
	r->view.utc = utc;
	profile_init(&r->all);
	ledger_init(&r->ledger);
	failed = close_report(r, facts);
	if (failed) {
		report_free(r);
		return err_set(err, -failed, "the report cannot be put together: %s",
			       strerror(-failed));
	}
	*out = r;
	return 0;
}
