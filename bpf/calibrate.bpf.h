/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * calibrate.bpf.h: measures what one request costs, without entering the programs, when the agent
 * starts.
 */
#ifndef BPF_CALIBRATE_BPF_H
#define BPF_CALIBRATE_BPF_H

#include "bpf/emit.bpf.h"
#include "bpf/inflight.bpf.h"

SEC("socket")
int calibrate(void *ctx)
{
	struct inflight *at = inflight_place(1);
	u32 cpu = bpf_get_smp_processor_id();
	struct event_request *event;
	void *ring = ring_of(cpu);

	inflight_begin(at, 1);
	if (!ring)
		return 0;
	event = bpf_ringbuf_reserve(ring, sizeof(*event), 0);
	if (event) {
		event->completion_ns = bpf_ktime_get_ns();
		event->arrival_ns = at->arrival_ns;
		bpf_ringbuf_discard(event, BPF_RB_NO_WAKEUP);
	}
	at->key = 0;
	return 0;
}

#endif
