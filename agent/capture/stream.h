/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: requests, losses and profiles into segments, and segments to the sender.
 *
 * A segment is closed at STREAM_SEGMENT_REQUESTS, when its interval is over, and at the end; one
 * without requests, profiles and losses only once in heartbeat_ns, so that an idle time is known
 * to have been watched. Used by the capture thread alone; never blocks.
 */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "agent/send/sender.h"
#include "base/buf.h"
#include "formats/hide/pseudonym.h"
#include "formats/request.h"
#include "formats/segment/segment.h"

/* Half of what a segment may hold: the same bytes a request within 0.1, in half the memory. */
#define STREAM_SEGMENT_REQUESTS (SEGMENT_MAX_REQUESTS / 2)

struct stream;

struct stream_config {
	const char *host, *boot_id;	 /* borrowed for the stream's life, as all pointers here */
	const struct pseudonym_key *key; /* hides names of processes and cgroups; NULL: none */
	uint8_t source, layer;
	uint64_t epoch;
	uint64_t interval_ns, heartbeat_ns;
	struct sender *sender;
	struct log *log;
};

/* 0, -ENOMEM. */
int stream_new(struct stream **out, const struct stream_config *config);
/* Drops what is not closed. NULL is legal. */
void stream_free(struct stream *s);

/* The devices that segments name from now on; a copy is taken. -ENOMEM: the old ones stay. */
int stream_set_devices(struct stream *s, const struct segment_device *devices, size_t nr);
/* Appends requests; closes segments as they fill. What it cannot take is counted as lost. */
void stream_add(struct stream *s, const struct request *r, size_t nr);
/* The source delivered so many more. */
void stream_captured(struct stream *s, uint64_t nr);
/* The source, or the pipeline, lost some. */
void stream_lost(struct stream *s, const struct loss *loss);
/* There was a pause in the running segment: it says so. */
void stream_note_pause(struct stream *s, const struct loss *pause);
/* The same of a pause between two instants: the segment ends at the first, the next begins at the
 * second, so that each has times of day by a clock that stood as it says. */
void stream_pause(struct stream *s, const struct loss *pause, const struct clock_anchor *from,
		  const struct clock_anchor *to);
/*
 * What follows is another life of this machine's stream, whose names nobody else has used: epochs of
 * segments from the next one on are this. -EOPNOTSUPP where a sink files segments by the names that
 * the account knows.
 */
int stream_begin_life(struct stream *s, uint64_t epoch);
/* A window's profile: takes the text over. */
void stream_profile(struct stream *s, struct buf *json);
/* A thread's name, as the source met it. */
void stream_task(struct stream *s, uint32_t tid, uint32_t pid, const char *comm);
/* Processes that did I/O lately; thread-safe. */
size_t stream_pids(struct stream *s, uint32_t *out, size_t max);

/* Closes the segment where its time has come. */
void stream_tick(struct stream *s, uint64_t now_ns);
/* Closes it now. */
void stream_close_segment(struct stream *s);

/* CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME, read together. */
struct clock_anchor stream_anchor(void);

#endif
