/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/collect/profile_sum.h"

/*
 * Adds two values, where an unknown one counts as 0: a device without the value does not hide the
 * others.
 */
static double profile_sum_plus(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

/* Returns the mean of a (with weight wa) and b (with weight wb). */
static double profile_sum_blend(double a, double wa, double b, double wb)
{
	if (isnan(a) || !(wa > 0))
		return b;
	if (isnan(b) || !(wb > 0))
		return a;
	return (a * wa + b * wb) / (wa + wb);
}

/* Both lists are sorted by size, and so is their union. */
static int add_sizes(struct direction_profile *dst, const struct direction_profile *src)
{
	struct size_count *sizes;
	size_t nr = 0, i = 0, j = 0;

	if (!src->nr_sizes)
		return 0;
	sizes = reallocarray(NULL, dst->nr_sizes + src->nr_sizes, sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	while (i < dst->nr_sizes || j < src->nr_sizes) {
		const struct size_count *a = i < dst->nr_sizes ? &dst->sizes[i] : NULL;
		const struct size_count *b = j < src->nr_sizes ? &src->sizes[j] : NULL;

		if (a && (!b || a->bytes <= b->bytes)) {
			sizes[nr] = *a;
			i++;
			if (b && b->bytes == a->bytes)
				sizes[nr].count += src->sizes[j++].count;
		} else {
			sizes[nr] = src->sizes[j++];
		}
		nr++;
	}
	free(dst->sizes);
	dst->sizes = sizes;
	dst->nr_sizes = nr;
	return 0;
}

/* The weights are the requests of the direction so far, and those in src. */
static int add_direction(struct direction_profile *dst, const struct direction_profile *src,
			 double dst_weight, double src_weight)
{
	int ret = add_sizes(dst, src);

	dst->size_mean_bytes = profile_sum_blend(dst->size_mean_bytes, dst_weight,
						 src->size_mean_bytes, src_weight);
	dst->sequential_ratio = profile_sum_blend(dst->sequential_ratio, dst_weight,
						  src->sequential_ratio, src_weight);
	dst->stream_ratio =
		profile_sum_blend(dst->stream_ratio, dst_weight, src->stream_ratio, src_weight);
	dst->continuing_ratio = profile_sum_blend(dst->continuing_ratio, dst_weight,
						  src->continuing_ratio, src_weight);
	dst->other_sizes += src->other_sizes;
	dst->response.total_mean_s = profile_sum_blend(dst->response.total_mean_s, dst_weight,
						       src->response.total_mean_s, src_weight);
	if (ret)
		return ret;
	for (int s = 0; s < NR_STAGES; s++) {
		ret = histogram_merge(&dst->response.stage[s], &src->response.stage[s]);
		if (ret)
			return ret;
	}
	for (int i = 0; i < NR_TALLIES; i++) {
		ret = arrival_tally_merge(&dst->arrivals[i], &src->arrivals[i]);
		if (ret)
			return ret;
	}
	for (int c = 0; c < NR_SIZE_CLASSES; c++) {
		ret = histogram_merge(&dst->response.size_class[c], &src->response.size_class[c]);
		if (ret)
			return ret;
	}
	return 0;
}

static int profile_sum_add(struct profile *sum, const struct profile *p)
{
	const double *before = (double[]){ (double)sum->requests[OPERATION_READ],
					   (double)sum->requests[OPERATION_WRITE] };
	int ret =
		add_direction(&sum->read, &p->read, before[0], (double)p->requests[OPERATION_READ]);

	if (!ret)
		ret = add_direction(&sum->write, &p->write, before[1],
				    (double)p->requests[OPERATION_WRITE]);
	sum->durability.forced_writes += p->durability.forced_writes;
	sum->durability.flushing_writes += p->durability.flushing_writes;
	sum->durability.awaited_flushes += p->durability.awaited_flushes;
	sum->flush.total_mean_s =
		profile_sum_blend(sum->flush.total_mean_s, (double)sum->requests[OPERATION_FLUSH],
				  p->flush.total_mean_s, (double)p->requests[OPERATION_FLUSH]);
	for (int s = 0; s < NR_STAGES && !ret; s++)
		ret = histogram_merge(&sum->flush.stage[s], &p->flush.stage[s]);
	for (int i = 0; i < NR_TALLIES && !ret; i++)
		ret = arrival_tally_merge(&sum->undivided_arrivals[i], &p->undivided_arrivals[i]);
	if (ret)
		return ret;
	for (int op = 0; op < NR_OPERATIONS; op++) {
		sum->requests[op] += p->requests[op];
		sum->bytes[op] += p->bytes[op];
	}
	sum->unknown |= p->unknown;
	sum->lost += p->lost;
	sum->errors += p->errors;
	sum->requeues += p->requeues;
	sum->kernel_thread_requests += p->kernel_thread_requests;
	sum->own_requests += p->own_requests;
	sum->paused_requests += p->paused_requests;
	for (size_t i = 0; i < p->nr_pauses; i++)
		profile_add_pause(sum, &p->pauses[i]);
	sum->closed.in_flight_mean =
		profile_sum_plus(sum->closed.in_flight_mean, p->closed.in_flight_mean);
	sum->open.rate_per_s = profile_sum_plus(sum->open.rate_per_s, p->open.rate_per_s);
	sum->begin_s = fmin(sum->begin_s, p->begin_s);
	sum->end_s = fmax(sum->end_s, p->end_s);
	/* The period that was watched least decides. */
	sum->quality.coverage_ratio = fmin(sum->quality.coverage_ratio, p->quality.coverage_ratio);
	return 0;
}

int profile_sum(struct profile *sum, const struct profile *each, size_t nr)
{
	snprintf(sum->host, sizeof(sum->host), "%s", each[0].host);
	snprintf(sum->device_name, sizeof(sum->device_name), "%zu devices", nr);
	sum->source = each[0].source;
	sum->layer = each[0].layer;
	sum->begin_s = each[0].begin_s;
	sum->end_s = each[0].end_s;
	for (size_t i = 0; i < nr; i++) {
		int ret = profile_sum_add(sum, &each[i]);

		if (ret) {
			profile_release(sum);
			return ret;
		}
		if (strcmp(sum->host, each[i].host))
			sum->host[0] = '\0';
	}
	if (profile_is_undivided(sum))
		profile_undivide(sum);
	return 0;
}
