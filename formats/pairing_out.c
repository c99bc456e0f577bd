/* SPDX-License-Identifier: Apache-2.0 */
/* pairing_out: hands requests over, with the times that were seen, and removes them. */
#include "formats/pairing_state.h"

static uint8_t operation_out(const struct held *h)
{
	if (h->operation == OPERATION_WRITE && !h->bytes && h->flags & REQUEST_PREFLUSH)
		return OPERATION_FLUSH;
	return h->operation;
}

static void set_times(struct request *r, const struct held *h, uint64_t end_ns)
{
	bool has_arrival = h->begun_by != BLOCK_ISSUE && h->begun_by != BLOCK_COMPLETE;

	r->completion_ns = end_ns;
	r->arrival_ns = h->arrival_ns < end_ns ? h->arrival_ns : end_ns;
	r->dispatch_ns = h->dispatch_ns;
	if (!has_arrival || h->arrival_ns > end_ns)
		r->flags |= REQUEST_NO_ARRIVAL;
	if (!h->has_dispatch || h->dispatch_ns < r->arrival_ns || h->dispatch_ns > end_ns) {
		r->dispatch_ns = r->arrival_ns;
		r->flags |= REQUEST_NO_DISPATCH;
	}
}

/*
 * Sets the times of a request whose completion was not seen. A dispatch after a known arrival is
 * kept, because the queue time is known then.
 */
static void set_times_without_end(struct request *r, const struct held *h)
{
	bool has_queue =
		h->begun_by != BLOCK_ISSUE && h->has_dispatch && h->dispatch_ns >= h->arrival_ns;

	r->arrival_ns = h->arrival_ns;
	r->dispatch_ns = r->completion_ns = has_queue ? h->dispatch_ns : h->arrival_ns;
	r->flags |= REQUEST_NO_COMPLETION | (has_queue ? 0 : REQUEST_NO_DISPATCH);
}

static void pairing_emit(struct pairing *p, const struct held *h, uint64_t end_ns, bool has_end)
{
	struct request r = {
		.sector = h->bytes ? h->sector : 0,
		.bytes = h->bytes,
		.device = h->device,
		.tid = h->tid,
		.pid = h->tid && !h->pid ? h->tid : h->pid,
		.flags = h->flags | REQUEST_NO_CGROUP | (h->tid ? 0 : REQUEST_NO_ISSUER),
		.error = h->error,
		.requeues = h->requeues,
		.operation = operation_out(h),
		.source = p->source,
		.layer = p->layer,
	};

	if (has_end) {
		set_times(&r, h, end_ns);
	} else {
		set_times_without_end(&r, h);
	}
	p->counts.requests++;
	if (p->sink.request)
		p->sink.request(p->sink.ctx, &r, h->begun_by);
}

bool pairing_take_out(struct pairing *p, uint32_t i)
{
	bool was_told = p->table.held[i].is_told;

	p->nr_told -= was_told;
	held_table_remove(&p->table, i);
	return was_told;
}

void pairing_finish(struct pairing *p, uint32_t i, uint64_t end_ns)
{
	struct held h = p->table.held[i];

	if (pairing_take_out(p, i))
		p->counts.late_ends++;
	else
		pairing_emit(p, &h, end_ns, true);
}

void pairing_tell(struct pairing *p, uint32_t i)
{
	struct held *h = &p->table.held[i];

	p->counts.no_end++;
	pairing_emit(p, h, 0, false);
	h->is_told = true;
	p->nr_told++;
}

void pairing_give_up(struct pairing *p, uint32_t i)
{
	struct held h = p->table.held[i];

	if (pairing_take_out(p, i))
		return;
	if (h.state == HELD_CLOSING) {
		p->counts.unclosed++;
		pairing_emit(p, &h, h.completion_ns, true);
	} else {
		p->counts.no_end++;
		pairing_emit(p, &h, 0, false);
	}
}
