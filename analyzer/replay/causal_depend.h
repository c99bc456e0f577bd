/* SPDX-License-Identifier: Apache-2.0 */
/* causal_depend: which lanes of a window stop while another is stuck (causal.h). */
#ifndef ANALYZER_CAUSAL_DEPEND_H
#define ANALYZER_CAUSAL_DEPEND_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define CAUSAL_DEPEND_LANES 64 /* the first ones; further ones depend on none */

struct causal_end {
	uint64_t ns;
	uint32_t request; /* of the lane */
};

struct causal_span {
	size_t first, nr;	 /* in requests */
	struct causal_end *ends; /* nr, ascending by time */
};

struct causal_times {
	const struct request *requests; /* by lane, then by arrival; completions known */
	struct causal_span *lanes;
	size_t nr_lanes;
	struct causal_end *ends, *all; /* by lane; of all lanes, ascending */
	uint64_t begin_ns;
};

/* 0: the kernel's threads. */
static inline uint32_t causal_tid(const struct request *r)
{
	return r->flags & REQUEST_KERNEL_THREAD ? 0 : r->tid;
}

/* Bit i: lane l depends on lane i. O(requests of all lanes). */
uint64_t causal_depends(const struct causal_times *t, size_t l);

#endif
