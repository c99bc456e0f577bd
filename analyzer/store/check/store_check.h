/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_check: checks every file of a store or of an agent's spool, and repairs what can be
 * repaired.
 *
 * Segments are decoded to the last request. Nothing is changed unless repair is asked for, and even
 * then no segment is deleted: in a store, a damaged one is moved to DIR/damaged. In a spool,
 * damaged segments are left to the agent, which sets them aside and enters the loss in its ledger.
 * A file that cannot be read may be whole, so it stays where it is and remains a problem.
 */
#ifndef ANALYZER_STORE_CHECK_H
#define ANALYZER_STORE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

enum check_problem {
	CHECK_DAMAGED,	  /* not a valid segment */
	CHECK_UNREADABLE, /* a file that cannot be read, of whose content nothing is known */
	CHECK_MISPLACED,  /* a valid segment under the name of another */
	CHECK_LEFTOVER,	  /* left by a write that never ended and was never acknowledged */
	CHECK_FOREIGN,	  /* a file that does not belong there */
	CHECK_CATALOG,	  /* the catalog is damaged, or not in step with the files */
	CHECK_LEDGER,	  /* an agent's account that cannot be read in full */
	NR_CHECK_PROBLEMS
};
/* Returns "damaged", ..., or NULL outside of the enum. */
const char *check_problem_name(unsigned int problem);

struct check_finding {
	char path[512]; /* path below the checked folder */
	enum check_problem problem;
	char why[256];
	const char *cure; /* what repair does, or who does it; static */
	bool is_repaired;
};

struct check_report {
	uint64_t nr_files, nr_segments, nr_requests, segment_bytes;
	/*
	 * Counts of retention: requests in summaries, dropped requests, and the segments that held
	 * them.
	 */
	uint64_t nr_summaries, nr_summarized, nr_dropped, nr_retained_segments, summary_bytes;
	/* files that were set aside before, as damaged or by retention */
	uint64_t nr_set_aside;
	struct check_finding *findings; /* owned; in the order of paths */
	size_t nr_findings, cap;
};

void check_init(struct check_report *r);
void check_release(struct check_report *r);

/*
 * Both fill an initialized r. Return 0 whatever was found; -ENOENT, -ENOTDIR, -EACCES where dir is
 * not a folder or cannot be read; -EBUSY for the repair of a spool whose agent runs; -EIO; -ENOMEM.
 * Cost: every file is read.
 */
int check_store(struct check_report *r, const char *dir, bool repair, struct err *err);
int check_spool(struct check_report *r, const char *dir, bool repair, struct err *err);

#endif
