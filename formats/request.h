/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: one block-layer request, as every part of blkcast sees it.
 *
 * Every source (bpf, blktrace, tracefs) and every importer fills this struct; windows, segments,
 * the store and the reports read it. A field that the source cannot know is not a magic number
 * but a flag of enum request_flag, and zero in the field.
 */
#ifndef FORMATS_REQUEST_H
#define FORMATS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#define SECTOR_BYTES 512u

/*
 * The largest values that a kernel can give to a request. request_check() refuses larger ones, so that
 * no reader of a trace works longer, or wraps around, because of a number that a sender invented.
 */
/* 146 years on any clock: sums of two such times fit a signed 64-bit number. */
#define TRACE_TIME_MAX_NS (1ull << 62)
/* The first sector that no disk has: a position on a disk is a loff_t, below 2^63 bytes. */
#define REQUEST_END_SECTOR_MAX (1ull << 54)
/* One system call moves at most MAX_RW_COUNT bytes (include/linux/fs.h), INT_MAX cut to whole pages.
 * Drivers take far less: max_hw_sectors_kb, mostly 128 KiB to 32 MiB. */
#define REQUEST_MAX_DATA_BYTES 0x7ffff000u
/* Discards, zeroed ranges and all else: bi_size of struct bio is an unsigned int, in whole sectors. */
#define REQUEST_MAX_BYTES 0xfffffe00u

/* What is counted apart. Reads and writes alone have sizes, mix and access pattern. */
enum operation {
	OPERATION_READ,
	OPERATION_WRITE,   /* zone append included: it moves data */
	OPERATION_DISCARD, /* secure erase included */
	OPERATION_FLUSH,   /* a flush of its own; a write that asks for one is a write */
	OPERATION_OTHER,   /* write zeroes, zone management, passthrough; and what is not known */
};
#define NR_OPERATIONS 5

enum request_source {
	SOURCE_UNKNOWN,
	SOURCE_BPF,
	SOURCE_BLKTRACE,
	SOURCE_TRACEFS,
	SOURCE_DISKSTATS, /* never a request's: profiles only */
	SOURCE_IMPORT,
};
#define NR_SOURCES 6

enum request_layer {
	LAYER_DEVICE, /* a request: dispatched to the driver, completed by it */
	LAYER_QUEUE,  /* a bio: submitted to the block device, ended */
};
#define NR_LAYERS 2

enum request_flag {
	REQUEST_SYNC = 1u << 0,
	REQUEST_META = 1u << 1,
	REQUEST_READAHEAD = 1u << 2,
	REQUEST_FUA = 1u << 3,
	REQUEST_PREFLUSH = 1u << 4,
	REQUEST_PASSTHROUGH = 1u << 5,
	REQUEST_KERNEL_THREAD = 1u << 6, /* submitted by a kernel thread: no client */
	REQUEST_OWN = 1u << 7,		 /* the agent's own spool */
	REQUEST_ZONE_APPEND = 1u << 8,
	REQUEST_NO_ARRIVAL = 1u << 9,	  /* arrival unknown; arrival_ns = dispatch_ns */
	REQUEST_NO_DISPATCH = 1u << 10,	  /* dispatch unknown; dispatch_ns = arrival_ns */
	REQUEST_NO_COMPLETION = 1u << 11, /* response time unknown; completion_ns = dispatch_ns */
	REQUEST_NO_ISSUER = 1u << 12,	  /* tid and pid unknown, 0 */
	REQUEST_NO_CGROUP = 1u << 13,	  /* cgroup_id unknown, 0 */
	REQUEST_NO_OPERATION = 1u << 14,  /* it read or wrote, but it is not known which:
					   * operation = OPERATION_OTHER */
	REQUEST_PAUSED = 1u << 15,	  /* under way while the machine did not run, and its clock
					   * went on: that time is in its own */
};
#define REQUEST_FLAGS_ALL 0xffffu

/*
 * Times are CLOCK_MONOTONIC nanoseconds of the host that recorded them:
 * arrival_ns <= dispatch_ns <= completion_ns. The segment anchors that clock to boot and wall time.
 */
struct request {
	uint64_t arrival_ns;	/* the request (device layer) or bio (queue layer) was queued */
	uint64_t dispatch_ns;	/* first handed to the driver; a requeue does not move it */
	uint64_t completion_ns; /* the last part ended */
	uint64_t sector;	/* first sector, units of SECTOR_BYTES; 0 where there is none */
	uint64_t cgroup_id;	/* kernfs id of the bio's block cgroup */
	uint32_t bytes;		/* whole length as dispatched, before completion consumed it */
	uint32_t device;	/* major << 20 | minor of the disk, as the kernel numbers it */
	uint32_t tid;		/* thread that submitted it */
	uint32_t pid;		/* its process (thread group) */
	uint32_t flags;		/* enum request_flag */
	uint32_t queue_depth;	/* requests of the device under way when this one arrived, itself
				 * not counted; as far as the reorder bound of the agent saw */
	uint16_t error;		/* 0 or a positive errno */
	uint16_t requeues;	/* times the driver handed it back; stays at 65535 */
	uint8_t operation;	/* enum operation */
	uint8_t source;		/* enum request_source */
	uint8_t layer;		/* enum request_layer */
	uint8_t reserved;	/* 0 */
};

/* Sectors touched, rounded up. */
static inline uint64_t request_sectors(const struct request *r)
{
	return ((uint64_t)r->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

/* Read or wrote: has sizes and an access pattern, though not always a direction. */
static inline bool request_is_data(const struct request *r)
{
	return r->operation <= OPERATION_WRITE || r->flags & REQUEST_NO_OPERATION;
}

#define DEVICE_MINOR_BITS 20
static inline uint32_t device_make(uint32_t major, uint32_t minor)
{
	return major << DEVICE_MINOR_BITS | minor;
}
static inline uint32_t device_major(uint32_t device)
{
	return device >> DEVICE_MINOR_BITS;
}
static inline uint32_t device_minor(uint32_t device)
{
	return device & ((1u << DEVICE_MINOR_BITS) - 1);
}

/* "read", "write", "discard", "flush", "other"; NULL outside the enum. Static strings. */
const char *operation_name(unsigned int operation);
/* "unknown", "bpf", "blktrace", ...; NULL outside the enum. Static strings. */
const char *source_name(unsigned int source);
/* "device", "queue"; NULL outside the enum. Static strings. */
const char *layer_name(unsigned int layer);

/*
 * Whether every field is in range and the times are in order. Returns NULL, or a static
 * string naming the first field that is not.
 */
const char *request_check(const struct request *r);

#endif
