/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_trace: what importers of events (blktrace, blkparse) share: pairing, and which of several
 * stacked devices counts.
 *
 * One I/O through a device mapper or md device has events there and again on the disk below. It is
 * counted once:
 * - layer device: where it is a request, at the disk. A device without any event of a request
 *   (made, inserted, dispatched) is bio-based: what ends there is left out.
 * - layer queue: at the top. Bios that a traced device passed down are left out below: they begin
 *   where the last 64 remaps said.
 * Requests that were under way before the trace began are left out and counted.
 */
#ifndef FORMATS_EVENT_TRACE_H
#define FORMATS_EVENT_TRACE_H

#include "formats/block_event.h"
#include "formats/foreign/foreign.h"

struct event_trace;

/* By f->options->layer. 0, -ENOMEM, -EINVAL. */
int event_trace_new(struct event_trace **out, struct foreign *f);
void event_trace_free(struct event_trace *t);
/* Events in order of time. name: of the device, may be empty. 0, -ENOMEM, -ENFILE. */
int event_trace_add(struct event_trace *t, const struct block_event *e, struct text name);
/* The bio of a REMAP event came from another device: to be told before its own events below. */
int event_trace_remap(struct event_trace *t, uint32_t from_device, const struct block_event *e,
		      struct text name);
/* Events before this time may be missing on the device. */
void event_trace_gap(struct event_trace *t, uint32_t device, uint64_t time_ns);
/* The trace is at its end: hands over what has not ended, and fills f->note. */
void event_trace_end(struct event_trace *t);
/* Up to max of the requests that are ready; 0: none. */
size_t event_trace_take(struct event_trace *t, struct request *out, size_t max);
/* 0, or the -errno at which pairing's requests could not be kept. */
int event_trace_error(const struct event_trace *t);

#endif
