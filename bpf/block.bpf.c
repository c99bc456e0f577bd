// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * block.bpf.c: the life of a request, --layer device.
 *
 *	start     the request is made from a bio while its submitter is running    (arrival)
 *	insert    it enters a scheduler or a software queue; used for requests whose
 *		  start was not seen
 *	issue     it is handed to the driver                                       (dispatch)
 *	requeue   the driver hands it back
 *	merge     another request absorbs it
 *	complete  the driver reports that a part of it, or all of it, has ended    (completion)
 *
 * One record leaves for each request, at its last completion. Most of the cost is reading the clock
 * and entering a program, so the times that the kernel itself notes are used where they are exact:
 *
 *	arrival   is the request's start time. Where the request was made under a plug that
 *		  had cached an earlier time, the clock is read instead.
 *	dispatch  is the request's first issue time, where the kernel noted one after the
 *		  arrival. A requeue saves it before the next dispatch overwrites it. Where
 *		  the kernel noted none (requests held back in a plug, queues without
 *		  statistics or without iostats), only the issue program can report it.
 *		  complete then sets wanted_ns, and the agent attaches issue for as long as
 *		  that goes on.
 *
 * A dispatch time that was not noted is marked as unknown and is never guessed.
 */
#include "bpf/calibrate.bpf.h"
#include "bpf/compat.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/inflight.bpf.h"
#include "bpf/submitter.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Time at which the programs were attached. A request that started before has no line in the table.
 */
__u64 attached_ns;

static __always_inline struct inflight *request_begins(struct request *rq, u32 device)
{
	u64 key = inflight_key(rq);
	struct inflight *at = inflight_place(key);

	if (at->key == key)
		/* The line is still that of the earlier request. */
		unseen_emit(at, rq->start_time_ns);
	inflight_begin(at, key);
	at->device = device;
	at->sector = rq->__sector;
	at->bytes = rq->__data_len;
	/* A flush sequence removes flags from the request, so they are kept here. */
	at->cmd_flags = rq->cmd_flags;
	return at;
}

/* Set where requests turn out to carry no times of their own, because iostats are off. */
__u32 read_clock_at_start;

SEC("tp_btf/block_io_start")
int block_io_start(u64 *ctx)
{
	struct request *rq = (struct request *)ctx[0];
	u32 device = disk_device(request_disk(rq));
	struct inflight *at;

	if (shedding || !device_wanted(device))
		return 0;
	at = request_begins(rq, device);
	at->arrival_ns = read_clock_at_start || time_is_cached() ? bpf_ktime_get_ns() : 0;
	submitter_note(at);
	return 0;
}

/*
 * Returns whether this is the flush that the kernel itself makes for the requests that asked for
 * one.
 */
static __always_inline bool is_kernels_flush(const struct request *rq)
{
	return request_in_flush_sequence(rq) && (rq->cmd_flags & REQ_OP_MASK) == REQ_OP_FLUSH;
}

/*
 * Announces a request for which no start was seen: iostats are off, or it is a passthrough command.
 * A worker thread runs queues for other threads; where a worker is running, the submitter is
 * unknown.
 */
static __always_inline struct inflight *announce_late(struct request *rq)
{
	u32 device = disk_device(request_disk(rq));
	struct inflight *at;

	if (shedding || !device_wanted(device) || is_kernels_flush(rq))
		return NULL;
	at = request_begins(rq, device);
	at->cmd_flags |= bio_flush_flag(rq);
	at->arrival_ns = request_keeps_times(rq) && !time_is_cached() ? rq->start_time_ns
								      : bpf_ktime_get_ns();
	at->pid_tgid = 0;
	if (!is_kernel_thread())
		submitter_note(at);
	return at;
}

/*
 * Returns whether a line belongs to this request, and not to an earlier one at the same address
 * whose end was not seen. The sector where it began lies within the request, which may have grown
 * by merges.
 */
static __always_inline bool same_life(const struct inflight *at, const struct request *rq)
{
	return line_is_of(at, rq->__sector, rq->__data_len, rq->cmd_flags, REQ_OP_MASK);
}

/*
 * Returns the line of a request. Returns NULL also where the line belongs to an earlier request;
 * the program that sees the new one begin records that.
 */
