/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/block_hash.h"
#include "workload/hotspot_fit.h"
#include "workload/window_parts.h"

static const char why_incomplete[] = "Memory ran out: some estimates miss some requests.";

static void profile_counts(const struct window *w, struct profile *p)
{
	memcpy(p->requests, w->sizes.requests, sizeof(p->requests));
	memcpy(p->bytes, w->sizes.bytes, sizeof(p->bytes));
	p->errors = w->latency.errors;
	p->requeues = w->latency.requeues;
	p->kernel_thread_requests = w->closed.nr_kernel;
	p->own_requests = w->own_requests;
	p->paused_requests = w->latency.paused;
	p->durability.forced_writes = w->durability.forced;
	p->durability.flushing_writes = w->durability.flushing;
	p->durability.awaited_flushes = w->durability.awaited;
}

/* Marks the values as unknown for which the clock of the arrivals is too coarse. */
static void refuse_below_tick(const struct window *w, struct profile *p)
{
	p->open.clock_resolution_s = clock_tick_resolution_s(&w->tick);
	for (size_t i = 0; i < p->open.nr_idc; i++)
		if (clock_tick_hides(&w->tick, p->open.idc[i].window_s))
			p->open.idc[i].idc = NAN;
	if (clock_tick_hides(&w->tick, p->open.interarrival_mean_s)) {
		p->open.interarrival_scv = NAN;
		p->open.lag1_autocorrelation = NAN;
	}
	if (clock_tick_timeless(&w->tick)) {
		p->open.rate_per_s = NAN;
		p->open.interarrival_mean_s = NAN;
	}
}

static int profile_intensity(const struct window *w, uint64_t end_ns, struct profile *p)
{
	struct idc_point *points = malloc(IDC_NR_SCALES * sizeof(*points));

	if (!points)
		return -ENOMEM;
	for (unsigned int i = 0; i < IDC_NR_SCALES; i++) {
		points[i].window_s = (double)idc_window_ns[i] / 1e9;
		points[i].idc = idc_at(&w->idc, i, end_ns);
	}
	free(p->open.idc);
	p->open.idc = points;
	p->open.nr_idc = IDC_NR_SCALES;
	p->open.rate_per_s = open_rate_per_s(&w->open, (double)(end_ns - w->begin_ns) / 1e9);
	p->open.interarrival_mean_s = open_interarrival_mean_s(&w->open);
	p->open.interarrival_scv = open_interarrival_scv(&w->open);
	p->open.lag1_autocorrelation = open_lag1_autocorrelation(&w->open);
	refuse_below_tick(w, p);
	p->closed.clients_mean = closed_clients_mean(&w->closed, end_ns);
	p->closed.in_flight_mean = closed_in_flight_mean(&w->closed, end_ns);
	p->closed.think_time_mean_s = closed_think_time_mean_s(&w->closed);
	p->closed.sample_interval_s = (double)w->config.client_interval_ns / 1e9;
	return 0;
}

static int profile_responses(const struct window *w, enum operation operation,
			     struct response_times *r)
{
	for (size_t i = 0; i < NR_STAGES; i++)
		histogram_clear(&r->stage[i]);
	for (size_t i = 0; i < NR_SIZE_CLASSES; i++)
		histogram_clear(&r->size_class[i]);
	return latency_responses(&w->latency, operation, r);
}

/* Gaps are unknown where the clock cannot tell one from the next. */
static int profile_arrivals(const struct window *w, enum operation operation,
			    struct arrival_tally tallies[NR_TALLIES])
{
	int ret;

	for (size_t i = 0; i < NR_TALLIES; i++)
		arrival_tally_release(&tallies[i]);
	ret = arrivals_tallies(&w->arrivals, operation, tallies);
	if (clock_tick_hides(&w->tick, open_interarrival_mean_s(&w->open)))
		arrival_tally_release(&tallies[TALLY_INTERARRIVAL]);
	return ret;
}

