/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "agent/bpf_record.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

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
	flags |= e->dispatch_ns ? 0 : REQUEST_NO_DISPATCH;
	flags |= e->arrival_ns || e->dispatch_ns ? 0 : REQUEST_NO_ARRIVAL;
	return flags;
}

static uint8_t operation_of(const struct kernel_btf *k, const struct event_request *e)
{
	uint8_t operation = k->operation[e->cmd_flags & 0xff];

	/* An fsync with nothing left to write: a write without data, with a flush before it. */
	if (operation == OPERATION_WRITE && !e->bytes && (e->cmd_flags & k->preflush))
		return OPERATION_FLUSH;
	return operation;
}

void bpf_record_request(struct request *r, const struct event_request *e,
			const struct kernel_btf *k, uint8_t layer)
{
	*r = (struct request){
		.completion_ns = e->completion_ns,
		.sector = e->bytes ? e->sector : 0,
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
	if (e->flags & EVENT_NO_COMPLETION) {
		/* Only that it was, not when it ended: it counts from now. */
		r->completion_ns = now_ns();
		r->flags |= REQUEST_NO_COMPLETION | REQUEST_NO_DISPATCH;
		r->arrival_ns = r->dispatch_ns = r->completion_ns;
		return;
	}
	r->arrival_ns = e->arrival_ns ? e->arrival_ns : e->dispatch_ns;
	if (!r->arrival_ns || r->arrival_ns > r->completion_ns) {
		r->arrival_ns = r->completion_ns;
		r->flags |= REQUEST_NO_ARRIVAL;
	}
	r->dispatch_ns = e->dispatch_ns;
	if (r->dispatch_ns < r->arrival_ns || r->dispatch_ns > r->completion_ns) {
		r->dispatch_ns = r->arrival_ns;
		r->flags |= REQUEST_NO_DISPATCH;
	}
}
