/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/profile/profile_merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t all_requests(const struct profile *p)
{
	uint64_t nr = 0;

	for (int op = 0; op < NR_OPERATIONS; op++)
		nr += p->requests[op];
	return nr;
}

/*
 * Returns the mean with weights wa and wb. A value without weight does not count; where neither has
 * weight, the result is unknown.
 */
static double profile_merge_joint(double a, double wa, double b, double wb)
{
	double sum = (wa > 0 ? a * wa : 0) + (wb > 0 ? b * wb : 0);

	return wa + wb > 0 ? sum / (wa + wb) : NAN;
}

static double same_or_unknown(double a, double b)
{
	return a == b ? a : NAN;
}

/* Both lists are ordered by bytes ascending, and so is the result. */
static int merge_sizes(struct direction_profile *to, const struct direction_profile *from)
{
	size_t cap = to->nr_sizes + from->nr_sizes, a = 0, b = 0, nr = 0;
	struct size_count *all = cap ? malloc(cap * sizeof(*all)) : NULL;

	if (cap && !all)
		return -ENOMEM;
	while (a < to->nr_sizes || b < from->nr_sizes) {
		bool left = b == from->nr_sizes ||
			    (a < to->nr_sizes && to->sizes[a].bytes <= from->sizes[b].bytes);
		const struct size_count *next = left ? &to->sizes[a++] : &from->sizes[b++];

		if (nr && all[nr - 1].bytes == next->bytes)
			all[nr - 1].count += next->count;
		else
			all[nr++] = *next;
	}
	free(to->sizes);
	to->sizes = all;
	to->nr_sizes = nr;
	to->other_sizes += from->other_sizes;
	return 0;
}

