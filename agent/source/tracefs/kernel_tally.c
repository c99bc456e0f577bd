/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "agent/source/tracefs/kernel_tally.h"

void kernel_tally_begin(struct kernel_tally *t, const uint32_t *devices, size_t nr,
			kernel_tally_read read)
{
	*t = (struct kernel_tally){ .read = read };
	for (size_t i = 0; i < nr && i < KERNEL_TALLY_DEVICES; i++) {
		struct kernel_tally_device *d = &t->devices[t->nr++];

		d->device = devices[i];
		d->is_known = !read(d->device, &d->base);
	}
}

static struct kernel_tally_device *device_of(struct kernel_tally *t, uint32_t device)
{
	if (t->last < t->nr && t->devices[t->last].device == device)
		return &t->devices[t->last];
	for (size_t i = 0; i < t->nr; i++)
		if (t->devices[i].device == device) {
			t->last = i;
			return &t->devices[i];
		}
	return NULL;
}

bool kernel_tally_covers(const struct kernel_tally *t, uint32_t device)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->devices[i].device == device)
			return t->devices[i].is_known;
	return false;
}

void kernel_tally_seen(struct kernel_tally *t, const struct request *r)
{
	struct kernel_tally_device *d = device_of(t, r->device);

	/* The kernel's disk statistics do not count passthrough commands. */
	if (!d || r->flags & REQUEST_PASSTHROUGH)
		return;
	d->seen++;
	d->later += t->sample_ns && r->completion_ns > t->sample_ns;
}

void kernel_tally_sample(struct kernel_tally *t, uint64_t now_ns)
{
	if (t->sample_ns)
		return;
	t->sample_ns = now_ns;
	for (size_t i = 0; i < t->nr; i++) {
		struct kernel_tally_device *d = &t->devices[i];

		d->later = 0;
		if (d->is_known)
			d->is_known = !t->read(d->device, &d->sample);
	}
}

bool kernel_tally_settle(struct kernel_tally *t, uint64_t seen_ns,
			 void (*each)(void *ctx, uint32_t device, uint64_t missing), void *ctx)
{
	if (!t->sample_ns || seen_ns < t->sample_ns)
		return false;
	t->sample_ns = 0;
	for (size_t i = 0; i < t->nr; i++) {
		struct kernel_tally_device *d = &t->devices[i];
		uint64_t accounted = d->seen - d->later + d->told;
		uint64_t completed = d->sample - d->base;

		if (d->is_known &&
		    /* The count fell, so another disk has this number now; counting begins anew. */
		    d->sample < d->base) {
			d->base = d->sample;
			d->seen = d->later;
			d->told = 0;
			continue;
		}
		if (!d->is_known || completed <= accounted)
			continue;
		d->told += completed - accounted;
		each(ctx, d->device, completed - accounted);
	}
	return true;
}
