/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: one block-layer request, in the form that every part of blkcast uses.
 *
 * Every source (bpf, blktrace, tracefs) and every importer fills this struct; windows, segments,
 * the store and the reports read it. A field that the source cannot know has no magic number: the
 * field is zero and a flag of enum request_flag says so.
 */
#ifndef FORMATS_REQUEST_H
#define FORMATS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#define SECTOR_BYTES 512u

/*
 * The largest values that a kernel can give to a request. request_check() refuses larger ones, so
 * that
 * no reader of a trace works longer, or wraps around, because of a number that a sender invented.
 */
/* 146 years on any clock, so the sum of two such times fits a signed 64-bit number. */
#define TRACE_TIME_MAX_NS (1ull << 62)
/* The first sector that no disk has: an offset on a disk is a loff_t, below 2^63 bytes. */
#define REQUEST_END_SECTOR_MAX (1ull << 54)
/*
 * One system call moves at most MAX_RW_COUNT bytes (include/linux/fs.h), which is INT_MAX cut to
 * whole pages. Drivers take far less: max_hw_sectors_kb, mostly 128 KiB to 32 MiB.
 */
#define REQUEST_MAX_DATA_BYTES 0x7ffff000u
/*
 * The bound for discards, zeroed ranges and all others: bi_size of struct bio is an unsigned int,
 * in whole sectors.
 */
#define REQUEST_MAX_BYTES 0xfffffe00u

/*
 * The operations that are counted separately. Only reads and writes have sizes, a mix and an access
 * pattern.
 */
enum operation {
	OPERATION_READ,
	OPERATION_WRITE,   /* includes zone append, because it moves data */
	OPERATION_DISCARD, /* includes secure erase */
	OPERATION_FLUSH,   /* a flush of its own; a write that asks for a flush is a write */
	OPERATION_OTHER,   /* write zeroes, zone management, passthrough, and unknown operations */
};
#define NR_OPERATIONS 5

enum request_source {
	SOURCE_UNKNOWN,
	SOURCE_BPF,
	SOURCE_BLKTRACE,
	SOURCE_TRACEFS,
	SOURCE_DISKSTATS, /* used in profiles only, never in a request */
	SOURCE_IMPORT,
};
#define NR_SOURCES 6

enum request_layer {
	LAYER_DEVICE, /* a request: dispatched to the driver and completed by it */
	LAYER_QUEUE,  /* a bio: submitted to the block device and ended */
};
#define NR_LAYERS 2

enum request_flag {
	REQUEST_SYNC = 1u << 0,
	REQUEST_META = 1u << 1,
	REQUEST_READAHEAD = 1u << 2,
	REQUEST_FUA = 1u << 3,
	REQUEST_PREFLUSH = 1u << 4,
	REQUEST_PASSTHROUGH = 1u << 5,
	REQUEST_KERNEL_THREAD = 1u << 6, /* submitted by a kernel thread, so it has no client */
	REQUEST_OWN = 1u << 7,		 /* made by the agent's own spool */
	REQUEST_ZONE_APPEND = 1u << 8,
	REQUEST_NO_ARRIVAL = 1u << 9,	/* the arrival is unknown; arrival_ns = dispatch_ns */
	REQUEST_NO_DISPATCH = 1u << 10, /* the dispatch is unknown; dispatch_ns = arrival_ns */
	/* the response time is unknown; completion_ns = dispatch_ns */
	REQUEST_NO_COMPLETION = 1u << 11,
	REQUEST_NO_ISSUER = 1u << 12, /* tid and pid are unknown and 0 */
	REQUEST_NO_CGROUP = 1u << 13, /* cgroup_id is unknown and 0 */
	/* it is unknown whether it read or wrote; operation = OPERATION_OTHER */
	REQUEST_NO_OPERATION = 1u << 14,
	/*
	 * It was in flight while the machine stood still and its clock went on; its times contain
	 * that pause.
	 */
	REQUEST_PAUSED = 1u << 15,
};
#define REQUEST_FLAGS_ALL 0xffffu

/*
 * Times are CLOCK_MONOTONIC nanoseconds of the host that recorded them:
 * arrival_ns <= dispatch_ns <= completion_ns. The segment anchors that clock to boot and wall time.
 */
struct request {
	uint64_t arrival_ns;	/* the request (device layer) or bio (queue layer) was queued */
	uint64_t dispatch_ns;	/* first handed to the driver; a requeue does not change it */
	uint64_t completion_ns; /* the last part ended */
	uint64_t sector;	/* first sector in units of SECTOR_BYTES; 0 where there is none */
	uint64_t cgroup_id;	/* kernfs id of the bio's block cgroup */
	uint32_t bytes;		/* whole length as dispatched, before the completion reduced it */
	uint32_t device;	/* number of the disk as the kernel has it: major << 20 | minor */
	uint32_t tid;		/* the thread that submitted it */
	uint32_t pid;		/* its process (thread group) */
	uint32_t flags;		/* flags of enum request_flag */
	/*
	 * Requests of the device in flight when this one arrived, without this one, as far as the
	 * agent's reorder bound could see.
	 */
	uint32_t queue_depth;
	uint16_t error;	   /* 0 or a positive errno */
	uint16_t requeues; /* how often the driver handed it back; at most 65535 */
	uint8_t operation; /* enum operation */
	uint8_t source;	   /* enum request_source */
	uint8_t layer;	   /* enum request_layer */
	uint8_t reserved;  /* always 0 */
};

/* Returns the number of sectors touched, rounded up. */
static inline uint64_t request_sectors(const struct request *r)
{
	return ((uint64_t)r->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

/*
 * Returns whether it read or wrote. Such requests have sizes and an access pattern, but the
 * direction may be unknown.
 */
static inline bool request_is_data(const struct request *r)
{
	return r->operation <= OPERATION_WRITE || r->flags & REQUEST_NO_OPERATION;
}

/*
 * Returns whether it is a read or write whose response time is unknown. Flushes and discards are
 * not counted: some sources never tell their times, and no share of a load's time hangs on them.
 */
static inline bool request_is_untimed(const struct request *r)
{
	return request_is_data(r) && r->flags & (REQUEST_NO_COMPLETION | REQUEST_NO_ARRIVAL);
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

/*
 * Reads a device from text such as "8:0", major and minor. Returns -EINVAL and leaves *device as it
 * is if the text is something else.
 */
int device_parse(const char *text, uint32_t *device);

/*
 * Returns "read", "write", "discard", "flush" or "other", or NULL outside of the enum. The strings
 * are static.
 */
const char *operation_name(unsigned int operation);
/*
 * Returns "unknown", "bpf", "blktrace", ..., or NULL outside of the enum. The strings are static.
 */
const char *source_name(unsigned int source);
/* Returns "device" or "queue", or NULL outside of the enum. The strings are static. */
const char *layer_name(unsigned int layer);

/*
 * Checks that every field is in range and the times are in order. Returns NULL, or a static string
 * that names the first field that is not.
 */
const char *request_check(const struct request *r);

#endif