static __always_inline struct inflight *line_of(const struct request *rq)
{
	struct inflight *at = inflight_find(inflight_key(rq));

	return at && !same_life(at, rq) ? NULL : at;
}

SEC("tp_btf/block_rq_insert")
int block_rq_insert(u64 *ctx)
{
	struct request *rq = request_arg(ctx);

	if (!line_of(rq))
		announce_late(rq);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int block_rq_issue(u64 *ctx)
{
	struct request *rq = request_arg(ctx);
	struct inflight *at = line_of(rq);

	if (!at)
		at = announce_late(rq);
	if (at && !at->dispatch_ns)
		at->dispatch_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Returns the kernel's own note of the dispatch, if it belongs to this request and was not taken
 * from a cached time.
 */
static __always_inline u64 noted_dispatch(const struct request *rq, u64 arrival_ns)
{
	u64 noted_ns = rq->io_start_time_ns;

	return noted_ns >= arrival_ns ? noted_ns : 0;
}

/*
 * The next dispatch overwrites the kernel's note of the first dispatch, which is the one that
 * counts.
 */
SEC("tp_btf/block_rq_requeue")
int block_rq_requeue(u64 *ctx)
{
	struct request *rq = request_arg(ctx);
	struct inflight *at = inflight_find(inflight_key(rq));
	u64 arrival_ns;

	if (!at)
		return 0;
	if (at->requeues != 0xffff)
		at->requeues++;
	if (at->dispatch_ns || !rq->io_start_time_ns)
		return 0;
	arrival_ns = at->arrival_ns;
	if (!arrival_ns && request_keeps_times(rq))
		arrival_ns = rq->start_time_ns;
	at->dispatch_ns = noted_dispatch(rq, arrival_ns);
	if (!at->dispatch_ns)
		at->dispatch_ns = DISPATCH_TIMELESS;
	return 0;
}

SEC("tp_btf/block_rq_merge")
int block_rq_merge(u64 *ctx)
{
	struct inflight *at = inflight_find(inflight_key(request_arg(ctx)));

	if (at)
		at->key = 0;
	return 0;
}

/*
 * Handles a part of the request that ended while more parts are to come. The values that the
 * completion is about to consume are kept in the line.
 */
static __always_inline int part_ended(struct request *rq, u32 nr_bytes)
{
	struct inflight *at = inflight_find(inflight_key(rq));

	if (!at)
		return 0;
	if (!at->has_parts) {
		at->has_parts = 1;
		at->sector = rq->__sector;
	}
	at->ended_bytes += nr_bytes;
	return 0;
}

/* Fills in the values that the line holds. The line is free again afterwards. */
static __always_inline void event_finish(struct event_request *event, struct inflight *at,
					 const struct request *rq)
{
	u64 arrival_ns = at->arrival_ns, dispatch_ns = at->dispatch_ns;

	event->flags = at->flags;
	/*
	 * The operation comes from the request itself, so two requests that took one line at the
	 * same instant mix only their issuers.
	 */
	event->cmd_flags = (event->cmd_flags & REQ_OP_MASK) | (at->cmd_flags & ~REQ_OP_MASK);
	event->requeues = at->requeues;
	event->tid = (u32)at->pid_tgid;
	event->pid = at->pid_tgid >> 32;
	if (at->has_parts) {
		event->bytes = line_bytes(at, event->bytes);
		event->sector = at->sector;
	}
	at->key = 0;
	if (!arrival_ns && request_keeps_times(rq))
		arrival_ns = rq->start_time_ns;
	if (!arrival_ns)
		read_clock_at_start = 1;
	if (!dispatch_ns)
		dispatch_ns = noted_dispatch(rq, arrival_ns);
	else if (dispatch_ns == DISPATCH_TIMELESS)
		dispatch_ns = 0;
	event->arrival_ns = arrival_ns;
	event->dispatch_ns = dispatch_ns;
}

static __always_inline void event_finish_unannounced(struct event_request *event,
						     const struct request *rq)
{
	event->flags = EVENT_NO_SUBMISSION;
	event->cmd_flags |= bio_flush_flag(rq);
	event->requeues = 0;
	event->tid = 0;
	event->pid = 0;
	event->arrival_ns = request_keeps_times(rq) ? rq->start_time_ns : 0;
	event->dispatch_ns = 0;
}

/* Returns whether only the issue program could have reported more of this request. */
static __always_inline bool issue_wanted(const struct event_request *event, bool plugged)
{
	if (is_empty_flush(event->cmd_flags, event->bytes))
		return false; /* the request was never dispatched itself */
	if (event->flags & EVENT_NO_SUBMISSION)
		return !event->arrival_ns || event->arrival_ns > attached_ns;
	return plugged || !event->dispatch_ns;
}

/*
 * Returns the line of a request that ends, or NULL. *is_told is set where the agent has already
 * recorded it. Where the line belongs to an earlier request, the end of that request was not seen,
 * and it is recorded as unseen.
 */
static __always_inline struct inflight *line_at_end(const struct request *rq, bool *is_told)
{
	struct inflight *at = inflight_find(inflight_key(rq));

	*is_told = false;
	if (!at)
		return NULL;
	if (same_life(at, rq)) {
		*is_told = was_told(at);
		return at;
	}
	if (line_lost_data_end(at, rq->__sector, rq->__data_len, rq->cmd_flags, REQ_OP_MASK)) {
		at->has_parts = 1;
		*is_told = was_told(at);
		return at;
	}
	if (!was_told(at) && !shedding)
		unseen_emit(at, 0);
	at->key = 0;
	return NULL;
}

static __always_inline int complete(u64 *ctx, bool again)
{
	struct request *rq = (struct request *)ctx[0];
	u32 nr_bytes = (u32)ctx[2], cmd_flags = rq->cmd_flags, cpu;
	u32 device = disk_device(request_disk(rq));
	struct event_request *event;
	struct cgroup *cgroup;
	struct inflight *at;
	bool plugged, is_told;
	void *ring;

	if (!device_wanted(device))
		return 0;
	if (again && (nr_bytes < rq->__data_len || !inflight_find(inflight_key(rq))))
		return 0; /* The first program has seen this end. */
	if (is_kernels_flush(rq))
		return 0;
	if (request_in_flush_sequence(rq) || nr_bytes < rq->__data_len)
		return part_ended(rq, nr_bytes);

	at = line_at_end(rq, &is_told);
	if (at && is_told) {
		at->key = 0;
		return 0;
	}
	if (shedding) {
		if (at)
			at->key = 0;
		/* The kernel's own count shows the ends that the first program missed. */
		if (!again)
			__sync_fetch_and_add(&counters_of(bpf_get_smp_processor_id())->shed, 1);
		return 0;
	}
	cgroup = rq->bio ? bio_cgroup(rq->bio) : NULL;
	cpu = bpf_get_smp_processor_id();
	ring = ring_of(cpu);
	event = cgroup_wanted(cgroup) ? request_reserve(ring, cpu) : NULL;
	if (!event) {
		if (at)
			at->key = 0;
		return 0;
	}
	event->kind = EVENT_REQUEST;
	event->cmd_flags = cmd_flags;
	event->device = device;
	event->error = (s32)ctx[1];
	event->bytes = nr_bytes;
	event->sector = rq->__sector;
	event->cgroup_id = cgroup ? cgroup->kn->id : 0;
	event->completion_ns = bpf_ktime_get_ns();
	plugged = at && at->arrival_ns;
	if (at)
		event_finish(event, at, rq);
	else
		event_finish_unannounced(event, rq);
	if (issue_wanted(event, plugged))
		counters_of(cpu)->wanted_ns = event->completion_ns;
	request_submit(event, ring, cpu);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int block_rq_complete(u64 *ctx)
{
	return complete(ctx, false);
}

/*
 * The kernel does not let a program interrupt itself: a completion in an interrupt that arrives
 * while the CPU runs block_rq_complete is skipped, and only the kernel counts it. This second
 * program runs for those completions as well; a request that still has its line was skipped. It is
 * attached once the kernel has skipped a completion.
 */
SEC("tp_btf/block_rq_complete")
int block_rq_complete_again(u64 *ctx)
{
	return complete(ctx, true);
}
