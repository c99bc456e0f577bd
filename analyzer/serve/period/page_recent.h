/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_recent: packs the windows of one segment, and keeps them in the cache in memory.
 *
 * A quarter of an hour that is not over has no sums on disk (page_block.h), so that a question
 * about it needs up to 200 segments, and reading one takes half a millisecond. The fleet reads each
 * segment once when it arrives (../fleet/). Of a small fleet it packs the windows then, which takes
 * half as long as the reading, and the first question about a device's day finds them in memory.
 * Windows of a large fleet would push one another out of the cache, and are packed when somebody
 * asks for them.
 *
 *	struct page_recent recent = { .nr = 0 };
 *
 *	page_recent_add(&recent, &profile);		for each profile of the segment
 *	page_recent_keep(&recent, store, &name);	if all of them could be read
 *	page_recent_release(&recent);
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_RECENT_H
#define ANALYZER_SERVE_PERIOD_PAGE_RECENT_H

#include "analyzer/serve/period/page_block.h"
#include "analyzer/serve/period/page_store.h"
#include "base/memory/buf.h"
#include "formats/profile/profile.h"

/*
 * Windows of a second of this many devices, of 3 KiB each, stay for the quarter of an hour and the
 * minute after which page_block.h has its sums.
 */
#define PAGE_RECENT_DEVICES 32

/* The windows of one device in a segment. */
struct page_recent_device {
	char device[PROFILE_NAME_BYTES];
	struct page_windows_head head;
	struct buf windows; /* packed, one column for each window */
};

struct page_recent {
	struct page_recent_device *devices; /* owned */
	size_t nr, cap;
};

/* Adds a window of the segment. Returns 0 or -ENOMEM. */
int page_recent_add(struct page_recent *r, const struct profile *p);
/* Keeps the windows under the key of the segment. What is not kept is read when it is asked for. */
void page_recent_keep(const struct page_recent *r, struct page_store *store,
		      const struct segment_name *name);
void page_recent_release(struct page_recent *r);

/* Returns the key of a device's windows in a segment. */
uint64_t page_recent_key(const struct segment_name *name, uint64_t received_real_ns,
			 const char *device);
/* Packs a window behind others, and notes in the head what it says of its device. */
int page_recent_pack(const struct profile *p, struct page_windows_head *head, struct buf *out);

#endif