static int profile_direction(const struct window *w, enum operation operation,
			     struct direction_profile *d)
{
	struct size_count *sizes;
	size_t nr_sizes;
	int ret = size_mix_sizes(&w->sizes, operation, &sizes, &nr_sizes);

	if (ret)
		return ret;
	free(d->sizes);
	d->sizes = sizes;
	d->nr_sizes = nr_sizes;
	d->size_mean_bytes = size_mix_mean_bytes(&w->sizes, operation);
	d->other_sizes = w->sizes.direction[operation].beyond;
	d->sequential_ratio = sequential_ratio(&w->lists[operation]);
	d->stream_ratio = sequential_stream_ratio(&w->lists[operation]);
	d->continuing_ratio = sequential_continuing_ratio(&w->lists[operation]);
	ret = profile_arrivals(w, operation, d->arrivals);
	return ret ? ret : profile_responses(w, operation, &d->response);
}

static int profile_locality(const struct window *w, struct profile *p)
{
	uint64_t data = w->sizes.requests[OPERATION_READ] + w->sizes.requests[OPERATION_WRITE] +
			w->nr_undivided;
	struct cache_point *curve = NULL;
	size_t nr = 0;
	int ret = hotspot_fit(&w->hotspot, &p->locality.distribution);

	if (!ret && !w->reuse_cut)
		ret = reuse_curve(&w->reuse, BLOCK_BYTES, &curve, &nr);
	if (ret)
		return ret;
	free(p->locality.miss_ratio);
	p->locality.miss_ratio = curve;
	p->locality.nr_miss_ratio = nr;
	p->locality.nr_miss_ratio_samples = nr ? reuse_nr_samples(&w->reuse) : 0;
	p->locality.miss_ratio_sampled_ratio = nr ? 1 / w->reuse.weight : NAN;
	p->locality.block_bytes = BLOCK_BYTES;
	p->locality.footprint_bytes = NAN;
	if (data && !w->config.cheap && !w->blocks_cut)
		p->locality.footprint_bytes = round(footprint_blocks(&w->footprint)) * BLOCK_BYTES;
	p->locality.file_count_mean = fileset_count_mean(&w->fileset);
	p->locality.file_size_mean_bytes = fileset_size_mean_bytes(&w->fileset);
	p->locality.file_set_size_mean_bytes = fileset_total_mean_bytes(&w->fileset);
	return 0;
}

int window_profile(const struct window *w, uint64_t end_ns, struct profile *p)
{
	int ret;

	if (end_ns <= w->begin_ns)
		return -EINVAL;
	profile_counts(w, p);
	for (size_t i = 0; i < NR_TALLIES; i++)
		arrival_tally_release(&p->undivided_arrivals[i]);
	ret = profile_intensity(w, end_ns, p);
	if (!ret)
		ret = profile_direction(w, OPERATION_READ, &p->read);
	if (!ret)
		ret = profile_direction(w, OPERATION_WRITE, &p->write);
	if (!ret)
		ret = profile_responses(w, OPERATION_FLUSH, &p->flush);
	if (!ret)
		ret = profile_locality(w, p);
	if (ret)
		return ret;
	p->all_sequential_ratio = sequential_ratio(&w->lists[LIST_ALL]);
	p->all_stream_ratio = sequential_stream_ratio(&w->lists[LIST_ALL]);
	p->all_continuing_ratio = sequential_continuing_ratio(&w->lists[LIST_ALL]);
	p->window_requests = w->config.subset_requests;
	p->quality.incomplete = false;
	for (size_t i = 0; i < WINDOW_LANES; i++)
		p->quality.incomplete |= w->incomplete[i];
	if (w->nr_undivided)
		profile_undivide(p);
	if (p->quality.incomplete) /* until profile_grade() combines it with the other criteria */
		memcpy(p->quality.why, why_incomplete, sizeof(why_incomplete));
	return 0;
}
