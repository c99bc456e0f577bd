/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: puts requests, losses and profiles into segments and hands finished segments to the
 * sender.
 *
 * A segment is closed when it holds STREAM_SEGMENT_REQUESTS requests, when its interval is over,
 * and at the end of the run. An empty segment is closed only every heartbeat_ns; it proves that the
 * agent watched although nothing happened. Only the capture thread uses a stream, and no call waits
 * for disk or network.
 */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "agent/send/sender.h"
#include "base/memory/buf.h"
#include "base/system/log.h"
#include "formats/hide/pseudonym.h"
#include "formats/request.h"
#include "formats/segment/segment.h"

/*
 * Half of the requests that a segment may hold. The smaller segments cost at most 0.1 byte more per
 * request and save half the memory.
 */
#define STREAM_SEGMENT_REQUESTS (SEGMENT_MAX_REQUESTS / 2)

struct stream;

struct stream_config {
	const char *host, *boot_id;	 /* all pointers here are borrowed for the stream's life */
	const struct pseudonym_key *key; /* hides names of processes and cgroups; NULL: none */
	uint8_t source, layer;
	uint64_t epoch;
	uint64_t interval_ns, heartbeat_ns;
	struct sender *sender;
	struct log *log;
};

/* Returns 0 or -ENOMEM. */
int stream_new(struct stream **out, const struct stream_config *config);
/* Drops the segment that is not closed. NULL is legal. */
void stream_free(struct stream *s);

/*
 * Sets the devices that segments name from now on; the array is copied. On -ENOMEM the old ones
 * stay.
 */
int stream_set_devices(struct stream *s, const struct segment_device *devices, size_t nr);
/*
 * Appends requests and closes segments as they fill. A request that cannot be added is counted as
 * lost.
 */
void stream_add(struct stream *s, const struct request *r, size_t nr);
/* Adds to the number of requests that the source delivered during the running segment. */
void stream_captured(struct stream *s, uint64_t nr);
/* Gives back the memory that earlier, larger segments made resident; the running one stays. */
void stream_give_back(struct stream *s);
/* Notes a loss of the source or of the pipeline in the running segment. */
void stream_lost(struct stream *s, const struct loss *loss);
/* Notes in the running segment that there was a pause. */
void stream_note_pause(struct stream *s, const struct loss *pause);
/*
 * Notes a pause between two instants, ends the running segment at the first and begins the next one
 * at the second. Each segment can then convert its times to times of day by its own pair of clocks.
 */
void stream_pause(struct stream *s, const struct loss *pause, const struct clock_anchor *from,
		  const struct clock_anchor *to);
/*
 * Gives the following segments another epoch, because this machine goes on from a snapshot and
 * another copy of it may use the same names. Returns -EOPNOTSUPP where a sink stores segments under
 * the names that the account knows.
 */
int stream_begin_life(struct stream *s, uint64_t epoch);
/* Adds a copy of a window's profile, which is text without a NUL. Returns 0 or -ENOMEM. */
int stream_profile(struct stream *s, const struct buf *json);
/* Notes the name of a thread. */
void stream_task(struct stream *s, uint32_t tid, uint32_t pid, const char *comm);
/* Fills out with processes that did I/O in the last segment, and returns how many. Thread-safe. */
size_t stream_pids(struct stream *s, uint32_t *out, size_t max);

/* Closes the running segment where its interval, or the heartbeat, is over. */
void stream_tick(struct stream *s, uint64_t now_ns);
/* Closes the running segment now. */
void stream_close_segment(struct stream *s);

/*
 * Reads CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME within a millisecond of each other, if
 * possible.
 */
struct clock_anchor stream_anchor(void);

#endif
