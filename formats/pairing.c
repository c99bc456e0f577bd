/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/memory/u64map.h"
#include "formats/pairing_state.h"

/* ---- the beginning ---- */

static uint32_t pairing_begin(struct pairing *p, const struct block_event *e)
{
	struct held_table *t = &p->table;
	struct held *h;
	uint32_t i;

	if (t->free == HELD_NONE) {
		p->counts.evicted +=
			t->held[t->oldest].state != HELD_CLOSING && !t->held[t->oldest].is_told;
		pairing_give_up(p, t->oldest);
	}
	i = held_table_add(t, e->device, e->sector, e->bytes);
	h = &t->held[i];
	h->arrival_ns = h->alive_ns = e->time_ns;
	h->flags = e->flags;
	h->operation = e->operation;
	h->begun_by = e->kind;
	if (e->kind != BLOCK_ISSUE && e->kind != BLOCK_COMPLETE) {
		h->tid = e->tid;
		h->pid = e->pid;
	}
	p->counts.begun++;
	return i;
}

static struct seen_device *device_of(struct pairing *p, uint32_t device)
{
	struct seen_device *more;

	uint32_t found;

	if (p->last_device < p->nr_devices && p->devices[p->last_device].device == device)
		return &p->devices[p->last_device];
	found = u64map_find(&p->by_number, device);
	if (found != U64MAP_NONE) {
		p->last_device = found;
		return &p->devices[found];
	}
	/* the array is full whenever the number is a power of two */
	if ((p->nr_devices & (p->nr_devices - 1)) == 0) {
		size_t cap = p->nr_devices ? 2 * p->nr_devices : 1;

		more = realloc(p->devices, cap * sizeof(*more));
		if (!more)
			return NULL;
		p->devices = more;
	}
	if (u64map_put(&p->by_number, device, (uint32_t)p->nr_devices) < 0)
		return NULL;
	p->last_device = p->nr_devices++;
	p->devices[p->last_device] = (struct seen_device){ .device = device };
	return &p->devices[p->last_device];
}

/*
 * A scheduler or software queue takes a request in. This begins a request only if its making was
 * not seen.
 */
static void on_insert(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	if (e->operation != OPERATION_FLUSH &&
	    held_table_begins(&p->table, e, e->sector, HELD_MADE, gap_ns) == HELD_NONE)
		pairing_begin(p, e);
}

/* ---- merges ---- */

/*
 * Returns whether the request may grow by this many bytes. No kernel makes a larger request, so an
 * event that would make it larger is damaged or belongs to another request.
 */
static bool can_grow(const struct held *h, uint32_t bytes)
{
	bool is_data = h->operation <= OPERATION_WRITE || h->flags & REQUEST_NO_OPERATION;

	return (uint64_t)h->bytes + bytes <= (is_data ? REQUEST_MAX_DATA_BYTES : REQUEST_MAX_BYTES);
}

static void pairing_grow(struct pairing *p, uint32_t i, uint64_t at, uint32_t bytes)
{
	struct held *h = &p->table.held[i];

	h->bytes += bytes;
	if (h->at == h->sector)
		h->sector = at;
	held_table_change(&p->table, i, h->state, at, h->left + bytes);
}

/*
 * Another request has absorbed this one. The absorbing request began when the older of the two
 * began.
 */
static void pairing_absorb(struct pairing *p, uint32_t into, uint32_t taken)
{
	struct held *held = p->table.held;

	if (into != HELD_NONE && held[taken].arrival_ns < held[into].arrival_ns)
		held[into].arrival_ns = held[taken].arrival_ns;
	if (!pairing_take_out(p, taken))
		p->counts.absorbed++;
}

/*
 * If a waiting request has exactly this offset and length, that request was merged; otherwise a bio
 * was,
 * which is no request yet.
 */
static void on_backmerge(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	struct held *held = p->table.held;
	uint32_t taken = held_table_begins(&p->table, e, e->sector, HELD_MADE, gap_ns), into;

	if (taken != HELD_NONE && held[taken].left != e->bytes)
		taken = HELD_NONE;
	into = held_table_ends(&p->table, e, HELD_MADE, taken);
	if ((taken == HELD_NONE && (into == HELD_NONE || e->kind == BLOCK_RQ_MERGE)) ||
	    (into != HELD_NONE && !can_grow(&held[into], e->bytes))) {
		p->counts.unmatched++;
		return;
	}
	if (into != HELD_NONE)
		pairing_grow(p, into, held[into].at, e->bytes);
	if (taken != HELD_NONE)
		pairing_absorb(p, into, taken);
	else
		p->counts.grown++;
}

