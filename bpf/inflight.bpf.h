/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * inflight.bpf.h: what must be remembered of a request under way.
 *
 * A table of cache lines in the program's own data, found by a hash of the request's (or bio's)
 * address, two ways to a set. No map call, no lock, no line that CPUs share but the one of the
 * request itself, which its completion has to fetch anyway. An address names one request at a
 * time, whatever its hardware queue and whichever tag set it came from, and keeps naming it
 * through requeues.
 *
 * The table only ever adds knowledge: a request whose line was taken by another (both ways busy,
 * counted in nr_evicted) is still recorded at its completion, with the times the kernel itself
 * noted and without its issuer.
 */
#ifndef BPF_INFLIGHT_BPF_H
#define BPF_INFLIGHT_BPF_H

#include "bpf/event.h"
#include "bpf/kernel.h"

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

/* The lower address bits of requests and bios are alike: multiply, and keep the top bits. */
static __always_inline u32 inflight_set(u64 key)
{
	return (u32)((key * 0x9e3779b97f4a7c15ull) >> (64 - INFLIGHT_BITS)) & (INFLIGHT_NR - 1);
}

static __always_inline struct inflight *inflight_find(u64 key)
{
	u32 i = inflight_set(key);

	if (inflights[i].key == key)
		return &inflights[i];
	i ^= 1;
	if (inflights[i].key == key)
		return &inflights[i];
	return NULL;
}

/* The line for a request that begins; one left by an earlier life of the address is taken over. */
static __always_inline struct inflight *inflight_begin(u64 key)
{
	u32 i = inflight_set(key);
	struct inflight *at = &inflights[i];

	if (at->key && at->key != key) {
		struct inflight *other = &inflights[i ^ 1];

		if (!other->key || other->key == key) {
			at = other;
		} else {
			__sync_fetch_and_add(&nr_evicted, 1);
			if (other->arrival_ns < at->arrival_ns)
				at = other;
		}
	}
	at->dispatch_ns = 0;
	at->bytes = 0;
	at->requeues = 0;
	at->has_parts = 0;
	at->flags = 0;
	at->key = key;
	return at;
}

#endif
