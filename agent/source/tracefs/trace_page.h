/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_page: splits the pages of the kernel's trace ring buffer, as per_cpu/cpuN/trace_pipe_raw
 * returns them, into records.
 *
 * A page is a time stamp, a commit word (the number of bytes used, and two flags) and a sequence of
 * entries. An entry begins with 32 bits: a type or length of 5 bits and the time since the previous
 * entry of 27 bits; big-endian machines store the two in the other order. A longer time difference
 * is an entry of its own (time extend), and an absolute time stamp replaces the sum of differences.
 * The format is the kernel's (events/header_page, events/header_event, kernel/trace/ring_buffer.c).
 * It has been the same since Linux 2.6.30; absolute time stamps exist since 4.17.
 *
 * The module works on memory only. Whatever the bytes are, it reads nothing outside of the page.
 */
#ifndef AGENT_TRACE_PAGE_H
#define AGENT_TRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

/* The offsets of the parts of a page, and the byte order of the machine that wrote it. */
struct trace_page_layout {
	uint32_t time_at;		  /* offset of the time stamp, which has 8 bytes */
	uint32_t commit_at, commit_bytes; /* commit_bytes is 4 or 8 */
	uint32_t data_at;
	uint32_t page_bytes; /* bytes of the whole page */
	bool is_big_endian;
};

/*
 * Parses the text of events/header_page; is_big_endian is left alone. Returns 0, or -EINVAL with
 * the missing or impossible value in err; out is then untouched.
 */
int trace_page_layout_parse(struct trace_page_layout *out, const char *text, struct err *err);

struct trace_page {
	const uint8_t *at, *end;
	uint64_t time_ns;
	bool is_big_endian;
	/*
	 * These say whether records were overwritten or dropped before the first record of this
	 * page, and whether their number is known.
	 */
	bool has_missed, missed_known;
	uint64_t nr_missed; /* valid where missed_known is set */
};

/* time is in units of the trace clock; data points into the page. */
struct trace_record {
	uint64_t time_ns;
	const uint8_t *data;
	uint32_t bytes; /* a multiple of 4, because the kernel pads records */
};

/*
 * Begins to read a page of which this many bytes were read. Returns 0, or -EBADMSG where its header
 * contradicts that size.
 */
int trace_page_open(struct trace_page *p, const struct trace_page_layout *layout, const void *page,
		    size_t bytes);
/*
 * Returns 1: a record; 0: the end; -EBADMSG: an entry does not fit, and the rest of the page is
 * lost.
 */
int trace_page_next(struct trace_page *p, struct trace_record *out);

/* Reads a number of 1, 2, 4 or 8 bytes in that byte order. Returns 0 for other widths. */
uint64_t trace_number(const uint8_t *at, size_t bytes, bool is_big_endian);

#endif
