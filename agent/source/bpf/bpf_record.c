/* SPDX-License-Identifier: Apache-2.0 */

#include "agent/source/bpf/bpf_record.h"
#include "base/system/clock.h"

static uint32_t request_flags_of(const struct kernel_btf *k, const struct event_request *e)
{
	uint8_t op = k->operation_flags[e->cmd_flags & 0xff];
	uint32_t flags = 0;

	flags |= e->cmd_flags & k->sync ? REQUEST_SYNC : 0;
	flags |= e->cmd_flags & k->meta ? REQUEST_META : 0;
	flags |= e->cmd_flags & k->readahead ? REQUEST_READAHEAD : 0;
	flags |= e->cmd_flags & k->fua ? REQUEST_FUA : 0;
	flags |= e->cmd_flags & k->preflush ? REQUEST_PREFLUSH : 0;
	flags |= op & KERNEL_PASSTHROUGH ? REQUEST_PASSTHROUGH : 0;
	flags |= op & KERNEL_ZONE_APPEND ? REQUEST_ZONE_APPEND : 0;
	flags |= e->flags & EVENT_KERNEL_THREAD ? REQUEST_KERNEL_THREAD : 0;
	flags |= e->tid ? 0 : REQUEST_NO_ISSUER;
	flags |= e->cgroup_id ? 0 : REQUEST_NO_CGROUP;
	return flags;
}

static uint8_t operation_of(const struct kernel_btf *k, const struct event_request *e)
{
	uint8_t operation = k->operation[e->cmd_flags & 0xff];

	/*
	 * An fsync that has no data left to write arrives as a write without data that asks for a
	 * flush before it.
	 */
	if (operation == OPERATION_WRITE && !e->bytes && (e->cmd_flags & k->preflush))
		return OPERATION_FLUSH;
	return operation;
}

/* A time that is unknown or impossible is replaced by the next later time that is known. */
static void set_times(struct request *r, const struct event_request *e)
{
	uint64_t end_ns = e->completion_ns;
	bool has_arrival = e->arrival_ns && e->arrival_ns <= end_ns;
	bool has_dispatch = e->dispatch_ns && e->dispatch_ns <= end_ns &&
			    !(has_arrival && e->dispatch_ns < e->arrival_ns);

	r->completion_ns = end_ns;
	r->arrival_ns = has_arrival ? e->arrival_ns : has_dispatch ? e->dispatch_ns : end_ns;
	r->dispatch_ns = has_dispatch ? e->dispatch_ns : r->arrival_ns;
	r->flags |= has_arrival ? 0 : REQUEST_NO_ARRIVAL;
	r->flags |= has_dispatch ? 0 : REQUEST_NO_DISPATCH;
}

/*
 * It is known that the request existed but not when it ended, so the present moment is used for all
 * its times.
 */
static void set_unfinished(struct request *r, const struct event_request *e)
{
	r->arrival_ns = r->dispatch_ns = r->completion_ns = clock_monotonic_ns();
	r->flags |= REQUEST_NO_COMPLETION | REQUEST_NO_DISPATCH;
	r->flags |= e->arrival_ns ? 0 : REQUEST_NO_ARRIVAL;
}

void bpf_record_request(struct request *r, const struct event_request *e,
			const struct kernel_btf *k, uint8_t layer)
{
	*r = (struct request){
		/* A passthrough command has no sector; the kernel gives it the sector ~0. */
		.sector = e->bytes && e->sector != UINT64_MAX ? e->sector : 0,
		.cgroup_id = e->cgroup_id,
		.bytes = e->bytes,
		.device = e->device,
		.tid = e->tid,
		.pid = e->pid,
		.flags = request_flags_of(k, e),
		.error = kernel_block_errno(e->error),
		.requeues = e->requeues,
		.operation = operation_of(k, e),
		.source = SOURCE_BPF,
		.layer = layer,
	};
	if (e->flags & EVENT_NO_COMPLETION)
		set_unfinished(r, e);
	else
		set_times(r, e);
}
