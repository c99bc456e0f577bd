/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_reading: reads a selection for the answer about all hosts and devices at once (fleet.h), as
 * one process or as one of several ranks.
 *
 *	ret = fleet_reading_open(&g, teller, &sel, &is_done, &err);
 *	if (!ret && !is_done)
 *		answer = fleet_reading_answer(&g, FLEET_DEVICES, utc);
 *	fleet_reading_release(&g);
 */
#ifndef ANALYZER_REPORT_FLEET_FLEET_READING_H
#define ANALYZER_REPORT_FLEET_FLEET_READING_H

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/retained.h"
#include "analyzer/report/collect/report_share.h"
#include "analyzer/report/fleet/fleet.h"
#include "analyzer/store/scan/selection_told.h"

struct fleet_reading {
	struct fleet *fleet;
	struct retained *retained;
	struct counted *counted;
	struct progress progress;
	struct report_share share;
	struct scan *scan;
};

/*
 * Reads the selection. In all ranks but rank 0 *is_done becomes true, and no work is left. Release
 * *g whatever this returns: 0 or -errno.
 */
int fleet_reading_open(struct fleet_reading *g, const struct teller *t, struct selection *sel,
		       bool *is_done, struct err *err);
/* Returns the answer for what was read and says what is missing from it. NULL: memory is short. */
struct answer *fleet_reading_answer(const struct fleet_reading *g, enum fleet_table first,
				    bool utc);
void fleet_reading_release(struct fleet_reading *g);

#endif
