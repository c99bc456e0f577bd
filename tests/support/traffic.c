/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/segment/segment.h"
#include "tests/support/traffic.h"

#define DEPTH	32u
#define THREADS 8u
#define BEGIN	1000000000000u

uint64_t traffic_random(struct traffic *t)
{
	uint64_t z = t->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double traffic_uniform(struct traffic *t)
{
	return (double)(traffic_random(t) >> 11) * 0x1p-53;
}

double traffic_exponential(struct traffic *t, double mean)
{
	return -mean * log(1 - traffic_uniform(t));
}

double traffic_lognormal(struct traffic *t, double median, double sigma)
{
	double radius = sqrt(-2 * log(1 - traffic_uniform(t)));

	return median * exp(sigma * radius * cos(6.283185307179586 * traffic_uniform(t)));
}

/*
 * A slot holds one request under way. Returns the slot that is free first, which takes the next
 * request.
 */
static size_t first_free(const uint64_t *free_ns, size_t nr)
{
	size_t first = 0;

	for (size_t i = 1; i < nr; i++)
		if (free_ns[i] < free_ns[first])
			first = i;
	return first;
}

static uint32_t under_way(const uint64_t *completion_ns, size_t nr, uint64_t now_ns)
{
	uint32_t count = 0;

	for (size_t i = 0; i < nr; i++)
		count += completion_ns[i] > now_ns;
	return count;
}

/* Fills in times, issuer and depth of requests that keep nr_slots slots busy. */
static void closed_loop(struct traffic *t, struct request *out, size_t nr, size_t nr_slots,
			double think_ns, double median_ns, double sigma)
{
	uint64_t free_ns[64], completion_ns[64] = { 0 };

	for (size_t i = 0; i < nr_slots; i++)
		free_ns[i] = BEGIN + traffic_random(t) % 100000;
	for (size_t i = 0; i < nr; i++) {
		size_t slot = first_free(free_ns, nr_slots);
		struct request *r = &out[i];

		r->arrival_ns = free_ns[slot];
		r->dispatch_ns = r->arrival_ns + (uint64_t)traffic_lognormal(t, 1200, 0.4);
		r->completion_ns =
			r->dispatch_ns + (uint64_t)traffic_lognormal(t, median_ns, sigma);
		r->queue_depth = under_way(completion_ns, nr_slots, r->arrival_ns);
		r->tid = 4242 + (uint32_t)(slot % THREADS);
		r->pid = 4240;
		r->cgroup_id = 6200;
		completion_ns[slot] = r->completion_ns;
		free_ns[slot] = r->completion_ns + (uint64_t)traffic_lognormal(t, think_ns, 0.5);
	}
}

void traffic_random_4k(struct traffic *t, struct request *out, size_t nr, uint64_t span_bytes)
{
	memset(out, 0, nr * sizeof(*out));
	closed_loop(t, out, nr, DEPTH, 2000, 120000, 0.5);
	for (size_t i = 0; i < nr; i++) {
		out[i].sector = traffic_random(t) % (span_bytes / 4096) * 8;
		out[i].bytes = 4096;
		out[i].device = device_make(259, 0);
		out[i].operation = traffic_random(t) % 10 < 7 ? OPERATION_READ : OPERATION_WRITE;
		out[i].flags = REQUEST_SYNC;
		out[i].source = SOURCE_BPF;
	}
}

void traffic_sequential(struct traffic *t, struct request *out, size_t nr, unsigned int nr_streams)
{
	uint64_t next[THREADS];

	for (unsigned int i = 0; i < THREADS; i++)
		next[i] = ((uint64_t)i << 30) / SECTOR_BYTES;
	memset(out, 0, nr * sizeof(*out));
	closed_loop(t, out, nr, nr_streams, 3000, 60000, 0.2);
	for (size_t i = 0; i < nr; i++) {
		uint64_t *sector = &next[(out[i].tid - 4242) % THREADS];

		out[i].sector = *sector;
		out[i].bytes = 65536;
		*sector += 128;
		out[i].device = device_make(259, 0);
		out[i].source = SOURCE_BPF;
	}
}

/* The flags of version 1 of the segment, because its golden file is made with this function. */
#define FLAGS (REQUEST_FLAGS_ALL & ~(REQUEST_NO_OPERATION | REQUEST_PAUSED)) /* of version 1 */

void traffic_anything(struct traffic *t, struct request *out, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct request r = { 0 };
		unsigned int shift = (unsigned int)(traffic_random(t) % 64);

		r.arrival_ns = (traffic_random(t) >> shift) % TRACE_TIME_MAX_NS;
		r.dispatch_ns =
			r.arrival_ns + traffic_random(t) % (TRACE_TIME_MAX_NS - r.arrival_ns);
		r.completion_ns = r.dispatch_ns + (TRACE_TIME_MAX_NS - r.dispatch_ns) / 3;
		r.cgroup_id = traffic_random(t);
		r.bytes = (uint32_t)traffic_random(t) % (REQUEST_MAX_DATA_BYTES + 1);
		r.sector = (traffic_random(t) >> (63 - shift)) %
			   (REQUEST_END_SECTOR_MAX - request_sectors(&r));
		/*
		 * Chooses from as many devices as a segment may hold, spread over the whole range
		 * of numbers.
		 */
		r.device = (uint32_t)(traffic_random(t) % SEGMENT_MAX_DEVICES) * 8405024u;
		r.tid = (uint32_t)traffic_random(t);
		r.pid = (uint32_t)traffic_random(t);
		r.flags = (uint32_t)traffic_random(t) & FLAGS;
		r.queue_depth = (uint32_t)traffic_random(t);
		r.error = (uint16_t)traffic_random(t);
		r.requeues = (uint16_t)traffic_random(t);
		r.operation = (uint8_t)(traffic_random(t) % NR_OPERATIONS);
		r.source = (uint8_t)(traffic_random(t) % NR_SOURCES);
		r.layer = (uint8_t)(traffic_random(t) % NR_LAYERS);
		out[i] = r;
	}
}
