/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_btf: what the running kernel's type information says about its block layer.
 *
 * Nothing is decided by a kernel version: prototypes of tracepoints and numbers of operations and
 * flags are looked up by name, so that backports and vendor kernels come out right.
 */
#ifndef AGENT_KERNEL_BTF_H
#define AGENT_KERNEL_BTF_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"
#include "base/err.h"

#define KERNEL_NR_OPERATIONS 256

struct kernel_btf {
	bool has_io_start;	   /* block_io_start: 6.5 */
	bool has_merge;		   /* block_rq_merge: 5.9 */
	bool queue_before_request; /* block_rq_issue(q, rq) rather than (rq) */
	bool queue_before_bio;	   /* block_bio_queue(q, bio) rather than (bio) */
	/* By REQ_OP_*: enum operation, and whether it is passthrough or a zone append. */
	uint8_t operation[KERNEL_NR_OPERATIONS];
	uint8_t operation_flags[KERNEL_NR_OPERATIONS]; /* enum kernel_operation_flag */
	/* Masks of REQ_* in cmd_flags; 0 where the kernel has no such flag. */
	uint32_t sync, meta, fua, preflush, readahead;
	struct request_masks request_masks;
};

enum kernel_operation_flag {
	KERNEL_PASSTHROUGH = 1,
	KERNEL_ZONE_APPEND = 2,
};

/*
 * Reads the BTF of the running kernel, or of path where not NULL. 0, -ENOENT (no BTF), -EINVAL (BTF
 * without a block layer that we know), -ENOMEM; k is untouched on failure.
 */
int kernel_btf_read(struct kernel_btf *k, const char *path, struct err *err);

/* Parameters of the tracepoint's program, the leading context not counted; -1 where it has no such
 * tracepoint. For tests and --doctor. */
struct btf;
int kernel_btf_tracepoint_args(const struct btf *btf, const char *tracepoint);

/* The errno of an error as block_rq_complete gives it: a negative errno, or a blk_status_t. */
uint16_t kernel_block_errno(int32_t error);

#endif
