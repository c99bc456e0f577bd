/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_merge: what the CPUs' files of one block trace held, as one stream in order of time.
 *
 * Each CPU's records are in order. Records up to an instant can be handed out once all CPUs have
 * been read after it. Memory: what was put in and not yet handed out.
 */
#ifndef AGENT_RELAY_MERGE_H
#define AGENT_RELAY_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/foreign/blktrace.h"

struct relay_stream {
	struct buf data;
	size_t at;	/* of the first record not decoded */
	size_t head_at; /* of head, where there is one */
	struct blktrace_reader reader;
	struct blktrace_record head;
	uint32_t sequence; /* of the last event */
	bool has_head;
	uint32_t missing; /* events before head */
};

struct relay_merge {
	struct relay_stream *streams; /* owned */
	size_t nr, last;
	uint64_t until_ns; /* last may be handed out alone before this */
};

/* 0 or -ENOMEM. */
int relay_merge_init(struct relay_merge *m, size_t nr);
void relay_merge_release(struct relay_merge *m);
/* 0 or -ENOMEM: these bytes are lost, and the records around them too. */
int relay_merge_put(struct relay_merge *m, size_t stream, const void *data, size_t len);
/*
 * The next record before this time; missing: events of its CPU lost before it. Borrowed until the
 * next call. NULL: none.
 */
const struct blktrace_record *relay_merge_next(struct relay_merge *m, uint64_t before_ns,
					       uint32_t *missing);
/* The reader that decoded the last one. */
const struct blktrace_reader *relay_merge_reader(const struct relay_merge *m);
/* Frees what was handed out. After the last relay_merge_next(), before the next put. */
void relay_merge_trim(struct relay_merge *m);
/* Places where no record began, over all streams. */
uint64_t relay_merge_skipped(const struct relay_merge *m);

#endif
