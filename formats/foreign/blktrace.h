/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blktrace: the kernel's binary block trace: struct blk_io_trace (version 7, 48 bytes) and
 * blk_io_trace2 (version 8, 64 bytes, since Linux 6.19), each followed by up to 65535 bytes of its
 * own data.
 *
 * The relay files of a running trace, <dev>.blktrace.<cpu>, and the merged dump of blkparse -d hold
 * such records one after another. The byte order is that of the tracing machine; the first record
 * of a stream shows it. Source: include/uapi/linux/blktrace_api.h and kernel/trace/blktrace.c.
 *
 * Decoding allocates no memory and never reads beyond the given length.
 */
#ifndef FORMATS_FOREIGN_BLKTRACE_H
#define FORMATS_FOREIGN_BLKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/block_event.h"

#define BLKTRACE_V7_BYTES   48u
#define BLKTRACE_V8_BYTES   64u
#define BLKTRACE_MAX_BYTES  (BLKTRACE_V8_BYTES + 65535u) /* largest record with its data */
#define BLKTRACE_COMM_BYTES 16

enum blktrace_type {
	BLKTRACE_EVENT,	    /* event is filled; for DRIVER_DATA, data comes from the driver */
	BLKTRACE_PROCESS,   /* the thread event.tid has the name comm */
	BLKTRACE_TIMESTAMP, /* event.time_ns corresponds to the time of day real_ns */
	BLKTRACE_MESSAGE,   /* data is a text without an end mark */
	BLKTRACE_UNKNOWN,   /* a note or an action that is not known; it is counted */
};

struct blktrace_record {
	struct block_event event; /* time_ns is CLOCK_MONOTONIC of the tracing machine */
	uint8_t type;		  /* enum blktrace_type */
	uint8_t version;	  /* 7 or 8 */
	/* counts per CPU, 1 for the first event; undefined for notes (mostly 0) */
	uint32_t sequence;
	uint64_t cgroup_id; /* 0: unknown */
	/* borrowed; the data behind the record, without the id of the cgroup */
	const uint8_t *data;
	uint32_t data_bytes;
	char comm[BLKTRACE_COMM_BYTES]; /* PROCESS; always ends with 0 */
	uint64_t real_ns;		/* TIMESTAMP */
	uint32_t from_device,
		/* REMAP: the device from which the bio came, in the form of event.device */
		to_device;
	uint64_t from_sector; /* REMAP */
};

/* One stream of records. A zeroed struct begins a stream. */
struct blktrace_reader {
	/* is_swapped: the byte order differs from this machine's; valid once is_known is set */
	bool is_known, is_swapped;
	uint64_t records; /* decoded records of every type */
	uint64_t unknown; /* decoded records of type BLKTRACE_UNKNOWN */
	/* positions at which no record, or one of the other byte order, was found */
	uint64_t skipped;
	uint64_t skipped_bytes; /* bytes skipped in search of the next record */
};

/*
 * Decodes the record at the beginning of data, and skips bytes that belong to no record. Returns
 * the number of bytes used: with *found set, a record ends there; otherwise these bytes belong to
 * no record. Returns 0 where there are too few bytes to decide (len < BLKTRACE_MAX_BYTES); the
 * caller calls again with more bytes, or treats the rest as a truncated end.
 */
size_t blktrace_next(struct blktrace_reader *r, const uint8_t *data, size_t len,
		     struct blktrace_record *out, bool *found);

/* Returns whether data begins like a blktrace file. Needs 4 bytes. */
bool blktrace_is(const uint8_t *data, size_t len);

/*
 * Returns how many events are missing before the one with this sequence number on its CPU. *last is
 * the number of the stream's last event, 0 at the beginning, and is updated. Notes must not be
 * passed. A number that is not within 2^31 behind the last one begins a new count, and 0 is
 * returned.
 */
uint32_t blktrace_missing(uint32_t *last, uint32_t sequence);

/*
 * The report of the driver zfcp (FCP on IBM Z) about each completed SCSI command: struct
 * zfcp_blk_drv_data of drivers/s390/scsi/zfcp_fsf.h, packed, in the byte order of its machine.
 */
struct blktrace_zfcp {
	bool has_latency, is_error;
	uint8_t inb_usage, outb_usage; /* use of the buffers of the inbound and outbound queue */
	/* time in the adapter's channel, and in the storage network and the storage behind it */
	uint64_t channel_ns, fabric_ns;
};

/* Returns 0, or -EBADMSG where the DRIVER_DATA comes from another driver. */
int blktrace_zfcp(const struct blktrace_reader *r, const struct blktrace_record *record,
		  struct blktrace_zfcp *out);

#endif
