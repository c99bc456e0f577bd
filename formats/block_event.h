/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_event: one step in the life of a block request, as blktrace, tracefs and blkparse report
 * it.
 *
 * The letters are those of blkparse. A value that a tracer cannot know is 0; flags say what is
 * unknown.
 */
#ifndef FORMATS_BLOCK_EVENT_H
#define FORMATS_BLOCK_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

enum block_event_kind {
	BLOCK_OTHER,   /* plug, unplug, sleep, bounce, abort, zone plugs: not used in pairing */
	BLOCK_QUEUE,   /* Q: a bio was submitted */
	BLOCK_GETRQ,   /* G, and block_io_start: a request was made from a bio */
	BLOCK_INSERT,  /* I: a request entered a scheduler or software queue */
	BLOCK_ISSUE,   /* D: a request was handed to the driver */
	BLOCK_REQUEUE, /* R: the driver handed the request back */
	/* M: a bio was appended to a request, or (since Linux 5.9) a request was absorbed */
	BLOCK_BACKMERGE,
	BLOCK_FRONTMERGE, /* F: a bio was put in front of a request */
	BLOCK_RQ_MERGE,	  /* another request absorbed this request for certain (block_rq_merge) */
	BLOCK_COMPLETE,	  /* C: all or a part of a request, or of a bio, has ended */
	BLOCK_SPLIT,	  /* X */
	BLOCK_REMAP,	  /* A */
	BLOCK_DRIVER_DATA,
};
#define NR_BLOCK_EVENTS 13

struct block_event {
	uint64_t time_ns; /* time on the tracer's clock */
	uint64_t sector;  /* units of SECTOR_BYTES; 0 where there is none */
	uint32_t bytes;	  /* COMPLETE: length of the part that ended */
	uint32_t device;  /* as in struct request */
	uint32_t tid;	  /* the thread that was running; 0: none or unknown */
	uint32_t pid;	  /* the thread's process; 0: unknown */
	uint32_t cpu;
	/*
	 * flags of enum request_flag: SYNC, META, READAHEAD, FUA, PREFLUSH, PASSTHROUGH,
	 * ZONE_APPEND
	 */
	uint32_t flags;
	uint16_t error; /* 0 or a positive errno */
	uint8_t kind;	/* enum block_event_kind */
	/*
	 * enum operation. FLUSH is a flush that the block layer makes itself; the bio of an fsync
	 * is an empty WRITE with PREFLUSH.
	 */
	uint8_t operation;
};

/*
 * Fills operation and flags from the letters that tracefs and blkparse print ("R", "WFS", "FF",
 * "FN", "DE"); bytes must be set before. Unknown letters are skipped. Returns 0, or -EINVAL where
 * no letter names the operation; the event is then untouched.
 */
int block_event_rwbs(struct block_event *e, const char *rwbs, size_t len);

/*
 * Returns whether a kernel can have written these numbers, that is, whether a segment would accept
 * such a request.
 */
bool block_event_is_possible(const struct block_event *e);

#endif
