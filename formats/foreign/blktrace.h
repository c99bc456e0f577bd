/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blktrace: the kernel's binary block trace, struct blk_io_trace (version 7, 48 bytes) and
 * blk_io_trace2 (version 8, 64 bytes, since 6.19), each followed by up to 65535 bytes of its own.
 *
 * The relay files of a running trace, <dev>.blktrace.<cpu>, and the merged dump of blkparse -d all
 * hold such records one after another. Byte order is the tracing machine's: the first record of a
 * stream tells it. Source: include/uapi/linux/blktrace_api.h and kernel/trace/blktrace.c.
 *
 * Decoding allocates nothing and reads no further than it is told.
 */
#ifndef FORMATS_FOREIGN_BLKTRACE_H
#define FORMATS_FOREIGN_BLKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/block_event.h"

#define BLKTRACE_V7_BYTES   48u
#define BLKTRACE_V8_BYTES   64u
#define BLKTRACE_MAX_BYTES  (BLKTRACE_V8_BYTES + 65535u) /* of one record with its data */
#define BLKTRACE_COMM_BYTES 16

enum blktrace_type {
	BLKTRACE_EVENT,	    /* event is filled; for DRIVER_DATA data is the driver's */
	BLKTRACE_PROCESS,   /* event.tid is called comm */
	BLKTRACE_TIMESTAMP, /* event.time_ns was real_ns of wall time */
	BLKTRACE_MESSAGE,   /* data is a text without end mark */
	BLKTRACE_UNKNOWN,   /* a note or an action not known; counted */
};

struct blktrace_record {
	struct block_event event; /* time_ns: CLOCK_MONOTONIC of the tracing machine */
	uint8_t type;		  /* enum blktrace_type */
	uint8_t version;	  /* 7 or 8 */
	uint32_t sequence;	  /* per CPU, 1 for the first event; not that of notes (mostly 0) */
	uint64_t cgroup_id;	  /* 0: not told */
	const uint8_t *data;	  /* borrowed; what follows the record, without the cgroup's id */
	uint32_t data_bytes;
	char comm[BLKTRACE_COMM_BYTES]; /* PROCESS; always ends with 0 */
	uint64_t real_ns;		/* TIMESTAMP */
	uint32_t from_device,
		to_device;    /* REMAP: where it came from, event.device as the trace's */
	uint64_t from_sector; /* REMAP */
};

/* One stream of records. A zeroed struct begins one. */
struct blktrace_reader {
	bool is_known, is_swapped; /* byte order against this machine's, once known */
	uint64_t records;	   /* decoded, of every type */
	uint64_t unknown;	   /* of these, BLKTRACE_UNKNOWN */
	uint64_t skipped;	/* places where no record began, or one of the other byte order */
	uint64_t skipped_bytes; /* passed over to find the next */
};

/*
 * Decodes the record at the beginning of data, passing over what is none. Returns the bytes used:
 * with *found a record that ends there, else all that can be told to be none. 0: too few bytes to
 * tell, len < BLKTRACE_MAX_BYTES; come again with more, or call it a truncated end.
 */
size_t blktrace_next(struct blktrace_reader *r, const uint8_t *data, size_t len,
		     struct blktrace_record *out, bool *found);

/* Whether data begins like a blktrace file. Needs 4 bytes. */
bool blktrace_is(const uint8_t *data, size_t len);

/*
 * Events missing before one of this sequence number on its CPU. *last: of the stream's last event, 0
 * at its beginning; updated. Notes must not be given. A number that does not lie behind the last by
 * less than 2^31 begins anew: 0 missing.
 */
uint32_t blktrace_missing(uint32_t *last, uint32_t sequence);

/*
 * What zfcp (FCP on IBM Z) hands over with each SCSI command that ended: struct zfcp_blk_drv_data of
 * drivers/s390/scsi/zfcp_fsf.h, packed, in the byte order of its machine.
 */
struct blktrace_zfcp {
	bool has_latency, is_error;
	uint8_t inb_usage, outb_usage;	/* of the queue's buffers */
	uint64_t channel_ns, fabric_ns; /* in the adapter; in the storage network and behind */
};

/* 0, or -EBADMSG: DRIVER_DATA of another driver. */
int blktrace_zfcp(const struct blktrace_reader *r, const struct blktrace_record *record,
		  struct blktrace_zfcp *out);

#endif
