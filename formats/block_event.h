/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_event: one step in the life of a block request, as blktrace, tracefs and blkparse tell it.
 *
 * The letters are those of blkparse. What a tracer cannot know is 0; flags tell what it says.
 */
#ifndef FORMATS_BLOCK_EVENT_H
#define FORMATS_BLOCK_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

enum block_event_kind {
	BLOCK_OTHER,   /* plug, unplug, sleep, bounce, abort, zone plugs: no part in pairing */
	BLOCK_QUEUE,   /* Q: a bio was submitted */
	BLOCK_GETRQ,   /* G, and block_io_start: a request was made of a bio */
	BLOCK_INSERT,  /* I: a request entered a scheduler or software queue */
	BLOCK_ISSUE,   /* D: a request was handed to the driver */
	BLOCK_REQUEUE, /* R: the driver handed it back */
	BLOCK_BACKMERGE, /* M: a bio was put behind a request, or (since 5.9) a request was absorbed */
	BLOCK_FRONTMERGE, /* F: a bio was put before a request */
	BLOCK_RQ_MERGE,	  /* certainly a request that another absorbed (block_rq_merge) */
	BLOCK_COMPLETE,	  /* C: all or a part of a request, or of a bio, has ended */
	BLOCK_SPLIT,	  /* X */
	BLOCK_REMAP,	  /* A */
	BLOCK_DRIVER_DATA,
};
#define NR_BLOCK_EVENTS 13

struct block_event {
	uint64_t time_ns; /* of the tracer's clock */
	uint64_t sector;  /* units of SECTOR_BYTES; 0 where there is none */
	uint32_t bytes;	  /* COMPLETE: of the part that ended */
	uint32_t device;  /* as in struct request */
	uint32_t tid;	  /* thread that was running; 0: none, or unknown */
	uint32_t pid;	  /* its process; 0: unknown */
	uint32_t cpu;
	uint32_t flags;	   /* of enum request_flag: SYNC, META, READAHEAD, FUA, PREFLUSH,
			    * PASSTHROUGH, ZONE_APPEND */
	uint16_t error;	   /* 0 or a positive errno */
	uint8_t kind;	   /* enum block_event_kind */
	uint8_t operation; /* enum operation. FLUSH: one that the block layer makes itself; an fsync's
			    * bio is an empty WRITE with PREFLUSH */
};

/*
 * Fills operation and flags from the letters that tracefs and blkparse print ("R", "WFS", "FF",
 * "FN", "DE"); bytes must be set. Letters beyond the known are passed over. 0, or -EINVAL where
 * there is none that tells the operation; the event is untouched then.
 */
int block_event_rwbs(struct block_event *e, const char *rwbs, size_t len);

#endif
