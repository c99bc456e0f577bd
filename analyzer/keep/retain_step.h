/* SPDX-License-Identifier: Apache-2.0 */
/* retain_step: one summary written in place of segments and summaries; for retain.c. */
#ifndef ANALYZER_RETAIN_STEP_H
#define ANALYZER_RETAIN_STEP_H

#include "analyzer/keep/retain.h"
#include "analyzer/store/store_summary.h"

struct retain_step {
	struct store *store;
	const struct segment_name *segments; /* of one stream, by sequence; may be none */
	size_t nr_segments;
	const struct summary_file *summaries; /* of that stream, to be part of the new one */
	size_t nr_summaries;
	uint64_t generation; /* of the new one */
	bool drop;	     /* without profiles */
	const atomic_bool *stop;
};

/* Does it, or changes nothing. *out: the catalog's facts of the new one, to be released. As
 * retain_pass(); 1: there was nothing to do, all segments are damaged or gone. */
int retain_step_run(const struct retain_step *step, struct segment_facts *out,
		    struct retain_counts *counts, struct err *err);

#endif
