/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/show/board.h"

struct board {
	pthread_mutex_t lock;
	struct board_device *devices;
	size_t nr, cap;
	struct board_totals totals;
	bool wants_who;
	struct who processes, cgroups;
};

int board_new(struct board **out)
{
	struct board *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	pthread_mutex_init(&b->lock, NULL);
	b->totals.kernel_cpu_s = NAN;
	b->totals.source = b->totals.layer = "unknown";
	*out = b;
	return 0;
}

void board_free(struct board *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nr; i++)
		for (int d = 0; d < BOARD_DIRECTIONS; d++)
			for (int s = 0; s < NR_STAGES; s++)
				histogram_release(&b->devices[i].duration[d][s]);
	who_release(&b->processes);
	who_release(&b->cgroups);
	pthread_mutex_destroy(&b->lock);
	free(b->devices);
	free(b);
}

static struct board_device *device_of(struct board *b, uint32_t device)
{
	for (size_t i = 0; i < b->nr; i++)
		if (b->devices[i].device == device)
			return &b->devices[i];
	return NULL;
}

static struct board_device *device_add(struct board *b, uint32_t device)
{
	size_t cap = b->cap ? 2 * b->cap : 4;
	struct board_device *devices;

	if (b->nr == b->cap) {
		devices = realloc(b->devices, cap * sizeof(*devices));
		if (!devices)
			return NULL;
		b->devices = devices;
		b->cap = cap;
	}
	b->devices[b->nr] = (struct board_device){ .device = device };
	return &b->devices[b->nr++];
}

static unsigned int size_edge(uint32_t bytes)
{
	unsigned int edge = 0;

	while (edge < BOARD_SIZE_EDGES - 1 && bytes > 512u << edge)
		edge++;
	return edge;
}

/* Sizes above the last edge are counted only in nr, which is the +Inf bucket. */
static void add_sizes(struct board_sizes *to, const struct direction_profile *from, uint64_t nr,
		      uint64_t bytes)
{
	for (size_t i = 0; i < from->nr_sizes; i++)
		if (from->sizes[i].bytes <= 512u << (BOARD_SIZE_EDGES - 1))
			to->at_most[size_edge(from->sizes[i].bytes)] += from->sizes[i].count;
	to->nr += nr;
	to->bytes += bytes;
}

static int add_direction(struct board_device *d, int direction, const struct direction_profile *p,
			 uint64_t nr, uint64_t bytes)
{
	int ret = 0;

	for (int stage = 0; stage < NR_STAGES; stage++) {
		ret = histogram_merge(&d->duration[direction][stage], &p->response.stage[stage]);
		if (ret)
			goto out;
	}
out:
	add_sizes(&d->sizes[direction], p, nr, bytes);
	if (p->sequential_ratio >= 0)
		d->sequential[direction] += (uint64_t)llround(p->sequential_ratio * (double)nr);
	d->last.sequential_ratio[direction] = p->sequential_ratio;
	d->last.size_mean_bytes[direction] = p->size_mean_bytes;
	return ret;
}

/* Returns the mean over reads and writes together, from counters. */
static double counted_mean_s(const struct profile *p, int stage)
{
	double reads = (double)p->requests[OPERATION_READ], sum = 0;
	double writes = (double)p->requests[OPERATION_WRITE];

	if (stage != STAGE_TOTAL || !(reads + writes > 0))
		return NAN;
	sum += reads > 0 ? reads * p->read.response.total_mean_s : 0;
	sum += writes > 0 ? writes * p->write.response.total_mean_s : 0;
	return sum / (reads + writes);
}

/* Sets the mean and the 99th percentile over reads and writes together. */
static void set_last_times(struct board_device *d, const struct profile *p)
{
	for (int stage = 0; stage < NR_STAGES; stage++) {
		struct histogram both;

		histogram_init(&both);
		d->last.mean_s[stage] = d->last.p99_s[stage] = NAN;
		if (!histogram_merge(&both, &p->read.response.stage[stage]) &&
		    !histogram_merge(&both, &p->write.response.stage[stage])) {
			d->last.mean_s[stage] =
				both.nr ? histogram_mean_s(&both) : counted_mean_s(p, stage);
			d->last.p99_s[stage] = histogram_quantile_s(&both, 0.99);
		}
		histogram_release(&both);
	}
}

