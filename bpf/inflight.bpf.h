/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * inflight.bpf.h: what must be remembered of a request under way.
 *
 * A table of cache lines in the program's own data, found by a hash of the request's (or bio's)
 * address, four ways to a set. No map call, no lock, no line that CPUs share but the one of the
 * request itself, which its completion has to fetch anyway. An address names one request at a
 * time, whatever its hardware queue and whichever tag set it came from, and keeps naming it
 * through requeues.
 *
 * The table adds knowledge: a request whose line was taken by another (all ways busy, counted in
 * nr_evicted) is still recorded at its completion, with the times the kernel itself noted and without
 * its issuer. Two CPUs that place requests in one set at the same instant may both take one way, as
 * compare and exchange came with 5.12 only: then one of them is recorded so, the other perhaps with the
 * first's issuer.
 */
#ifndef BPF_INFLIGHT_BPF_H
#define BPF_INFLIGHT_BPF_H

#include "bpf/event.h"
#include "bpf/kernel.h"

#include <bpf/bpf_helpers.h>

struct inflight inflights[INFLIGHT_NR] __attribute__((aligned(64)));
__u64 nr_evicted;

/*
 * A key from an address. The verifier lets a typed kernel pointer be neither multiplied nor stored
 * and read back as a number, but the difference of two pointers is a plain number (with
 * CAP_PERFMON), and the table's own address is a constant.
 */
static __always_inline u64 inflight_key(const void *object)
{
	u64 key = (u64)object;

	asm volatile("%[key] -= %[base]" : [key] "+r"(key) : [base] "r"(&nr_evicted));
	return key;
}

/* The same of an address that is only known as a number: the table's own comes from a pointer known both ways. */
static __always_inline u64 inflight_key_of_number(u64 address)
{
	u64 task = (u64)bpf_get_current_task();

	return address - (task - inflight_key(bpf_get_current_task_btf()));
}

#define INFLIGHT_WAYS 4

/* The lower address bits of requests and bios are alike: multiply, and keep the top bits. */
static __always_inline u32 inflight_set(u64 key)
{
	return (u32)((key * 0x9e3779b97f4a7c15ull) >> (64 - INFLIGHT_BITS)) &
	       (INFLIGHT_NR - INFLIGHT_WAYS);
}

static __always_inline struct inflight *inflight_find(u64 key)
{
	u32 set = inflight_set(key);

#pragma unroll
	for (u32 way = 0; way < INFLIGHT_WAYS; way++)
		if ((inflights[set + way].key & ~INFLIGHT_TOLD) == key)
			return &inflights[set + way];
	return NULL;
}

static __always_inline bool was_told(const struct inflight *at)
{
	return at->key & INFLIGHT_TOLD;
}

/*
 * The line for a request that begins. Where it still bears the request's own key, the end of an
 * earlier life of the address was not seen: the caller records that one first, where the agent has not.
 */
static __always_inline struct inflight *inflight_place(u64 key)
{
	struct inflight *at = inflight_find(key);
	u32 set = inflight_set(key);

	if (at)
		return at;
#pragma unroll
	for (u32 way = 0; way < INFLIGHT_WAYS; way++)
		if (!inflights[set + way].key)
			return &inflights[set + way];
	__sync_fetch_and_add(&nr_evicted, 1);
	return &inflights[set];
}

static __always_inline void inflight_begin(struct inflight *at, u64 key)
{
	at->dispatch_ns = 0;
	at->ended_bytes = 0;
	at->requeues = 0;
	at->has_parts = 0;
	at->flags = 0;
	at->key = key;
}

#endif