static void on_frontmerge(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	uint64_t end = e->sector + e->bytes / SECTOR_BYTES;
	uint32_t i = held_table_begins(&p->table, e, end, HELD_MADE, gap_ns);

	if (i == HELD_NONE || !can_grow(&p->table.held[i], e->bytes)) {
		p->counts.unmatched++;
		return;
	}
	pairing_grow(p, i, e->sector, e->bytes);
	p->counts.grown++;
}

/*
 * Sets the length that the dispatch reports. If it is longer than the parts seen so far, the rest
 * came from
 * waiting requests that begin where this one ended: kernels before 5.9 report no event for such a
 * merge.
 */
static void set_length(struct pairing *p, uint32_t i, const struct block_event *e, uint64_t gap_ns)
{
	struct held *h = &p->table.held[i];

	while (h->left && h->left < e->bytes) {
		uint32_t taken = held_table_begins(&p->table, e, h->at + h->left / SECTOR_BYTES,
						   HELD_MADE, gap_ns);
		uint32_t nr = taken == HELD_NONE ? 0 : p->table.held[taken].left;

		if (!nr || taken == i || nr > e->bytes - h->left || !can_grow(h, nr))
			break;
		pairing_grow(p, i, h->at, nr);
		pairing_absorb(p, i, taken);
	}
	if (e->bytes > h->left && !can_grow(h, e->bytes - h->left)) {
		p->counts.unmatched++;
		held_table_change(&p->table, i, HELD_ISSUED, h->at, h->left);
		return;
	}
	h->bytes += e->bytes - h->left;
	held_table_change(&p->table, i, HELD_ISSUED, h->at, e->bytes);
}

/* ---- at the driver ---- */

/*
 * Returns whether the block layer reports a second end of the write, after the flush before or
 * after its data.
 */
static bool is_in_flush(const struct held *h, const struct block_event *e,
			const struct seen_device *d)
{
	if (h->operation != OPERATION_WRITE || !h->bytes || h->begun_by != BLOCK_GETRQ)
		return false;
	if (h->flags & REQUEST_PREFLUSH && d->last_flush_ns >= h->arrival_ns && d->last_flush_ns)
		return true;
	return h->flags & REQUEST_FUA && !(e->flags & REQUEST_FUA);
}

/*
 * Finds a dispatched request that its driver handed back without an event. The block layer makes a
 * request
 * before each first dispatch, so a request that was seen to be made and is dispatched again is the
 * same one.
 */
static uint32_t find_reissued(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	uint32_t i = held_table_begins(&p->table, e, e->sector, HELD_ISSUED, gap_ns);
	const struct held *h = i == HELD_NONE ? NULL : &p->table.held[i];

	if (!h || h->begun_by == BLOCK_ISSUE || h->is_told || h->alive_ns <= gap_ns ||
	    h->left != e->bytes)
		return HELD_NONE;
	return i;
}

static void on_issue(struct pairing *p, const struct block_event *e, struct seen_device *d)
{
	struct held *h;
	uint32_t i;

	if (e->operation == OPERATION_FLUSH) {
		p->counts.flush_issues++;
		d->last_flush_ns = e->time_ns;
		return;
	}
	i = held_table_begins(&p->table, e, e->sector, HELD_MADE, d->gap_ns);
	if (i == HELD_NONE)
		i = find_reissued(p, e, d->gap_ns);
	if (i == HELD_NONE)
		i = pairing_begin(p, e);
	h = &p->table.held[i];
	if (h->has_dispatch) {
		p->counts.reissues++;
	} else {
		p->counts.first_issues++;
		h->dispatch_ns = e->time_ns;
		h->has_dispatch = true;
	}
	h->is_in_flush |= is_in_flush(h, e, d);
	set_length(p, i, e, d->gap_ns);
}

static void on_requeue(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	uint32_t i = held_table_begins(&p->table, e, e->sector, HELD_ISSUED, gap_ns);
	struct held *h;

	if (i == HELD_NONE)
		i = held_table_begins(&p->table, e, e->sector, HELD_MADE, gap_ns);
	if (i == HELD_NONE) {
		p->counts.unmatched++;
		return;
	}
	h = &p->table.held[i];
	held_table_change(&p->table, i, HELD_MADE, h->at, h->left);
	h->alive_ns = e->time_ns;
	h->requeues += h->requeues != UINT16_MAX;
	p->counts.requeues++;
}

