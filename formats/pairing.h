/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing: takes block events in order of time and makes requests of them.
 *
 * It serves tracers that report events and not requests (blktrace, tracefs, traces of others). A
 * request begins with its first event (made, inserted or dispatched), grows by merges, survives
 * requeues and partial completions, and is handed over when its last part ends:
 *
 *	arrival    GETRQ; where the trace has none, INSERT; else REQUEST_NO_ARRIVAL
 *	dispatch   the first ISSUE
 *	completion the last COMPLETE. A write that needs a flush before or after itself has
 *		   ended only when the block layer ends it a second time, without bytes.
 *	issuer     the thread at GETRQ or INSERT
 *
 * The bio of an fsync (an empty write with PREFLUSH) is one request of OPERATION_FLUSH that is
 * never dispatched itself; the flushes that the block layer makes for it are not requests. Events
 * do not name their request: they are matched by device, sector and operation. The oldest request
 * matches first, and one of the same length before others.
 *
 * Where the same device, operation and range is dispatched a second time before the first dispatch
 * has ended, a completion ends the later dispatch. Two cases are possible. Either both are really
 * in flight (two processes read the same block): then the second completion ends the first
 * dispatch, and the sum of the response times is correct in either order. Or the completion of the
 * first was lost: then only the second ends, with its own response time, and the first is handed
 * over as a request whose end was not seen. Ending the oldest instead would give the second the
 * time since the lost one. A second dispatch without a GETRQ or INSERT of its own, in a trace that
 * has these events, is the same request: the driver handed it back without an event.
 *
 * With LAYER_QUEUE a bio begins at QUEUE and ends at COMPLETE, which may end several merged bios;
 * other events are ignored. This is for bio-based devices (device mapper, md).
 *
 * Memory is bounded: about 120 bytes for each of max_held, allocated at the start; a new device
 * takes 24 bytes more, and up to 64 in a map. When the table is full, the oldest request is handed
 * over as one whose end was not seen. Cost: O(1) expected per event. The result is deterministic.
 * For one thread.
 */
#ifndef FORMATS_PAIRING_H
#define FORMATS_PAIRING_H

#include <stddef.h>
#include <stdint.h>

#include "formats/block_event.h"
#include "formats/request.h"

#ifndef PAIRING_MAX_HELD
#define PAIRING_MAX_HELD 16384u /* more requests than any disk has in flight */
#endif

struct pairing;

struct pairing_config {
	size_t max_held; /* 0: PAIRING_MAX_HELD */
	uint8_t layer;	 /* enum request_layer */
	uint8_t source;	 /* enum request_source, copied into every request */
};

struct pairing_sink {
	/*
	 * A complete request except for queue_depth and cgroup_id (REQUEST_NO_CGROUP is set). pid
	 * is that of the event, or the tid where the event had none. A request whose end was not
	 * seen has REQUEST_NO_COMPLETION; its completion is the dispatch where that was seen after
	 * a known arrival, and otherwise all times are the arrival. begun_by is the kind of the
	 * first event that was seen of the request.
	 */
	void (*request)(void *ctx, const struct request *r, unsigned int begun_by);
	void *ctx;
};

/*
 * Every event and every request is counted here once. These equations always hold:
 *
 *	begun = requests + absorbed + held
 *	events[COMPLETE] + shared_ends =
 *		requests - no_end - unclosed + parts + flush_ends + idle_ends + late_ends
 *	events[ISSUE] = first_issues + reissues + flush_issues   (LAYER_DEVICE)
 */
struct pairing_counts {
	uint64_t events[NR_BLOCK_EVENTS]; /* events taken in */
	uint64_t begun;
	uint64_t requests; /* requests handed over; among these are: */
	uint64_t no_start; /* requests of which only the completion was seen */
	uint64_t no_end;   /* requests whose end was not seen */
	uint64_t evicted;  /* of these, those evicted because max_held were in flight */
	/* those ended by the end of their data, because the end of their flush was not seen */
	uint64_t unclosed;
	uint64_t absorbed;  /* requests that others absorbed */
	uint64_t held;	    /* requests in flight that were not handed over */
	uint64_t late_ends; /* ends of requests that were handed over before, as no_end */
	uint64_t first_issues, reissues, flush_issues;
	uint64_t parts;	      /* completions that were not the last of their request */
	uint64_t flush_ends;  /* completions of the block layer's own flushes */
	uint64_t idle_ends;   /* completions without bytes that ended no known request */
	uint64_t shared_ends; /* LAYER_QUEUE: bios that one completion ended or cut, minus one */
	uint64_t grown;	      /* bios put before or behind a request in flight */
	uint64_t requeues;
	/* merges and requeues of unknown requests, and growth to a size that no request has */
	uint64_t unmatched;
};

/* Returns 0, -EINVAL or -ENOMEM. */
int pairing_new(struct pairing **out, const struct pairing_config *config,
		const struct pairing_sink *sink);
void pairing_free(struct pairing *p);

/*
 * Adds an event. Events of one device come in order of time. Returns 0, or -ENOMEM where the device
 * is new; the event is then not counted.
 */
int pairing_add(struct pairing *p, const struct block_event *e);

/*
 * Notes that events of this device up to this time may be missing. Requests that began before it
 * are matched with later ends only where no other request fits.
 */
void pairing_gap(struct pairing *p, uint32_t device, uint64_t time_ns);

/*
 * Hands over the requests that began (or were last requeued) before this time and have not ended.
 * Call this when the device seems to have nothing older in flight, and with UINT64_MAX at the end
 * of a trace. A request that ends after all, within ten minutes of its beginning, is not handed
 * over again. device 0: all devices. O(held).
 */
void pairing_settle(struct pairing *p, uint32_t device, uint64_t before_ns);

/*
 * Hands over, as requests without an end, the writes of which all data have ended but not yet the
 * flush after them. Call this at the end of a recording that leaves out what is in flight. O(held).
 */
void pairing_tell_unclosed(struct pairing *p);

/*
 * Returns the number of requests of the device in flight; 0: of all devices. O(held) for one
 * device.
 */
size_t pairing_held(const struct pairing *p, uint32_t device);
/*
 * Returns the number of requests in flight that began before the last gap, so that their end may
 * never be reported. O(held).
 */
size_t pairing_doubtful(const struct pairing *p, uint32_t device);
/* Gives a copy of the present counts. */
void pairing_counts(const struct pairing *p, struct pairing_counts *out);

#endif
