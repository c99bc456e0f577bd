// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/kept_time.h"

#include <math.h>
#include <string.h>

#include "analyzer/characterize/watched.h"
#include "formats/request.h"

#define KEPT_TIME_LOOK 1024 /* intervals that are looked at for one window */

double kept_time_overlap_s(const struct scan_trace *trace, double begin_s, double end_s)
{
	size_t least =
		trace->nr_kept_back > KEPT_TIME_LOOK ? trace->nr_kept_back - KEPT_TIME_LOOK : 0;
	double sum = 0;

	for (size_t i = trace->nr_kept_back; i-- > least;) {
		double from_s = (double)trace->kept_back[i].begin_real_ns / 1e9;
		double until_s = (double)trace->kept_back[i].end_real_ns / 1e9;

		if (until_s <= begin_s && !trace->is_tangled)
			break;
		sum += fmax(0, fmin(until_s, end_s) - fmax(from_s, begin_s));
	}
	return sum;
}

/* There may be an interval for each window that a policy chose. Returns whether one was added. */
static bool kept_time_add(struct kept_time *t, const struct scan_interval *all, size_t nr,
			  bool is_tangled)
{
	uint64_t from_ns = (uint64_t)(t->from_s * 1e9);
	bool has_one = false;

	for (size_t i = watched_first(all, nr, is_tangled, from_ns); i < nr; i++) {
		double begin_s = fmax((double)all[i].begin_real_ns / 1e9, t->from_s);
		double end_s = fmin((double)all[i].end_real_ns / 1e9, t->until_s);

		if (end_s <= begin_s && begin_s >= t->until_s && !is_tangled)
			break;
		if (end_s <= begin_s)
			continue;
		has_one = true;
		t->begin_s = t->sum_s > 0 ? fmin(t->begin_s, begin_s) : begin_s;
		t->end_s = fmax(t->end_s, end_s);
		t->sum_s += end_s - begin_s;
	}
	return has_one;
}

void kept_time_find(struct kept_time *t, const struct scan *scan, const char *host, bool with_sent)
{
	for (uint32_t i = 0; i < scan_nr_traces(scan); i++) {
		const struct scan_trace *trace = scan_trace(scan, i);

		if (strcmp(trace->host, host) != 0)
			continue;
		if (with_sent)
			kept_time_add(t, trace->covered, trace->nr_covered, trace->is_tangled);
		t->has_kept_back |=
			kept_time_add(t, trace->kept_back, trace->nr_kept_back, trace->is_tangled);
	}
}

bool kept_time_is_busy(const struct kept_time *t, const struct scan *scan, const struct profile *p)
{
	uint32_t device = 0;

	device_parse(p->device, &device);
	for (uint32_t i = 0; i < scan_nr_traces(scan); i++) {
		const struct scan_trace *trace = scan_trace(scan, i);

		if (strcmp(trace->host, p->host) != 0 || !trace->nr_kept_back)
			continue;
		for (size_t j = 0; j < trace->ledger->nr; j++) {
			const struct loss *l = &trace->ledger->losses[j];

			if (l->cause == LOSS_KEPT_BACK && l->count &&
			    (!l->device || l->device == device) &&
			    (double)l->begin_real_ns / 1e9 < t->until_s &&
			    (double)l->end_real_ns / 1e9 > t->from_s)
				return true;
		}
	}
	return false;
}