/* ---- the end ---- */

static void part_ended(struct pairing *p, uint32_t i, uint32_t bytes)
{
	struct held *h = &p->table.held[i];

	held_table_change(&p->table, i, h->state, h->at + bytes / SECTOR_BYTES, h->left - bytes);
	p->counts.parts++;
}

static void data_ended(struct pairing *p, uint32_t i, const struct block_event *e)
{
	struct held *h = &p->table.held[i];

	if (e->error)
		h->error = e->error;
	if (e->bytes < h->left) {
		part_ended(p, i, e->bytes);
	} else if (h->is_in_flush) {
		h->completion_ns = e->time_ns;
		held_table_change(&p->table, i, HELD_CLOSING, h->at, h->left);
		p->counts.parts++;
	} else {
		pairing_finish(p, i, e->time_ns);
	}
}

/*
 * Finds the request that a completion without bytes ends. A write of which all data have ended
 * comes first: kernels leave the sector of its second end at the begin of the data that ended last;
 * those that take it back from the bio (commit 6f8fd758de63, Linux 6.10) may leave it at their end.
 */
static uint32_t find_emptied(const struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	static const enum held_state without_data[] = { HELD_ISSUED, HELD_MADE };
	uint32_t i = held_table_begins(&p->table, e, e->sector, HELD_CLOSING, gap_ns);

	if (i == HELD_NONE)
		i = held_table_ends(&p->table, e, HELD_CLOSING, HELD_NONE);
	for (size_t k = 0; i == HELD_NONE && k < 2; k++) {
		i = held_table_begins(&p->table, e, e->sector, without_data[k], gap_ns);
		if (i != HELD_NONE && p->table.held[i].left)
			i = HELD_NONE;
	}
	return i;
}

/*
 * A completion without bytes is the second end of a write with a flush, or the end of a flush
 * alone.
 */
static void on_empty_complete(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	uint32_t i;

	if (e->operation == OPERATION_FLUSH) {
		p->counts.flush_ends++;
		return;
	}
	i = find_emptied(p, e, gap_ns);
	if (i == HELD_NONE) {
		p->counts.idle_ends++;
		return;
	}
	if (e->error)
		p->table.held[i].error = e->error;
	pairing_finish(p, i, e->time_ns);
}

static void on_complete(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	uint32_t i;

	if (!e->bytes) {
		on_empty_complete(p, e, gap_ns);
		return;
	}
	i = held_table_begins(&p->table, e, e->sector, HELD_ISSUED, gap_ns);
	if (i == HELD_NONE)
		i = held_table_begins(&p->table, e, e->sector, HELD_MADE, gap_ns);
	if (i == HELD_NONE) {
		i = pairing_begin(p, e);
		p->counts.no_start++;
	}
	data_ended(p, i, e);
}

/* One completion may end several merged bios, which lie one behind another. */
static void on_bio_complete(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	struct block_event part = *e;
	uint32_t i = held_table_begins(&p->table, e, e->sector, HELD_ISSUED, gap_ns);

	if (!e->bytes || i == HELD_NONE) {
		on_complete(p, e, gap_ns);
		return;
	}
	for (;;) {
		uint32_t left = p->table.held[i].left, nr = left < part.bytes ? left : part.bytes;
		struct block_event share = part;

		share.bytes = nr;
		data_ended(p, i, &share);
		part.sector += nr / SECTOR_BYTES;
		part.bytes -= nr;
		i = held_table_begins(&p->table, &part, part.sector, HELD_ISSUED, gap_ns);
		if (!part.bytes || !nr || i == HELD_NONE)
			return;
		p->counts.shared_ends++;
	}
}

/* ---- */

