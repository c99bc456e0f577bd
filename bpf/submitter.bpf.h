/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * submitter.bpf.h: notes who submitted a request. It is only used where the submitter is the
 * running task: at submission, but not at issue by a worker and not at completion.
 */
#ifndef BPF_SUBMITTER_BPF_H
#define BPF_SUBMITTER_BPF_H

#include "bpf/emit.bpf.h"
#include "bpf/inflight.bpf.h"

/*
 * The threads whose name was sent, by thread id: each entry is the id, combined with
 * SEEN_KERNEL_THREAD. The agent clears it from time to time, in order to learn of changed names and
 * of reused ids.
 */
#define SEEN_NR		   4096u
#define SEEN_KERNEL_THREAD (1ull << 32)
__u64 seen[SEEN_NR];

static __always_inline bool is_kernel_thread(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();

	return BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

static __noinline u64 task_emit(u64 pid_tgid)
{
	u64 entry = (u32)pid_tgid | (is_kernel_thread() ? SEEN_KERNEL_THREAD : 0);
	void *ring = ring_of(bpf_get_smp_processor_id());
	struct event_task *event = NULL;

	if (ring)
		event = bpf_ringbuf_reserve(ring, sizeof(*event), 0);
	if (!event)
		/* A lost name is not a lost request; it is sent with the thread's next request. */
		return entry;
	event->kind = EVENT_TASK;
	event->flags = entry & SEEN_KERNEL_THREAD ? EVENT_KERNEL_THREAD : 0;
	event->reserved = 0;
	event->tid = (u32)pid_tgid;
	event->pid = pid_tgid >> 32;
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	seen[(u32)pid_tgid % SEEN_NR] = entry;
	return entry;
}

/* Notes the running task as the submitter, and sends its name first where it is new. */
static __always_inline void submitter_note(struct inflight *at)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u64 entry = seen[(u32)pid_tgid % SEEN_NR];

	at->pid_tgid = pid_tgid;
	if ((u32)entry != (u32)pid_tgid)
		entry = task_emit(pid_tgid);
	if (entry & SEEN_KERNEL_THREAD)
		at->flags |= EVENT_KERNEL_THREAD;
}

#endif
