/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_check: verifies every file of a store or of an agent's spool, and repairs what can be.
 *
 * Segments are decoded to the last request. Nothing is changed unless repair is asked for, and then
 * no segment is ever deleted: what is damaged is moved to DIR/damaged (a store). In a spool damaged
 * segments are left to the agent, which sets them aside and has the loss in its ledger.
 */
#ifndef ANALYZER_STORE_CHECK_H
#define ANALYZER_STORE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum check_problem {
	CHECK_DAMAGED,	 /* no good segment */
	CHECK_MISPLACED, /* a good one, under another's name */
	CHECK_LEFTOVER,	 /* of a write that never ended: nobody was promised anything */
	CHECK_FOREIGN,	 /* nothing that belongs there */
	CHECK_CATALOG,	 /* damaged, or not in step with the files */
	CHECK_LEDGER,	 /* an agent's account that cannot be read in full */
	NR_CHECK_PROBLEMS
};
/* "damaged", ...; NULL outside the enum. */
const char *check_problem_name(unsigned int problem);

struct check_finding {
	char path[512]; /* below the folder checked */
	enum check_problem problem;
	char why[256];
	const char *cure; /* what repair does, or who does it; static */
	bool is_repaired;
};

struct check_report {
	uint64_t nr_files, nr_segments, nr_requests, segment_bytes;
	/* What retention left: requests in summaries, those dropped, and the segments that had them. */
	uint64_t nr_summaries, nr_summarized, nr_dropped, nr_retained_segments, summary_bytes;
	uint64_t nr_set_aside;		/* that were set aside before: damaged, or by retention */
	struct check_finding *findings; /* owned; in the order of paths */
	size_t nr_findings, cap;
};

void check_init(struct check_report *r);
void check_release(struct check_report *r);

/*
 * Fill an initialized r. 0 whatever was found; -ENOENT, -ENOTDIR, -EACCES where dir is none or cannot
 * be read, -EBUSY (repair of a spool whose agent runs), -EIO, -ENOMEM. Cost: reads every file.
 */
int check_store(struct check_report *r, const char *dir, bool repair, struct err *err);
int check_spool(struct check_report *r, const char *dir, bool repair, struct err *err);

#endif
