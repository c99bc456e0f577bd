/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing: block events in order of time in, requests out.
 *
 * For tracers that tell events and not requests (blktrace, tracefs, other people's traces). A
 * request begins with the first event that tells of it (made, inserted, dispatched), takes in
 * merges, survives requeues and partial completions, and is handed over when its last part ends:
 *
 *	arrival    GETRQ; where the trace has none, INSERT; else REQUEST_NO_ARRIVAL
 *	dispatch   the first ISSUE
 *	completion the last COMPLETE. A write that needs a flush before or after itself has ended only
 *		   when the block layer ends it a second time, with no bytes.
 *	issuer     the thread at GETRQ or INSERT
 *
 * An fsync's bio (an empty write with PREFLUSH) is one request of OPERATION_FLUSH, never
 * dispatched itself; the flushes that the block layer makes for it are none.
 * Events carry no name of their request: they are matched by device, sector and operation, the
 * oldest first, one of the same length before others.
 *
 * Where one device, operation and range is dispatched a second time before the first dispatch has
 * ended, a completion ends the dispatch that came last. Either both are really under way (two
 * processes read the same block): then the second completion ends the first dispatch, and the sum
 * of the response times is right whichever ends first. Or the completion of the first was lost:
 * then only the second ends, with its own response time, and the first is handed over as one whose
 * end was not seen. Taking the oldest would give the second the time since the lost one.
 * A second dispatch without a GETRQ or INSERT of its own, in a trace that tells these, is the same
 * request, handed back by the driver without an event.
 *
 * With LAYER_QUEUE a bio begins at QUEUE and ends at COMPLETE, which may end several that were
 * merged; other events tell nothing. For bio-based devices (device mapper, md).
 *
 * Bounded memory: about 120 bytes for each of max_held, allocated at the start; a device not seen
 * before takes 24 more, and up to 64 in a map. When full, the oldest is handed over as one whose end was not seen.
 * Cost: O(1) per event, expected. Deterministic. One thread.
 */
#ifndef FORMATS_PAIRING_H
#define FORMATS_PAIRING_H

#include <stddef.h>
#include <stdint.h>

#include "formats/block_event.h"
#include "formats/request.h"

#ifndef PAIRING_MAX_HELD
#define PAIRING_MAX_HELD 16384u /* more than any disk has under way */
#endif

struct pairing;

struct pairing_config {
	size_t max_held; /* 0: PAIRING_MAX_HELD */
	uint8_t layer;	 /* enum request_layer */
	uint8_t source;	 /* enum request_source, copied into every request */
};

struct pairing_sink {
	/*
	 * A request, complete but for queue_depth and cgroup_id (REQUEST_NO_CGROUP is set). pid is
	 * that of the event, or where it had none the tid. Those whose end was not seen have
	 * REQUEST_NO_COMPLETION; their completion is set to the dispatch where that was seen behind a
	 * known arrival, and otherwise all times are that of arrival. begun_by: enum block_event_kind,
	 * the first event seen of the request.
	 */
	void (*request)(void *ctx, const struct request *r, unsigned int begun_by);
	void *ctx;
};

/*
 * Every event and every request is in here once. What always holds:
 *	begun = requests + absorbed + held
 *	events[COMPLETE] + shared_ends =
 *		requests - no_end - unclosed + parts + flush_ends + idle_ends + late_ends
 *	events[ISSUE] = first_issues + reissues + flush_issues   (LAYER_DEVICE)
 */
struct pairing_counts {
	uint64_t events[NR_BLOCK_EVENTS]; /* in */
	uint64_t begun;
	uint64_t requests;  /* handed over; of these */
	uint64_t no_start;  /*   begun by their own completion: nothing seen before it */
	uint64_t no_end;    /*   whose end was not seen */
	uint64_t evicted;   /*   of those, because max_held were under way */
	uint64_t unclosed;  /*   ended by their data's end: the flush's own was not seen */
	uint64_t absorbed;  /* requests that others took in */
	uint64_t held;	    /* and not handed over */
	uint64_t late_ends; /* of requests handed over as no_end before */
	uint64_t first_issues, reissues, flush_issues;
	uint64_t parts;	      /* completions that were not the last */
	uint64_t flush_ends;  /* completions of the block layer's own flushes */
	uint64_t idle_ends;   /* completions without bytes that ended nothing known */
	uint64_t shared_ends; /* LAYER_QUEUE: bios that one completion ended or cut, less one */
	uint64_t grown;	      /* bios put before or behind a request under way */
	uint64_t requeues;
	uint64_t unmatched; /* merges and requeues of nothing known */
};

/* 0, -EINVAL, -ENOMEM. */
int pairing_new(struct pairing **out, const struct pairing_config *config,
		const struct pairing_sink *sink);
void pairing_free(struct pairing *p);

/* Events of one device in order of time. 0, or -ENOMEM: a device not seen before; not counted. */
int pairing_add(struct pairing *p, const struct block_event *e);

/*
 * Events of this device up to this time may be missing. Requests that began before are no longer
 * taken for those whose end is told later, as long as there are others.
 */
void pairing_gap(struct pairing *p, uint32_t device, uint64_t time_ns);

/*
 * Hands over what began (or was last requeued) before this time and has not ended: when the device seems
 * to have nothing older under way, and with UINT64_MAX at the end of a trace. What ends after all, within
 * ten minutes of its beginning, is not handed over again. device 0: all. O(held).
 */
void pairing_settle(struct pairing *p, uint32_t device, uint64_t before_ns);

/* Requests of the device under way; 0: of all. O(held) for one device. */
size_t pairing_held(const struct pairing *p, uint32_t device);
/* Of those, which began before the last gap: their end may never be told. O(held). */
size_t pairing_doubtful(const struct pairing *p, uint32_t device);
/* As they stand now. */
void pairing_counts(const struct pairing *p, struct pairing_counts *out);

#endif
