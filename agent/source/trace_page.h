/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_page: the pages of the kernel's trace ring buffer, as per_cpu/cpuN/trace_pipe_raw hands
 * them out, to records.
 *
 * A page is a time stamp, a commit word (bytes used, and two flags) and entries one after the
 * other. An entry begins with 32 bits: a type or length of 5 bits and the time since the entry
 * before of 27 bits, which sit the other way round on big-endian machines. Longer gaps are time
 * extends, absolute time stamps begin anew. The format is the kernel's (events/header_page,
 * events/header_event, kernel/trace/ring_buffer.c); it has been the same since 2.6.30, absolute
 * stamps since 4.17.
 *
 * Works on memory alone; whatever the bytes, nothing outside the page is read.
 */
#ifndef AGENT_TRACE_PAGE_H
#define AGENT_TRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Where the parts of a page are, and how the machine that wrote it orders its bytes. */
struct trace_page_layout {
	uint32_t time_at;		  /* 8 bytes */
	uint32_t commit_at, commit_bytes; /* 4 or 8 */
	uint32_t data_at;
	uint32_t page_bytes; /* of the whole page */
	bool is_big_endian;
};

/*
 * Reads the text of events/header_page; is_big_endian is left alone. -EINVAL with what is missing
 * or impossible in err; out is untouched then.
 */
int trace_page_layout_parse(struct trace_page_layout *out, const char *text, struct err *err);

struct trace_page {
	const uint8_t *at, *end;
	uint64_t time_ns;
	bool is_big_endian;
	/* Records were overwritten or dropped before the first of this page. */
	bool has_missed, missed_known;
	uint64_t nr_missed; /* where known */
};

/* Units of the trace clock. data points into the page. */
struct trace_record {
	uint64_t time_ns;
	const uint8_t *data;
	uint32_t bytes; /* a multiple of 4: the kernel pads */
};

/* bytes: how many of the page were read. 0, or -EBADMSG: its header does not fit them. */
int trace_page_open(struct trace_page *p, const struct trace_page_layout *layout, const void *page,
		    size_t bytes);
/* 1: a record; 0: the end; -EBADMSG: an entry that does not fit, the rest of the page is lost. */
int trace_page_next(struct trace_page *p, struct trace_record *out);

/* A number of 1, 2, 4 or 8 bytes in that byte order; 0 for other widths. */
uint64_t trace_number(const uint8_t *at, size_t bytes, bool is_big_endian);

#endif
