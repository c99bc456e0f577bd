/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/durability.h"

void durability_clear(struct durability *d)
{
	d->forced = d->flushing = d->awaited = 0;
}

void durability_forget(struct durability *d)
{
	for (size_t i = 0; i < DURABILITY_SLOTS; i++)
		d->slots[i].pending = false;
}

static bool durability_follows(const struct durability_slot *flush, uint32_t tid, uint64_t at_ns)
{
	return flush->pending && flush->tid == tid && at_ns >= flush->end_ns;
}

static void durability_add_write(struct durability *d, struct durability_slot *s,
				 const struct request *r)
{
	d->forced += (r->flags & REQUEST_FUA) != 0;
	d->flushing += (r->flags & REQUEST_PREFLUSH) != 0;
	d->awaited += durability_follows(s, r->tid, r->arrival_ns);
	s->pending = false;
}

static void durability_add_flush(struct durability_slot *s, const struct request *r)
{
	s->pending = !(r->flags & (REQUEST_NO_COMPLETION | REQUEST_NO_ARRIVAL));
	s->tid = r->tid;
	s->end_ns = r->completion_ns;
}

void durability_add_many(struct durability *d, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct durability_slot *s = &d->slots[r[i].tid & (DURABILITY_SLOTS - 1)];

		if (r[i].operation == OPERATION_WRITE)
			durability_add_write(d, s, &r[i]);
		else if (r[i].operation == OPERATION_FLUSH)
			durability_add_flush(s, &r[i]);
	}
}
