/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_block: decodes records of the kernel's block events into block events, as the `format`
 * files of this machine describe them. Which events are used depends on the layer:
 *
 *         device  a request is made (block_getrq, or block_io_start), merged, dispatched, requeued,
 *  completed
 *         queue   a bio is queued and completed; on disks with requests the events of requests show
 *  its end
 */
#ifndef AGENT_TRACE_BLOCK_H
#define AGENT_TRACE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/source/tracefs/trace_format.h"
#include "agent/source/tracefs/trace_page.h"
#include "base/text/err.h"
#include "formats/block_event.h"

#define TRACE_BLOCK_EVENTS 8
#define TRACE_COMM_BYTES   16

/* The fields of one event that are used. A field that the event does not have has size 0. */
struct trace_block_event {
	const char *name; /* name of the event, such as "block_rq_issue"; static memory */
	uint16_t id;
	uint8_t kind; /* enum block_event_kind */
	struct trace_field tid, device, sector, nr_sector, bytes, error, rwbs, comm;
};

struct trace_block {
	struct trace_block_event events[TRACE_BLOCK_EVENTS];
	size_t nr;
	/* field common_type, which lies at the same offset in all events */
	struct trace_field type;
	bool is_big_endian;
};

/*
 * Reads the formats of the layer's events. load returns the format text of an event, or NULL where
 * this kernel has no such event; the text stays with load and must be valid until its next call.
 * Returns 0; -ENODATA: the kernel lacks an event that pairing needs; -EINVAL: a format lacks a
 * field. err holds one line.
 */
int trace_block_init(struct trace_block *b, uint8_t layer,
		     const char *(*load)(void *ctx, const char *event), void *ctx, struct err *err);

/*
 * Decodes one record. Returns 1: out is filled except for pid and cpu, and comm holds the running
 * thread's name, or "" if the event has none; 0: the record is none of these events; -EBADMSG: the
 * record makes no sense.
 */
int trace_block_decode(const struct trace_block *b, const struct trace_record *r,
		       struct block_event *out, char comm[TRACE_COMM_BYTES]);

#endif
