/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * event.h: the records that the kernel side sends to the agent. This is the only header that both
 * sides share. Byte order and layout are those of the host, because these records never leave it.
 */
#ifndef BPF_EVENT_H
#define BPF_EVENT_H

#include <linux/types.h>

#define EVENT_COMM_BYTES 16

enum event_kind {
	EVENT_REQUEST = 1,
	EVENT_TASK = 2, /* the name of a thread that was not seen before */
};

enum event_flag {
	EVENT_KERNEL_THREAD = 1 << 0,
	/*
	 * the submission was not seen: there is no issuer, and the arrival is the kernel's own note
	 */
	EVENT_NO_SUBMISSION = 1 << 1,
	EVENT_BIO = 1 << 2,	      /* at layer queue */
	EVENT_NO_COMPLETION = 1 << 3, /* the end was not seen; the length is the submitted one */
};

/* One finished request, 72 bytes. Times are CLOCK_MONOTONIC in ns; 0: unknown. */
struct event_request {
	__u8 kind;  /* EVENT_REQUEST */
	__u8 flags; /* enum event_flag */
	__u16 requeues;
	/* the low 8 bits are REQ_OP_*, the others are REQ_* as this kernel numbers them */
	__u32 cmd_flags;
	__u64 arrival_ns;
	__u64 dispatch_ns;
	__u64 completion_ns;
	__u64 sector;
	__u64 cgroup_id;
	__u32 bytes;
	__u32 tid;
	__u32 pid;
	/* as the kernel gave it: below 0 an errno, above 0 a blk_status_t, 0 no error */
	__s32 error;
	__u32 device; /* major << 20 | first minor of the disk */
};

struct event_task {
	__u8 kind;  /* EVENT_TASK */
	__u8 flags; /* EVENT_KERNEL_THREAD */
	__u16 reserved;
	__u32 tid;
	__u32 pid;
	char comm[EVENT_COMM_BYTES];
};

/*
 * The facts that are kept about a request in flight (inflight.bpf.h). The table lies in the
 * programs' .bss, which the agent maps. The entries with a key are the requests in flight.
 */
struct inflight {
	/*
	 * The request's address minus a constant, possibly with INFLIGHT_TOLD; 0: the line is free.
	 */
	__u64 key;
	__u64 arrival_ns; /* 0: the kernel notes it in the request */
	union {
		/* a request's first dispatch; 0: not seen; or DISPATCH_TIMELESS */
		__u64 dispatch_ns;
		__u64 cgroup_id; /* id of a bio's cgroup */
	};
	__u64 pid_tgid; /* the submitter: process << 32 | thread; 0: unknown */
	__u64 sector;
	__u64 ended_bytes; /* sum of the parts that have ended */
	__u32 bytes;	   /* as submitted */
	__u32 device;
	__u32 cmd_flags; /* as submitted */
	__u16 requeues;
	__u8 has_parts; /* sector is that of the first part that ended */
	__u8 flags;	/* enum event_flag */
} __attribute__((aligned(64)));
#define DISPATCH_TIMELESS 1ull /* the request was dispatched at an unknown time */
/* The request was taken to have ended unseen and was recorded so; it is not recorded again. */
#define INFLIGHT_TOLD 1ull
#define INFLIGHT_BITS 14
#define INFLIGHT_NR   (1u << INFLIGHT_BITS)

/* Counters of one CPU, in the programs' .bss; they fill a cache line. */
struct cpu_counters {
	/*
	 * Records submitted. The count may miss one when an interrupt intervenes; it serves
	 * wake-ups and costs only.
	 */
	__u64 records;
	__u64 lost; /* records for which the ring had no room; exact */
	/* time of the last request whose dispatch only the issue program can report */
	__u64 wanted_ns;
	__u64 shed; /* requests that ended while the agent wanted none; exact */
	__u64 reserved[4];
};
#define COUNTERS_MAX_CPUS 1024

/* Bits of rq_flags, whose numbers differ between kernels. */
struct request_masks {
	__u32 flush_sequence; /* the request is a step of a flush sequence */
	__u32 io_stat;	      /* the kernel notes times in the request */
};

#define FILTER_MAX_DEVICES 32
#define FILTER_MAX_CGROUPS 16

/* A cgroup with all cgroups below it: its kernfs id and its depth in the hierarchy (root: 0). */
struct filter_cgroup {
	__u64 id;
	__u32 level;
	__u32 reserved;
};

#endif
