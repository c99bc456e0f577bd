/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_trace: the code that the importers of events (blktrace, blkparse) share: pairing, and the
 * choice of the device that counts among several stacked ones.
 *
 * One I/O through a device mapper or md device causes events at that device and again at the disk
 * below. It is counted once:
 * - layer device: at the disk, where it is a request. A device without any event of a request
 *   (made, inserted, dispatched) is bio-based, and what ends there is left out.
 * - layer queue: at the top. Bios that a traced device passed down are left out below; they are
 *   recognized by the last 64 remaps.
 * Requests that were in flight before the trace began are left out and counted.
 */
#ifndef FORMATS_EVENT_TRACE_H
#define FORMATS_EVENT_TRACE_H

#include "formats/block_event.h"
#include "formats/foreign/foreign.h"

struct event_trace;

/* The layer is that of f->options->layer. Returns 0, -ENOMEM or -EINVAL. */
int event_trace_new(struct event_trace **out, struct foreign *f);
void event_trace_free(struct event_trace *t);
/*
 * Adds an event; events come in order of time. name is that of the device and may be empty. Returns
 * 0, -ENOMEM or -ENFILE.
 */
int event_trace_add(struct event_trace *t, const struct block_event *e, struct text name);
/*
 * Notes that the bio of a REMAP event came from another device. Call this before the bio's own
 * events at the lower device.
 */
int event_trace_remap(struct event_trace *t, uint32_t from_device, const struct block_event *e,
		      struct text name);
/* Notes that events before this time may be missing on the device. */
void event_trace_gap(struct event_trace *t, uint32_t device, uint64_t time_ns);
/* Ends the trace: hands over the requests that have not ended, and fills f->note. */
void event_trace_end(struct event_trace *t);
/* Returns up to max requests that are ready; 0: there are none. */
size_t event_trace_take(struct event_trace *t, struct request *out, size_t max);
/* Returns 0, or the -errno with which a request of the pairing could not be kept. */
int event_trace_error(const struct event_trace *t);

#endif