static int merge_responses(struct response_times *to, double nr, const struct response_times *from,
			   double more)
{
	int ret = 0;

	to->total_mean_s = profile_merge_joint(to->total_mean_s, nr, from->total_mean_s, more);
	for (int i = 0; i < NR_STAGES; i++) {
		ret = histogram_merge(&to->stage[i], &from->stage[i]);
		if (ret)
			return ret;
	}
	for (int i = 0; i < NR_SIZE_CLASSES; i++) {
		ret = histogram_merge(&to->size_class[i], &from->size_class[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * The ratios of Algorithm 1 and related ones over a list of requests, weighted by the length of the
 * list.
 */
struct pattern {
	double *sequential, *stream, *continuing;
};

static void merge_pattern(struct pattern to, double nr, double sequential, double stream,
			  double continuing, double more)
{
	*to.sequential = profile_merge_joint(*to.sequential, nr, sequential, more);
	*to.stream = profile_merge_joint(*to.stream, nr, stream, more);
	*to.continuing = profile_merge_joint(*to.continuing, nr, continuing, more);
}

static int merge_arrivals(struct arrival_tally to[NR_TALLIES],
			  const struct arrival_tally from[NR_TALLIES])
{
	int ret = 0;

	for (int i = 0; i < NR_TALLIES && !ret; i++)
		ret = arrival_tally_merge(&to[i], &from[i]);
	return ret;
}

static int merge_direction(struct direction_profile *to, uint64_t nr,
			   const struct direction_profile *from, uint64_t more)
{
	struct pattern pattern = { &to->sequential_ratio, &to->stream_ratio,
				   &to->continuing_ratio };
	int ret = merge_sizes(to, from);

	if (ret)
		goto out;
	ret = merge_arrivals(to->arrivals, from->arrivals);
	if (ret)
		goto out;
	ret = merge_responses(&to->response, (double)nr, &from->response, (double)more);
out:
	to->size_mean_bytes = profile_merge_joint(to->size_mean_bytes, (double)nr,
						  from->size_mean_bytes, (double)more);
	merge_pattern(pattern, (double)nr, from->sequential_ratio, from->stream_ratio,
		      from->continuing_ratio, (double)more);
	return ret;
}

/* Returns the seconds watched in both. A gap as small as between neighbours does not count. */
static double watched_s(const struct profile *a, const struct profile *b)
{
	double gap = fmax(a->begin_s, b->begin_s) - fmin(a->end_s, b->end_s);
	double sum = a->quality.coverage_ratio * (a->end_s - a->begin_s) +
		     b->quality.coverage_ratio * (b->end_s - b->begin_s);

	return gap > 0 && gap <= PROFILE_TOUCH_S ? sum + gap : sum;
}

static void forget_locality(struct profile *p)
{
	uint32_t block_bytes = p->locality.block_bytes;
	struct profile none;

	profile_init(&none);
	free(p->locality.miss_ratio);
	p->locality = none.locality;
	p->locality.block_bytes = block_bytes;
}

/* Clears the values that need single requests and cannot be computed from two periods. */
static void forget_single(struct profile *p)
{
	free(p->open.idc);
	p->open.idc = NULL;
	p->open.nr_idc = 0;
	p->open.interarrival_mean_s = p->open.interarrival_scv = NAN;
	p->open.lag1_autocorrelation = NAN;
	p->closed.think_time_mean_s = NAN;
	forget_locality(p);
}

/*
 * Computes means over the time watched, weighted by it. The rate is that of arrivals, which a
 * source without times does not have.
 */
static void merge_intensity(struct profile *to, const struct profile *from)
{
	double a = profile_rate_s(to), b = profile_rate_s(from), end_to_end_s = a + b;

	to->closed.in_flight_mean =
		(to->closed.in_flight_mean * a + from->closed.in_flight_mean * b) / end_to_end_s;
	to->closed.clients_mean =
		(to->closed.clients_mean * a + from->closed.clients_mean * b) / end_to_end_s;
	to->open.rate_per_s = (to->open.rate_per_s * a + from->open.rate_per_s * b) / end_to_end_s;
	to->closed.sample_interval_s =
		same_or_unknown(to->closed.sample_interval_s, from->closed.sample_interval_s);
	to->open.clock_resolution_s =
		same_or_unknown(to->open.clock_resolution_s, from->open.clock_resolution_s);
}

static void merge_counts(struct profile *to, const struct profile *from)
{
	to->unknown |= from->unknown;
	for (int op = 0; op < NR_OPERATIONS; op++) {
		to->requests[op] += from->requests[op];
		to->bytes[op] += from->bytes[op];
	}
	to->lost += from->lost;
	to->errors += from->errors;
	to->requeues += from->requeues;
	to->kernel_thread_requests += from->kernel_thread_requests;
	to->own_requests += from->own_requests;
	to->paused_requests += from->paused_requests;
	to->durability.forced_writes += from->durability.forced_writes;
	to->durability.flushing_writes += from->durability.flushing_writes;
	to->durability.awaited_flushes += from->durability.awaited_flushes;
	for (size_t i = 0; i < from->nr_pauses; i++)
		profile_add_pause(to, &from->pauses[i]);
	to->quality.incomplete |= from->quality.incomplete;
}

static int merge_periods(struct profile *to, const struct profile *from)
{
	struct pattern pattern = { &to->all_sequential_ratio, &to->all_stream_ratio,
				   &to->all_continuing_ratio };
	double begin_s = fmin(to->begin_s, from->begin_s), end_s = fmax(to->end_s, from->end_s);
	double watched = watched_s(to, from);
	int ret;

	if (!all_requests(to))
		to->window_requests = from->window_requests;
	else if (all_requests(from) && to->window_requests != from->window_requests)
		to->window_requests = 0;
	ret = merge_direction(&to->read, to->requests[OPERATION_READ], &from->read,
			      from->requests[OPERATION_READ]);
	if (!ret)
		ret = merge_direction(&to->write, to->requests[OPERATION_WRITE], &from->write,
				      from->requests[OPERATION_WRITE]);
	if (!ret)
		ret = merge_responses(&to->flush, (double)to->requests[OPERATION_FLUSH],
				      &from->flush, (double)from->requests[OPERATION_FLUSH]);
	if (!ret)
		ret = merge_arrivals(to->undivided_arrivals, from->undivided_arrivals);
	if (ret)
		return ret;
	merge_pattern(pattern, (double)profile_data_requests(to), from->all_sequential_ratio,
		      from->all_stream_ratio, from->all_continuing_ratio,
		      (double)profile_data_requests(from));
	merge_intensity(to, from);
	merge_counts(to, from);
	forget_single(to);
	to->begin_s = begin_s;
	to->end_s = end_s;
	to->quality.coverage_ratio = watched / (end_s - begin_s);
	if (to->quality.coverage_ratio > 1) /* two agents watched at the same time */
		to->quality.coverage_ratio = 1;
	return 0;
}

int profile_merge(struct profile *dst, const struct profile *src)
{
	uint8_t source = dst->source == src->source ? src->source : SOURCE_UNKNOWN;
	struct profile undivided = { 0 };
	int ret = 0;

	profile_init(&undivided);
	if (profile_is_undivided(dst) && !profile_is_undivided(src)) {
		ret = profile_copy(&undivided, src);
		if (!ret)
			profile_undivide(&undivided);
		src = &undivided;
	} else if (!profile_is_undivided(dst) && profile_is_undivided(src)) {
		profile_undivide(dst);
	}
	if (!ret)
		ret = merge_periods(dst, src);
	profile_release(&undivided);
	if (ret) {
		profile_release(dst);
		return ret;
	}
	dst->source = source;
	free(dst->source_detail);
	dst->source_detail = NULL;
	profile_grade(dst);
	return 0;
}
