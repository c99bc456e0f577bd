/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_header: the prefix and the msgpack map of a segment, for segment_write.c and
 * segment_read.c. formats/segment/segment.md is the normative text.
 */
#ifndef FORMATS_SEGMENT_HEADER_H
#define FORMATS_SEGMENT_HEADER_H

#include <zstd.h>

#include "formats/segment/segment.h"

#define SEGMENT_MAGIC \
	"\x89"        \
	"blkseg\n"
#define SEGMENT_MAGIC_BYTES  8
#define SEGMENT_PREFIX_BYTES 24 /* magic, version, length, checksum */

/* What a reader takes; a writer refuses to exceed it (-E2BIG). */
#define SEGMENT_MAX_HEADER_BYTES  (4u << 20)
#define SEGMENT_MAX_PROCESSES	  65536u
#define SEGMENT_MAX_CGROUPS	  16384u
#define SEGMENT_MAX_LOSSES	  2048u
#define SEGMENT_MAX_PROFILES	  4096u
#define SEGMENT_MAX_PROFILE_BYTES (16u << 20)  /* all texts together */
#define SEGMENT_MAX_COUNT	  (1ull << 53) /* of requests captured or lost: sums of 1024 fit */
#define SEGMENT_MAX_DEVICE_BYTES  (1ull << 63) /* a position on a disk is a loff_t */

/* The columns, in the order of the body. */
enum segment_column {
	COLUMN_KIND,   /* device, operation, flags, error, requeues, source, layer */
	COLUMN_ISSUER, /* tid, pid, cgroup_id */
	COLUMN_BYTES,
	COLUMN_STREAM, /* how the sector is coded */
	COLUMN_LOW,    /* its low three bits, or those of a distance */
	COLUMN_NEAR,   /* distances to the end of a stream, 4 KiB */
	COLUMN_PLACE,  /* places, 4 KiB */
	COLUMN_ARRIVAL,
	COLUMN_QUEUE,  /* dispatch - arrival */
	COLUMN_DEVICE, /* completion - dispatch */
	COLUMN_DEPTH,
};
#define NR_SEGMENT_COLUMNS 11
/* "kind", ...; NULL outside the enum. */
const char *segment_column_name(unsigned int column);

struct segment_layout {
	uint64_t nr_requests;
	uint64_t column_bytes[NR_SEGMENT_COLUMNS];
};

/* The keys of the map, as the reader knows them, from 0; NULL after the last. */
const char *segment_header_key(unsigned int key);

/* Appends the map. 0, -ENOMEM, -E2BIG over the limits. */
int segment_header_pack(const struct segment_header *h, const struct segment_layout *layout,
			ZSTD_CCtx *zstd, struct buf *out);

/*
 * Reads the map, which must fill data. -EBADMSG, -EPROTONOSUPPORT (a key that is not known), -EFBIG,
 * -ENOMEM; *h is to be released in any case.
 */
int segment_header_unpack(const void *data, size_t len, ZSTD_DCtx *zstd, struct segment_header *h,
			  struct segment_layout *layout, struct err *err);
/* Frees what segment_header_unpack() allocated. */
void segment_header_release(struct segment_header *h);

#endif
