/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_depend: this module finds which lanes of a window stop while another lane is stuck
 * (causal.h).
 */
#ifndef ANALYZER_CAUSAL_DEPEND_H
#define ANALYZER_CAUSAL_DEPEND_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define CAUSAL_DEPEND_LANES 64 /* the first ones; further ones depend on none */

struct causal_end {
	uint64_t ns;
	uint32_t request; /* index in the lane */
};

struct causal_span {
	size_t first, nr;	 /* in requests */
	struct causal_end *ends; /* nr, ascending by time */
};

struct causal_times {
	const struct request *requests; /* by lane, then by arrival; completions known */
	struct causal_span *lanes;
	size_t nr_lanes;
	struct causal_end *ends, *all; /* by lane; of all lanes, ascending by time */
	uint64_t begin_ns;
};

/* Returns the lane's thread id; 0 stands for all kernel threads. */
static inline uint32_t causal_tid(const struct request *r)
{
	return r->flags & REQUEST_KERNEL_THREAD ? 0 : r->tid;
}

/*
 * Finds the lanes on which lane l depends: bit i of *depends says that it depends on lane i.
 * Returns 0 or -ENOMEM. The cost is O(requests of all lanes).
 */
int causal_depends(const struct causal_times *t, size_t l, uint64_t *depends);

#endif
