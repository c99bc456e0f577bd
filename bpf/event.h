/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * event.h: the records that the kernel side hands to the agent. The only header they share.
 * Byte order and layout are the host's: these records never leave it.
 */
#ifndef BPF_EVENT_H
#define BPF_EVENT_H

#ifndef __BPF__
#include <linux/types.h>
#endif

#define EVENT_COMM_BYTES 16

enum event_kind {
	EVENT_REQUEST = 1,
	EVENT_TASK = 2, /* the name of a thread not seen before */
};

enum event_flag {
	EVENT_KERNEL_THREAD = 1 << 0,
	EVENT_NO_SUBMISSION = 1 << 1, /* the submission was not seen: no issuer, arrival as the
				       * kernel noted it, or none */
	EVENT_NO_DISPATCH = 1 << 2,
	EVENT_NO_CGROUP = 1 << 3,
	EVENT_PASSTHROUGH = 1 << 4,
	EVENT_BIO = 1 << 5, /* layer queue */
};

/* One finished request: 80 bytes. Times are CLOCK_MONOTONIC ns. */
struct event_request {
	__u8 kind;  /* EVENT_REQUEST */
	__u8 flags; /* enum event_flag */
	__u16 requeues;
	__u32 cmd_flags; /* low 8 bits REQ_OP_*, the rest REQ_* as this kernel numbers them */
	__u64 arrival_ns;
	__u64 dispatch_ns;
	__u64 completion_ns;
	__u64 sector;
	__u64 cgroup_id;
	__u32 bytes;
	__u32 device; /* major << 20 | first minor of the disk */
	__u32 tid;
	__u32 pid;
	__s32 error; /* as the tracepoint gave it: < 0 errno, > 0 blk_status_t, 0 none */
	__u32 reserved;
};

struct event_task {
	__u8 kind;  /* EVENT_TASK */
	__u8 flags; /* EVENT_KERNEL_THREAD */
	__u16 reserved;
	__u32 tid;
	__u32 pid;
	char comm[EVENT_COMM_BYTES];
};

#endif
