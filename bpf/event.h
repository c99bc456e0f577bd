/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * event.h: the records that the kernel side hands to the agent. The only header they share.
 * Byte order and layout are the host's: these records never leave it.
 */
#ifndef BPF_EVENT_H
#define BPF_EVENT_H

#include <linux/types.h>

#define EVENT_COMM_BYTES 16

enum event_kind {
	EVENT_REQUEST = 1,
	EVENT_TASK = 2, /* the name of a thread not seen before */
};

enum event_flag {
	EVENT_KERNEL_THREAD = 1 << 0,
	EVENT_NO_SUBMISSION = 1 << 1, /* not seen: no issuer, arrival as the kernel noted it */
	EVENT_BIO = 1 << 2,	      /* layer queue */
	EVENT_NO_COMPLETION = 1 << 3, /* its end was not seen; its length is as submitted */
};

/* One finished request, 72 bytes. Times are CLOCK_MONOTONIC ns; 0: unknown. */
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
	__u32 tid;
	__u32 pid;
	__s32 error;  /* as the kernel gave it: < 0 errno, > 0 blk_status_t, 0 none */
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
 * What is remembered of a request under way (inflight.bpf.h). In the programs' .bss, which the agent
 * maps: the entries with a key are what is in flight now.
 */
struct inflight {
	__u64 key;	  /* its address, less a constant, and perhaps INFLIGHT_TOLD; 0: free */
	__u64 arrival_ns; /* 0: as the kernel notes it in the request */
	union {
		__u64 dispatch_ns; /* request, the first; 0: not seen, DISPATCH_TIMELESS */
		__u64 cgroup_id;   /* bio */
	};
	__u64 pid_tgid; /* of the submitter, process << 32 | thread; 0: not known */
	__u64 sector;
	__u64 ended_bytes; /* sum of the parts that ended */
	__u32 bytes;	   /* as submitted */
	__u32 device;
	__u32 cmd_flags; /* as submitted */
	__u16 requeues;
	__u8 has_parts; /* sector is that of the first part that ended */
	__u8 flags;	/* enum event_flag */
} __attribute__((aligned(64)));
#define DISPATCH_TIMELESS 1ull /* it was dispatched, when is not known */
#define INFLIGHT_TOLD	  1ull /* taken for ended unseen and recorded as such: not recorded again */
#define INFLIGHT_BITS	  14
#define INFLIGHT_NR	  (1u << INFLIGHT_BITS)

/* Counters of one CPU, in the programs' .bss: a cache line. */
struct cpu_counters {
	__u64 records; /* submitted; may miss one where an interrupt cut in: for wake-ups and costs */
	__u64 lost;    /* no room in the ring; exact */
	__u64 wanted_ns; /* the last request whose dispatch only the issue program can tell */
	__u64 shed;	 /* requests that ended while the agent wanted none; exact */
	__u64 reserved[4];
};
#define COUNTERS_MAX_CPUS 1024

/* Bits of rq_flags, which no two ranges of kernels number alike. */
struct request_masks {
	__u32 flush_sequence; /* a step of a flush sequence */
	__u32 io_stat;	      /* the kernel notes times in the request */
};

#define FILTER_MAX_DEVICES 32
#define FILTER_MAX_CGROUPS 16

/* A cgroup and all below it: its kernfs id and its depth in the tree (root: 0). */
struct filter_cgroup {
	__u64 id;
	__u32 level;
	__u32 reserved;
};

#endif
