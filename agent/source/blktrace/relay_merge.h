/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_merge: merges the records that the CPUs' files of one block trace hold into one stream in
 * order of time.
 *
 * The records of each CPU are in order. Records up to an instant can be handed out once all CPUs
 * have been read after that instant. Memory: the records that were put in and have not been handed
 * out yet.
 */
#ifndef AGENT_RELAY_MERGE_H
#define AGENT_RELAY_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "formats/foreign/blktrace.h"

struct relay_stream {
	struct buf data;
	size_t at;	/* offset of the first record that is not decoded */
	size_t head_at; /* offset of head, where there is one */
	struct blktrace_reader reader;
	struct blktrace_record head;
	uint32_t sequence; /* sequence number of the last event */
	bool has_head;
	uint32_t missing; /* events that were lost before head */
};

struct relay_merge {
	struct relay_stream *streams; /* owned */
	size_t nr, last;
	/* the stream of the last record may be used without comparing up to this time */
	uint64_t until_ns;
};

/* Prepares nr streams. Returns 0 or -ENOMEM. */
int relay_merge_init(struct relay_merge *m, size_t nr);
void relay_merge_release(struct relay_merge *m);
/*
 * Appends bytes to a stream. Returns 0, or -ENOMEM: these bytes are lost, and so are records that
 * lie partly in them.
 */
int relay_merge_put(struct relay_merge *m, size_t stream, const void *data, size_t len);
/*
 * Returns the next record before this time, or NULL where there is none. missing is set to the
 * number of events of its CPU that were lost before it. The record is valid until the next call.
 */
const struct blktrace_record *relay_merge_next(struct relay_merge *m, uint64_t before_ns,
					       uint32_t *missing);
/* Returns the reader that decoded the last record. */
const struct blktrace_reader *relay_merge_reader(const struct relay_merge *m);
/*
 * Frees the memory of records that were handed out. Call this after the last relay_merge_next() and
 * before the next put.
 */
void relay_merge_trim(struct relay_merge *m);
/*
 * Returns the number of positions at which a record was expected and none began, over all streams.
 */
uint64_t relay_merge_skipped(const struct relay_merge *m);

#endif
