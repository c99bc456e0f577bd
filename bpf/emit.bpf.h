/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * emit.bpf.h: writes records into the rings.
 *
 * Each CPU has its own ring, so CPUs never wait for each other. CPUs that come online later share
 * the existing rings. A single record does not wake the reader: the reader polls, and is woken once
 * a ring is a quarter full, which is checked every 64 records.
 */
#ifndef BPF_EMIT_BPF_H
#define BPF_EMIT_BPF_H

#include "bpf/event.h"
#include "bpf/kernel.h"

#include <bpf/bpf_helpers.h>

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* the loader sets the size */
};

/* The loader makes the rings and sets the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

const volatile __u32 nr_rings = 1;
const volatile __u32 wake_bytes = 1 << 18;

/*
 * The programs write these counters, and the agent reads them through its mapping of .bss. Each CPU
 * has one cache line.
 */
struct cpu_counters counters[COUNTERS_MAX_CPUS] __attribute__((aligned(64)));

/* Set by the agent: requests are not recorded, and those that end are counted. */
__u32 shedding;

static __always_inline struct cpu_counters *counters_of(u32 cpu)
{
	return &counters[cpu % COUNTERS_MAX_CPUS];
}

static __always_inline void *ring_of(u32 cpu)
{
	u32 i = cpu < nr_rings ? cpu : cpu % nr_rings;

	return bpf_map_lookup_elem(&rings, &i);
}

/*
 * Reserves room for a record in the CPU's ring. Returns NULL where there is none; the record is
 * then counted as lost.
 */
static __always_inline struct event_request *request_reserve(void *ring, u32 cpu)
{
	struct event_request *event = NULL;

	if (ring)
		event = bpf_ringbuf_reserve(ring, sizeof(*event), 0);
	if (!event)
		__sync_fetch_and_add(&counters_of(cpu)->lost, 1);
	return event;
}

static __always_inline void request_submit(struct event_request *event, void *ring, u32 cpu)
{
	u64 flags = BPF_RB_NO_WAKEUP;

	if (!(++counters_of(cpu)->records % 64) &&
	    bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	bpf_ringbuf_submit(event, flags);
}

/*
 * Fills in the facts that a line holds about its request, bio or thread. The caller sets all times
 * but the arrival.
 */
static __always_inline void event_of_line(struct event_request *event, const struct inflight *at)
{
	event->kind = EVENT_REQUEST;
	event->flags = at->flags;
	event->requeues = at->requeues;
	event->cmd_flags = at->cmd_flags;
	event->arrival_ns = at->arrival_ns;
	event->sector = at->sector;
	event->bytes = at->bytes;
	event->device = at->device;
	event->tid = (u32)at->pid_tgid;
	event->pid = at->pid_tgid >> 32;
}

/*
 * Records a request whose end was not seen, because the kernel skips a program that would interrupt
 * itself. noted_ns is the request's arrival where the line leaves that to the kernel.
 */
static __noinline int unseen_emit(const struct inflight *at, u64 noted_ns)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct event_request *event;
	void *ring = ring_of(cpu);

	event = request_reserve(ring, cpu);
	if (!event)
		return 0;
	event_of_line(event, at);
	event->flags |= EVENT_NO_COMPLETION;
	if (!event->arrival_ns)
		event->arrival_ns = noted_ns;
	event->dispatch_ns = 0;
	event->completion_ns = 0;
	event->cgroup_id = at->flags & EVENT_BIO ? at->cgroup_id : 0;
	event->error = 0;
	request_submit(event, ring, cpu);
	return 0;
}

#endif
