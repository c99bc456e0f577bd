/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * inflight.bpf.h: the table of requests in flight, which holds the facts that must be remembered
 * about each.
 *
 * The table consists of cache lines in the program's own data. A line is found by a hash of the
 * address of the request (or bio), with four ways per set. There is no map call, no lock, and no
 * line that CPUs share except the line of the request itself, which its completion has to fetch in
 * any case. An address denotes one request at a time, whatever its hardware queue and tag set are,
 * and it keeps denoting this request through requeues.
 *
 * At layer device the table only adds knowledge. A request whose line was taken by another (all
 * ways were busy, which nr_evicted counts) is still recorded at its completion, with the times that
 * the kernel itself noted and without its issuer. Two CPUs that insert requests into one set at the
 * same instant may both take the same way, because compare-and-exchange exists only since Linux
 * 5.12. One of the two requests is then recorded without its issuer, and the other possibly with
 * the issuer of the first. A bio is known by its line alone, so layer queue, which needs Linux 5.12
 * in any case, claims lines by compare-and-exchange (bio.bpf.c).
 */
#ifndef BPF_INFLIGHT_BPF_H
#define BPF_INFLIGHT_BPF_H

#include "bpf/event.h"
#include "bpf/kernel.h"
#include "bpf/life.h"

#include <bpf/bpf_helpers.h>

struct inflight inflights[INFLIGHT_NR] __attribute__((aligned(64)));
__u64 nr_evicted;

/*
 * Computes a key from an address. The verifier allows a typed kernel pointer neither to be
 * multiplied nor to be stored and read back as a number. But the difference of two pointers is a
 * plain number (with CAP_PERFMON), and the table's own address is a constant.
 */
static __always_inline u64 inflight_key(const void *object)
{
	u64 key = (u64)object;

	asm volatile("%[key] -= %[base]" : [key] "+r"(key) : [base] "r"(&nr_evicted));
	return key;
}

/*
 * Computes the same key from an address that is known only as a number. The table's own address
 * comes from a pointer that is known in both forms.
 */
static __always_inline u64 inflight_key_of_number(u64 address)
{
	u64 task = (u64)bpf_get_current_task();

	return address - (task - inflight_key(bpf_get_current_task_btf()));
}

/*
 * The lower address bits of requests and bios are similar, so the key is multiplied and the top
 * bits are used.
 */
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
 * Returns the line for a request that begins. Where the line already has this key, the end of an
 * earlier request at the address was not seen; the caller records that request first, unless the
 * agent already has.
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

static __always_inline void inflight_clear(struct inflight *at)
{
	at->dispatch_ns = 0;
	at->ended_bytes = 0;
	at->requeues = 0;
	at->has_parts = 0;
	at->flags = 0;
}

static __always_inline void inflight_begin(struct inflight *at, u64 key)
{
	inflight_clear(at);
	at->key = key;
}

#endif
