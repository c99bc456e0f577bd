/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_block: records of the kernel's block events to block events, by what their `format` files
 * say on this machine. Which events are wanted depends on the layer:
 *
 *	device	a request made (block_getrq, or block_io_start), merged, dispatched, handed back, ended
 *	queue	a bio queued and ended; on disks with requests its end is told by theirs
 */
#ifndef AGENT_TRACE_BLOCK_H
#define AGENT_TRACE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/source/trace_format.h"
#include "agent/source/trace_page.h"
#include "formats/block_event.h"
#include "base/err.h"

#define TRACE_BLOCK_EVENTS 8
#define TRACE_COMM_BYTES   16

/* What is needed of one event; a field that it has not has size 0. */
struct trace_block_event {
	const char *name; /* "block_rq_issue"; static */
	uint16_t id;
	uint8_t kind; /* enum block_event_kind */
	struct trace_field tid, device, sector, nr_sector, bytes, error, rwbs, comm;
};

struct trace_block {
	struct trace_block_event events[TRACE_BLOCK_EVENTS];
	size_t nr;
	struct trace_field type; /* common_type: the same place in all */
	bool is_big_endian;
};

/*
 * Reads the formats of the layer's events. load gives an event's format text, or NULL where this
 * kernel has no such event; it stays the callee's and is valid until the next call. 0; -ENODATA:
 * the kernel lacks an event without which nothing can be paired; -EINVAL: a format that lacks a
 * field. One line in err.
 */
int trace_block_init(struct trace_block *b, uint8_t layer,
		     const char *(*load)(void *ctx, const char *event), void *ctx, struct err *err);

/*
 * 1: out is filled but for pid and cpu, and comm with the running thread's name, or "" where the
 * event has none. 0: not one of these events. -EBADMSG: a record that makes no sense.
 */
int trace_block_decode(const struct trace_block *b, const struct trace_record *r,
		       struct block_event *out, char comm[TRACE_COMM_BYTES]);

#endif
