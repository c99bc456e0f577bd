/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/source/bpf/unseen.h"

static struct event_request event_of(const struct inflight *at)
{
	return (struct event_request){
		.kind = EVENT_REQUEST,
		.flags = at->flags | EVENT_NO_COMPLETION,
		.requeues = at->requeues,
		.cmd_flags = at->cmd_flags,
		.arrival_ns = at->arrival_ns,
		.sector = at->sector,
		.cgroup_id = at->flags & EVENT_BIO ? at->cgroup_id : 0,
		.bytes = at->bytes,
		.tid = (__u32)at->pid_tgid,
		.pid = (__u32)(at->pid_tgid >> 32),
		.device = at->device,
	};
}

/* Computes a 16-bit number, never 0, that distinguishes successive requests at one address. */
static uint16_t life_of(const struct inflight *at)
{
	uint64_t x = at->key ^ at->arrival_ns ^ at->sector << 20 ^ at->pid_tgid << 40;

	return (uint16_t)((x * 0x9e3779b97f4a7c15ull) >> 48) | 1;
}

static bool unseen_replaced(__u64 *key, __u64 is, __u64 becomes)
{
	return __atomic_compare_exchange_n(key, &is, becomes, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/*
 * A line that was reported is kept for a while, because its request may end after all or its
 * address may be used again.
 */
static uint16_t told_look(struct inflight *at, __u64 key, uint16_t nr_looks)
{
	if (nr_looks + 1 < UNSEEN_KEEP_LOOKS)
		return nr_looks + 1;
	unseen_replaced(&at->key, key, 0);
	return 0;
}

void unseen_settle(struct unseen *u, struct inflight *lines, unseen_in_flight in_flight,
		   bool is_last, void (*tell)(void *ctx, const struct event_request *e), void *ctx)
{
	uint32_t idle = 0, busy = 0;

	for (uint32_t i = 0; i < INFLIGHT_NR; i++) {
		struct inflight at;
		struct event_request e;
		__u64 key = __atomic_load_n(&lines[i].key, __ATOMIC_ACQUIRE);
		uint16_t before = u->last_look[i];

		u->last_look[i] = 0;
		if (!key)
			continue;
		if (key & INFLIGHT_TOLD) {
			u->last_look[i] = told_look(&lines[i], key, before);
			continue;
		}
		at = lines[i];
		if (at.device == busy)
			continue;
		if (at.device != idle && in_flight(at.device) != 0) {
			busy = at.device;
			continue;
		}
		idle = at.device;
		u->last_look[i] = life_of(&at);
		if (!is_last && u->last_look[i] != before)
			continue;
		if (!unseen_replaced(&lines[i].key, key, is_last ? 0 : key | INFLIGHT_TOLD))
			continue;
		u->last_look[i] = 0;
		e = event_of(&at);
		tell(ctx, &e);
	}
}