static int add_profile(struct board_device *d, const struct profile *p)
{
	double duration_s = p->end_s - p->begin_s;
	int ret, again;

	memset(&d->last, 0, sizeof(d->last));
	d->last.duration_s = duration_s;
	d->last.end_real_s = p->end_s;
	for (int op = 0; op < NR_OPERATIONS; op++) {
		d->requests[op] += p->requests[op];
		d->bytes[op] += p->bytes[op];
		d->last.requests[op] = p->requests[op];
		d->last.bytes[op] = p->bytes[op];
	}
	if (p->closed.in_flight_mean > 0)
		d->in_flight_s += p->closed.in_flight_mean * duration_s;
	d->last.in_flight_mean = p->closed.in_flight_mean;
	d->last.clients_mean = p->closed.clients_mean;
	d->last.lost = p->lost;
	if (profile_untimed_requests(p) > 0)
		d->untimed += (uint64_t)llround(profile_untimed_requests(p));
	set_last_times(d, p);
	ret = add_direction(d, OPERATION_READ, &p->read, p->requests[OPERATION_READ],
			    p->bytes[OPERATION_READ]);
	again = add_direction(d, OPERATION_WRITE, &p->write, p->requests[OPERATION_WRITE],
			      p->bytes[OPERATION_WRITE]);
	return ret ? ret : again;
}

int board_post(struct board *b, uint32_t device, uint64_t size_bytes, bool is_hidden,
	       const struct profile *p)
{
	struct board_device *d;
	int ret = -ENOMEM;

	pthread_mutex_lock(&b->lock);
	d = device_of(b, device);
	if (!d)
		d = device_add(b, device);
	if (d) {
		memcpy(d->name, p->device_name, sizeof(d->name));
		d->size_bytes = size_bytes;
		d->is_hidden = is_hidden;
		d->is_counted = p->source == SOURCE_DISKSTATS;
		ret = add_profile(d, p);
	}
	pthread_mutex_unlock(&b->lock);
	return ret;
}

void board_post_idle(struct board *b, uint32_t device, double end_real_s)
{
	struct board_device *d;

	pthread_mutex_lock(&b->lock);
	d = device_of(b, device);
	if (d) {
		memset(&d->last, 0, sizeof(d->last));
		d->last.end_real_s = end_real_s;
	}
	pthread_mutex_unlock(&b->lock);
}

void board_set_totals(struct board *b, const struct board_totals *totals)
{
	pthread_mutex_lock(&b->lock);
	b->totals = *totals;
	pthread_mutex_unlock(&b->lock);
}

const struct board_device *board_lock(struct board *b, size_t *nr, struct board_totals *totals)
{
	pthread_mutex_lock(&b->lock);
	*nr = b->nr;
	*totals = b->totals;
	return b->devices;
}

void board_unlock(struct board *b)
{
	pthread_mutex_unlock(&b->lock);
}

int board_want_who(struct board *b)
{
	if (who_init(&b->processes, BOARD_WHO_MAX) || who_init(&b->cgroups, BOARD_WHO_MAX))
		return -ENOMEM;
	b->wants_who = true;
	return 0;
}

bool board_wants_who(const struct board *b)
{
	return b->wants_who;
}

void board_post_who(struct board *b, const struct who *processes, const struct who *cgroups)
{
	pthread_mutex_lock(&b->lock);
	if (b->wants_who) {
		who_merge(&b->processes, processes);
		who_merge(&b->cgroups, cgroups);
	}
	pthread_mutex_unlock(&b->lock);
}

static void board_swap(struct who *a, struct who *b)
{
	struct who old = *a;

	*a = *b;
	*b = old;
}

bool board_swap_who(struct board *b, struct who *processes, struct who *cgroups)
{
	if (!b->wants_who)
		return false;
	board_swap(&b->processes, processes);
	board_swap(&b->cgroups, cgroups);
	return true;
}
