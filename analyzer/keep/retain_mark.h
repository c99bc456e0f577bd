/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain_mark: what retention is working on, noted in the store, so that segments that end the
 * process (by memory, by a defect) do not end it at each start again.
 *
 * Before a step the file retention.mark names the segments of the step; after the step it goes. A mark
 * that is there at a start is of a step that ended the process. Its segments are then taken one by one.
 * A segment with which the process ended twice, the second time alone, is set aside: its path is added to the file
 * retention.aside, and retention leaves it as it is. It stays in the store, readers read it, `blkcast ls`
 * and `blkcast check` name it. Whoever takes its line out of the file has it tried again.
 */
#ifndef ANALYZER_RETAIN_MARK_H
#define ANALYZER_RETAIN_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/segment_name.h"
#include "analyzer/store/store.h"

#define RETAIN_MARK "retention.mark"

struct retain_mark {
	const struct store *store;
	bool is_found; /* a step ended the process: the rest says which */
	struct segment_name first;
	uint64_t last_sequence, nr_segments, nr_deaths;
};

/* Reads what an earlier process left; sets the segment aside where that is due. 0, -EIO, ... */
int retain_mark_open(struct retain_mark *m, const struct store *store, struct err *err);
/* Whether the segment was part of the step that ended the process: it is to be taken alone. */
bool retain_mark_suspects(const struct retain_mark *m, const struct segment_name *n);
/* Before a step of nr segments of one stream, by sequence; and after it, however it ended. */
int retain_mark_set(struct retain_mark *m, const struct segment_name *segments, size_t nr,
		    struct err *err);
void retain_mark_clear(struct retain_mark *m);

#endif
