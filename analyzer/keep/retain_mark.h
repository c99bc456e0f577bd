/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain_mark: notes in the store which segments retention is working on, so that segments which
 * end the process (by their use of memory or by a defect) do not end it again at each start.
 *
 * Before a step, the file retention.mark names the segments of the step; after the step it is
 * removed. A mark that exists at a start belongs to a step that ended the process. Its segments are
 * then processed one by one. A segment with which the process ended twice, the second time alone,
 * is set aside: its path is added to the file retention.aside, and retention no longer touches it.
 * It stays in the store, where readers read it and `blkcast ls` and `blkcast check` name it.
 * Removing its line from the file makes retention try it again.
 */
#ifndef ANALYZER_RETAIN_MARK_H
#define ANALYZER_RETAIN_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/index/segment_name.h"
#include "analyzer/store/store.h"

#define RETAIN_MARK "retention.mark"

struct retain_mark {
	const struct store *store;
	bool is_found; /* a step ended the process; the other members describe the step */
	struct segment_name first;
	uint64_t last_sequence, nr_segments, nr_deaths;
};

/*
 * Reads the mark that an earlier process left, and sets the segment aside if it ended the process
 * twice. Returns 0, -EIO, ...
 */
int retain_mark_open(struct retain_mark *m, const struct store *store, struct err *err);
/*
 * Returns whether the segment was part of the step that ended the process, so that it must be
 * processed alone.
 */
bool retain_mark_suspects(const struct retain_mark *m, const struct segment_name *n);
/*
 * The first is called before a step of nr segments of one stream, in the order of sequences, and
 * the second after the step, however it ended.
 */
int retain_mark_set(struct retain_mark *m, const struct segment_name *segments, size_t nr,
		    struct err *err);
void retain_mark_clear(struct retain_mark *m);

#endif
