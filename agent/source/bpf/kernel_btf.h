/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_btf: reads the facts about the block layer from the type information (BTF) of the running
 * kernel.
 *
 * No decision depends on a kernel version. The prototypes of tracepoints and the numbers of
 * operations and flags are looked up by name, so that kernels with backports and kernels of vendors
 * are handled correctly.
 */
#ifndef AGENT_KERNEL_BTF_H
#define AGENT_KERNEL_BTF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/err.h"
#include "bpf/event.h"

#define KERNEL_NR_OPERATIONS 256

struct kernel_btf {
	bool has_io_start;	   /* has the tracepoint block_io_start (since 6.5) */
	bool has_merge;		   /* has the tracepoint block_rq_merge (since 5.9) */
	bool queue_before_request; /* block_rq_issue has the parameters (q, rq), not (rq) */
	bool queue_before_bio;	   /* block_bio_queue has the parameters (q, bio), not (bio) */
	/*
	 * Indexed by the kernel's REQ_OP_* number. The second array marks passthrough commands and
	 * zone appends.
	 */
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
 * Reads the BTF of the running kernel, or of the file path where it is not NULL. Returns 0; -ENOENT
 * where there is no BTF; -EINVAL where the BTF describes no known block layer; -ENOMEM. k is
 * untouched on failure.
 */
int kernel_btf_read(struct kernel_btf *k, const char *path, struct err *err);

/*
 * Returns the number of parameters of the tracepoint's program without the leading context, or -1
 * where the kernel has no such tracepoint. It serves tests and --doctor.
 */
struct btf;
int kernel_btf_tracepoint_args(const struct btf *btf, const char *tracepoint);

/*
 * Returns the errno of an error that block_rq_complete reports, either as a negative errno or as a
 * blk_status_t.
 */
uint16_t kernel_block_errno(int32_t error);

#endif
