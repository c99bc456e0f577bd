/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_block: sums up a quarter of an hour of one host at several lengths of columns, once, so that
 * the live page draws a day from some hundred columns and not from its 86 400 windows.
 *
 * A block is the segments of a host that begin in the same PAGE_BLOCK_S seconds of real time. Of
 * each device it has its windows one by one, and columns of 10 s, 1 min and 15 min, which are kept
 * on disk (page_kept.h) under a key that names every segment of the block. A segment that arrives
 * late or is removed gives another key, so that columns that are found are never out of date.
 * Columns of a step that is a multiple of a level's length are exactly the sums of that level's
 * columns; the windows add up to columns of any step, so that a zoom into a day reads no segment
 * either.
 *
 * A block is kept once it is over, and if all of its segments can be read. Where the kept columns
 * are missing they are made from the files; the page's thread (page_warm.h) does that as time goes
 * on.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_BLOCK_H
#define ANALYZER_SERVE_PERIOD_PAGE_BLOCK_H

#include <stdatomic.h>

#include "analyzer/serve/period/page_column.h"
#include "analyzer/serve/period/page_store.h"

#define PAGE_BLOCK_S	    900
#define PAGE_BLOCK_SEGMENTS 20000 /* segments of a block; a block with more is not kept */
/* A block is over this long after its end, because agents send segments later than they watched. */
#define PAGE_BLOCK_LATE_S 60

enum page_level { PAGE_BY_WINDOW, PAGE_BY_10_S, PAGE_BY_MINUTE, PAGE_BY_BLOCK, NR_PAGE_LEVELS };

/* This head precedes packed columns in memory and on disk, and describes their windows. */
struct page_windows_head {
	char name[PROFILE_NAME_BYTES];
	uint8_t source, layer;
	uint8_t known;	 /* 0: there was no window of the device */
	uint32_t nr_bad; /* segments and profiles that could not be read */
};

/* Returns the highest level whose columns add up to columns of step_s. */
enum page_level page_block_level(double step_s);
/* Returns the number of the block in which the segment begins. */
uint64_t page_block_of(const struct page_segment *segment);
/* Sorts segments of a host by block, and within one by name, which is the order of its key. */
void page_block_sort(struct page_segment *segments, size_t nr);
/* Returns whether the block was over at that time. */
bool page_block_is_over(uint64_t block, double now_s);

/*
 * Gives the kept columns of the device: a head and packed columns. The segments are all segments of
 * one host's block, sorted. Replaces the content of out. Returns whether the columns were kept.
 */
bool page_block_find(struct page_store *store, const struct page_segment *segments, size_t nr,
		     const char *device, enum page_level level, struct buf *out);
/*
 * Does the same; if nothing was kept, it makes the columns from the files and keeps them. level
 * must not be PAGE_BY_WINDOW: a question about windows needs only some of the segments. Returns 0,
 * -ENOMEM, -ETIME after the deadline (CLOCK_MONOTONIC; 0: none) with what the first *nr_read
 * segments say, which is not kept, or -E2BIG where its columns would take too much memory; its
 * windows can then be read one by one.
 */
int page_block_columns(struct page_store *store, const struct page_segment *segments, size_t nr,
		       const char *device, enum page_level level, uint64_t deadline_ns,
		       size_t *nr_read, struct buf *out);
struct page_block_limits {
	const atomic_bool *stop;  /* borrowed; the reading ends when it becomes true; NULL: never */
	size_t most_bytes;	  /* bytes of the columns of all devices */
	size_t most_window_bytes; /* bytes of the packed windows of all devices */
};

/*
 * Keeps the columns of every device of the block, once. Nothing is kept if the columns would exceed
 * the limits; if only the single windows would exceed them, the sums alone are kept. Returns 0,
 * -ENOMEM, or -ETIME when it was stopped, with nothing kept.
 */
int page_block_keep(struct page_store *store, const struct page_segment *segments, size_t nr,
		    const struct page_block_limits *limits);

#endif