static void add_to_device_layer(struct pairing *p, const struct block_event *e,
				struct seen_device *d)
{
	switch (e->kind) {
	case BLOCK_GETRQ:
		pairing_begin(p, e);
		break;
	case BLOCK_INSERT:
		on_insert(p, e, d->gap_ns);
		break;
	case BLOCK_ISSUE:
		on_issue(p, e, d);
		break;
	case BLOCK_REQUEUE:
		on_requeue(p, e, d->gap_ns);
		break;
	case BLOCK_BACKMERGE:
	case BLOCK_RQ_MERGE:
		on_backmerge(p, e, d->gap_ns);
		break;
	case BLOCK_FRONTMERGE:
		on_frontmerge(p, e, d->gap_ns);
		break;
	case BLOCK_COMPLETE:
		on_complete(p, e, d->gap_ns);
		break;
	default:
		break;
	}
}

static void add_to_queue_layer(struct pairing *p, const struct block_event *e, uint64_t gap_ns)
{
	if (e->kind == BLOCK_QUEUE) {
		uint32_t i = pairing_begin(p, e);

		held_table_change(&p->table, i, HELD_ISSUED, e->sector, e->bytes);
	} else if (e->kind == BLOCK_COMPLETE) {
		on_bio_complete(p, e, gap_ns);
	}
}

int pairing_add(struct pairing *p, const struct block_event *e)
{
	struct seen_device *d = device_of(p, e->device);

	if (!d)
		return -ENOMEM;
	if (e->kind < NR_BLOCK_EVENTS)
		p->counts.events[e->kind]++;
	if (p->layer == LAYER_QUEUE)
		add_to_queue_layer(p, e, d->gap_ns);
	else
		add_to_device_layer(p, e, d);
	return 0;
}

void pairing_gap(struct pairing *p, uint32_t device, uint64_t time_ns)
{
	struct seen_device *d = device_of(p, device);

	if (d && time_ns > d->gap_ns)
		d->gap_ns = time_ns;
}

void pairing_settle(struct pairing *p, uint32_t device, uint64_t before_ns)
{
	bool is_last = before_ns == UINT64_MAX;
	uint32_t next;

	for (uint32_t i = p->table.oldest; i != HELD_NONE; i = next) {
		const struct held *h = &p->table.held[i];

		next = h->newer;
		if ((device && h->device != device) || (h->alive_ns >= before_ns && !is_last))
			continue;
		if (is_last || h->state == HELD_CLOSING ||
		    (h->is_told && before_ns - h->alive_ns > TOLD_KEEP_NS))
			pairing_give_up(p, i);
		else if (!h->is_told)
			pairing_tell(p, i);
	}
}

void pairing_tell_unclosed(struct pairing *p)
{
	for (uint32_t i = p->table.oldest; i != HELD_NONE; i = p->table.held[i].newer)
		if (p->table.held[i].state == HELD_CLOSING && !p->table.held[i].is_told)
			pairing_tell(p, i);
}

size_t pairing_held(const struct pairing *p, uint32_t device)
{
	size_t nr = 0;

	if (!device)
		return p->table.nr - p->nr_told;
	for (uint32_t i = p->table.oldest; i != HELD_NONE; i = p->table.held[i].newer)
		nr += p->table.held[i].device == device && !p->table.held[i].is_told;
	return nr;
}

size_t pairing_doubtful(const struct pairing *p, uint32_t device)
{
	uint64_t gap_ns = 0;
	size_t nr = 0;

	uint32_t found = u64map_find(&p->by_number, device);

	if (found != U64MAP_NONE)
		gap_ns = p->devices[found].gap_ns;
	for (uint32_t i = p->table.oldest; gap_ns && i != HELD_NONE; i = p->table.held[i].newer) {
		const struct held *h = &p->table.held[i];

		nr += h->device == device && !h->is_told && h->alive_ns <= gap_ns;
	}
	return nr;
}

void pairing_counts(const struct pairing *p, struct pairing_counts *out)
{
	*out = p->counts;
	out->held = pairing_held(p, 0);
}

int pairing_new(struct pairing **out, const struct pairing_config *config,
		const struct pairing_sink *sink)
{
	struct pairing *p;
	int ret;

	if (config->layer >= NR_LAYERS || config->source >= NR_SOURCES)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->sink = *sink;
	p->layer = config->layer;
	p->source = config->source;
	ret = held_table_init(&p->table, config->max_held ? config->max_held : PAIRING_MAX_HELD);
	if (ret) {
		free(p);
		return ret;
	}
	*out = p;
	return 0;
}

void pairing_free(struct pairing *p)
{
	if (!p)
		return;
	held_table_release(&p->table);
	u64map_release(&p->by_number);
	free(p->devices);
	free(p);
}
