/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/source/disk_counters.h"

#define NR_COUNTERS (DISK_COUNTERS_FLUSHES - 3)

int disk_counters_parse(struct disk_counters *out, const char *line)
{
	struct disk_counters c = { .nr_columns = 3 };
	uint64_t v[NR_COUNTERS] = { 0 };
	unsigned int major, minor, nr = 0;
	int used = 0;
	const char *at;

	if (sscanf(line, " %u %u %63s%n", &major, &minor, c.name, &used) != 3 || !used)
		return -EINVAL;
	for (at = line + used; nr < NR_COUNTERS; nr++) {
		char *end;

		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			break;
		v[nr] = strtoull(at, &end, 10);
		at = end;
	}
	c.nr_columns += nr;
	if (c.nr_columns < DISK_COUNTERS_COLUMNS)
		return -EINVAL;
	c.device = device_make(major, minor);
	for (int i = 0; i < 3; i++) {
		/*
		 * The counters of discards follow the three groups of counters that describe the
		 * disk as a whole.
		 */
		const uint64_t *of = v + 4 * i + (i == OPERATION_DISCARD ? 3 : 0);

		c.completed[i] = of[0];
		c.merged[i] = of[1];
		c.sectors[i] = of[2];
		c.ms[i] = of[3];
	}
	c.in_flight = v[8];
	c.busy_ms = v[9];
	c.queue_ms = v[10];
	c.completed[OPERATION_FLUSH] = v[15];
	c.ms[OPERATION_FLUSH] = v[16];
	*out = c;
	return 0;
}

/*
 * Computes after - before. Returns false where the counter fell for another reason than wrapping at
 * 2^32.
 */
static bool change_of(uint64_t before, uint64_t after, uint64_t *out)
{
	*out = after - before;
	if (after >= before)
		return true;
	*out = (uint32_t)(after - before);
	return before <= UINT32_MAX && before - after > UINT32_MAX / 2;
}

bool disk_counters_change(const struct disk_counters *before, const struct disk_counters *after,
			  struct disk_counters *out)
{
	bool is_same = before->nr_columns == after->nr_columns;

	*out = *after;
	for (int i = 0; i < DISK_OPERATIONS; i++) {
		is_same &= change_of(before->completed[i], after->completed[i], &out->completed[i]);
		is_same &= change_of(before->merged[i], after->merged[i], &out->merged[i]);
		is_same &= change_of(before->sectors[i], after->sectors[i], &out->sectors[i]);
		is_same &= change_of(before->ms[i], after->ms[i], &out->ms[i]);
	}
	is_same &= change_of(before->busy_ms, after->busy_ms, &out->busy_ms);
	is_same &= change_of(before->queue_ms, after->queue_ms, &out->queue_ms);
	return is_same;
}

bool disk_counters_are_idle(const struct disk_counters *change)
{
	uint64_t sum = change->in_flight;

	for (int i = 0; i < DISK_OPERATIONS; i++)
		sum += change->completed[i];
	return !sum;
}

static void direction_fill(const struct disk_counters *change, int operation,
			   struct direction_profile *d)
{
	double nr = (double)change->completed[operation];

	if (!change->completed[operation])
		return;
	d->size_mean_bytes = (double)change->sectors[operation] * SECTOR_BYTES / nr;
	d->response.total_mean_s = (double)change->ms[operation] / 1e3 / nr;
}

void disk_counters_profile(const struct disk_counters *change, double seconds, struct profile *p)
{
	uint64_t nr = 0, ms = 0;

	p->unknown = UNKNOWN_OTHER | UNKNOWN_ERRORS | UNKNOWN_REQUEUES | UNKNOWN_KERNEL_THREAD |
		     UNKNOWN_OWN | UNKNOWN_DURABILITY;
	p->unknown |= change->nr_columns < DISK_COUNTERS_DISCARDS ? UNKNOWN_DISCARD : 0;
	p->unknown |= change->nr_columns < DISK_COUNTERS_FLUSHES ? UNKNOWN_FLUSH : 0;
	for (int i = 0; i < DISK_OPERATIONS; i++) {
		p->requests[i] = change->completed[i];
		p->bytes[i] = change->sectors[i] * SECTOR_BYTES;
		if (i == OPERATION_FLUSH)
			continue;
		nr += change->completed[i];
		ms += change->ms[i];
	}
	direction_fill(change, OPERATION_READ, &p->read);
	direction_fill(change, OPERATION_WRITE, &p->write);
	if (change->completed[OPERATION_FLUSH])
		p->flush.total_mean_s = (double)change->ms[OPERATION_FLUSH] / 1e3 /
					(double)change->completed[OPERATION_FLUSH];
	p->closed.in_flight_mean = (double)ms / 1e3 / seconds;
	p->open.rate_per_s = (double)nr / seconds;
	if (nr)
		p->open.interarrival_mean_s = seconds / (double)nr;
}
