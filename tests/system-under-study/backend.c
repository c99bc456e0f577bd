// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/system-under-study/backend.h"

void backend_init(struct backend *b, const struct sus_params *p)
{
	*b = (struct backend){ .p = p, .free = BACKEND_NONE };
	for (unsigned i = 0; i < SUS_DISKS; i++) {
		b->disks[i] = (struct backend_disk){ .first = BACKEND_NONE,
						     .last = BACKEND_NONE,
						     .now = BACKEND_NONE };
		disk_init(&b->disks[i].disk, &p->disk);
	}
}

void backend_release(struct backend *b)
{
	free(b->commands);
	b->commands = NULL;
}

static uint32_t new_command(struct backend *b)
{
	uint32_t c = b->free;

	if (c != BACKEND_NONE) {
		b->free = b->commands[c].next;
		return c;
	}
	if (!(b->nr & (b->nr - 1)) || !b->nr) {
		uint32_t room = b->nr ? 2 * b->nr : 1;
		struct backend_command *more = reallocarray(b->commands, room, sizeof(*more));

		if (!more)
			return BACKEND_NONE;
		b->commands = more;
	}
	return b->nr++;
}

int backend_add(struct backend *b, unsigned disk, uint64_t offset, uint64_t bytes, bool write,
		uint32_t owner)
{
	struct backend_disk *d = &b->disks[disk];
	uint32_t c = new_command(b);

	if (c == BACKEND_NONE)
		return -ENOMEM;
	b->commands[c] =
		(struct backend_command){ .at = disk_locate(&d->disk, offset, bytes, write),
					  .bytes = (double)bytes,
					  .owner = owner,
					  .next = BACKEND_NONE };
	if (d->last == BACKEND_NONE)
		d->first = c;
	else
		b->commands[d->last].next = c;
	d->last = c;
	d->nr_waiting++;
	return 0;
}

/* The command before the best in the disk's queue, BACKEND_NONE where that is the first. */
static uint32_t before_best(struct backend *b, struct backend_disk *d, double now)
{
	uint32_t before = BACKEND_NONE, best = BACKEND_NONE, c = d->first;
	double least = INFINITY;

	for (unsigned i = 0; i < b->p->disk.window && c != BACKEND_NONE; i++) {
		struct backend_command *k = &b->commands[c];
		double time = k->passed >= b->p->disk.patience
				      ? -1
				      : disk_positioning(&d->disk, &k->at, now);

		k->passed++;
		if (time < least) {
			least = time;
			best = before;
		}
		before = c;
		c = k->next;
	}
	return best;
}

bool backend_begin(struct backend *b, unsigned disk, double now, double *done)
{
	struct backend_disk *d = &b->disks[disk];
	uint32_t before, c;
	double time;

	if (d->now != BACKEND_NONE || d->first == BACKEND_NONE)
		return false;
	now += b->p->disk.command_s;
	before = before_best(b, d, now);
	c = before == BACKEND_NONE ? d->first : b->commands[before].next;
	if (before == BACKEND_NONE)
		d->first = b->commands[c].next;
	else
		b->commands[before].next = b->commands[c].next;
	if (d->last == c)
		d->last = before;
	d->nr_waiting--;
	d->now = c;
	time = disk_positioning(&d->disk, &b->commands[c].at, now) +
	       disk_transfer(&d->disk, &b->commands[c].at);
	disk_move(&d->disk, &b->commands[c].at);
	d->busy_s += b->p->disk.command_s + time;
	*done = now + time;
	return true;
}

double backend_end(struct backend *b, unsigned disk, double now, uint32_t *owner)
{
	struct backend_disk *d = &b->disks[disk];
	struct backend_command *c = &b->commands[d->now];
	unsigned loop = 0;

	for (unsigned i = 1; i < b->p->loops; i++)
		if (b->loop_free[i] < b->loop_free[loop])
			loop = i;
	if (b->loop_free[loop] < now)
		b->loop_free[loop] = now;
	b->loop_free[loop] += c->bytes / b->p->loop_bytes_per_s;
	*owner = c->owner;
	c->next = b->free;
	b->free = d->now;
	d->now = BACKEND_NONE;
	return b->loop_free[loop];
}
