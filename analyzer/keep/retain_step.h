/* SPDX-License-Identifier: Apache-2.0 */
/* retain_step: writes one summary in place of segments and earlier summaries. For retain.c. */
#ifndef ANALYZER_RETAIN_STEP_H
#define ANALYZER_RETAIN_STEP_H

#include "analyzer/keep/retain.h"
#include "analyzer/store/store_summary.h"

struct retain_step {
	struct store *store;
	/* segments of one stream, by sequence; there may be none */
	const struct segment_name *segments;
	size_t nr_segments;
	/* summaries of that stream that the new one will contain */
	const struct summary_file *summaries;
	size_t nr_summaries;
	uint64_t generation; /* generation of the new summary */
	bool drop;	     /* the new summary has no profiles */
	const atomic_bool *stop;
};

/*
 * Does the step, or changes nothing. *out receives the catalog's facts of the new summary and must
 * be released. Returns the same as retain_pass(), or 1 where there was nothing to do because all
 * segments are damaged or gone.
 */
int retain_step_run(const struct retain_step *step, struct segment_facts *out,
		    struct retain_counts *counts, struct err *err);

#endif
