/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "agent/source/cutover.h"
#include "base/system/clock.h"

/* Reads the count of every device once. */
static void cutover_read_once(struct cutover *c, cutover_read read)
{
	for (size_t i = 0; i < c->nr; i++) {
		struct cutover_device *d = &c->devices[i];
		struct cutover_reading *at = &d->readings[d->nr];

		at->before_ns = clock_monotonic_ns();
		if (!read(d->device, &at->completed))
			d->nr++;
		at->after_ns = clock_monotonic_ns();
	}
}

int cutover_take(struct cutover *c, const uint32_t *devices, size_t nr, cutover_read read)
{
	uint64_t end_ns = clock_monotonic_ns() + CUTOVER_MAX_NS;
	size_t kept = 0;

	c->nr = 0;
	c->devices = calloc(nr ? nr : 1, sizeof(*c->devices));
	if (!c->devices)
		return -ENOMEM;
	c->nr = nr;
	for (size_t i = 0; i < nr; i++)
		c->devices[i].device = devices[i];
	for (int turn = 0; turn < CUTOVER_READINGS; turn++) {
		if (turn >= CUTOVER_READINGS_MIN && clock_monotonic_ns() >= end_ns)
			break;
		cutover_read_once(c, read);
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	for (size_t i = 0; i < nr; i++)
		if (c->devices[i].nr)
			c->devices[kept++] = c->devices[i];
	c->nr = kept;
	return 0;
}

void cutover_release(struct cutover *c)
{
	free(c->devices);
	*c = (struct cutover){ 0 };
}

static struct cutover_device *cutover_device_of(const struct cutover *c, uint32_t device)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->devices[i].device == device)
			return &c->devices[i];
	return NULL;
}

void cutover_choose(struct cutover *c, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct cutover_device *d = cutover_device_of(c, r[i].device);

		for (size_t k = 0; d && k < d->nr; k++)
			d->readings[k].near +=
				r[i].completion_ns + CUTOVER_GUARD_NS >= d->readings[k].before_ns &&
				r[i].completion_ns <= d->readings[k].after_ns;
	}
	for (size_t i = 0; i < c->nr; i++) {
		struct cutover_device *d = &c->devices[i];

		for (size_t k = 1; k < d->nr; k++)
			if (d->readings[k].near < d->readings[d->best].near)
				d->best = k;
	}
}

bool cutover_counts(const struct cutover *c, const struct request *r)
{
	const struct cutover_device *d = cutover_device_of(c, r->device);
	const struct cutover_reading *at;

	if (!d)
		return true;
	at = &d->readings[d->best];
	return r->completion_ns >= at->before_ns + (at->after_ns - at->before_ns) / 2;
}

uint64_t cutover_bases(const struct cutover *c, struct account_base *bases)
{
	uint64_t uncertain = 0;

	for (size_t i = 0; i < c->nr; i++) {
		const struct cutover_reading *at = &c->devices[i].readings[c->devices[i].best];

		bases[i] = (struct account_base){ c->devices[i].device, at->completed };
		uncertain += at->near;
	}
	return uncertain;
}
