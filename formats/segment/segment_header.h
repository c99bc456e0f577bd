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

/* Limits that a reader enforces; a writer refuses to exceed them (-E2BIG). */
#define SEGMENT_MAX_HEADER_BYTES  (4u << 20)
#define SEGMENT_MAX_PROCESSES	  65536u
#define SEGMENT_MAX_CGROUPS	  16384u
#define SEGMENT_MAX_LOSSES	  2048u
#define SEGMENT_MAX_PROFILES	  4096u
#define SEGMENT_MAX_PROFILE_BYTES (16u << 20) /* all texts together */
/* requests captured or lost; the sum of 1024 such counts fits 64 bits */
#define SEGMENT_MAX_COUNT	 (1ull << 53)
#define SEGMENT_MAX_DEVICE_BYTES (1ull << 63) /* an offset on a disk is a loff_t */

/* The columns, in the order of the body. */
enum segment_column {
	COLUMN_KIND,   /* device, operation, flags, error, requeues, source, layer */
	COLUMN_ISSUER, /* tid, pid, cgroup_id */
	COLUMN_BYTES,
	COLUMN_STREAM, /* how the sector is coded */
	COLUMN_LOW,    /* the low three bits of a sector or of a distance */
	COLUMN_NEAR,   /* distance to the end of a stream, in units of 4 KiB */
	COLUMN_PLACE,  /* offset on the disk, in units of 4 KiB */
	COLUMN_ARRIVAL,
	COLUMN_QUEUE,  /* dispatch - arrival */
	COLUMN_DEVICE, /* completion - dispatch */
	COLUMN_DEPTH,
};
#define NR_SEGMENT_COLUMNS 11
/* Returns "kind", ..., or NULL outside of the enum. */
const char *segment_column_name(unsigned int column);

struct segment_layout {
	uint64_t nr_requests;
	uint64_t column_bytes[NR_SEGMENT_COLUMNS];
};

/* Returns the keys of the map that the reader knows, from index 0; NULL after the last. */
const char *segment_header_key(unsigned int key);

/*
 * Returns whether the text is "" or names file systems: words of ASCII letters, digits, "_" and "-"
 * with one "," between them.
 */
bool segment_file_system_ok(const char *text);

/*
 * Appends the map as that version of the segment has it. Returns 0, -ENOMEM, -E2BIG above the
 * limits, or -EINVAL where the file systems of a device cannot be written.
 */
int segment_header_pack(const struct segment_header *h, const struct segment_layout *layout,
			uint32_t version, ZSTD_CCtx *zstd, struct buf *out);

/*
 * Reads the map of a segment of that version, which must fill data. Returns 0, -EBADMSG,
 * -EPROTONOSUPPORT (an unknown key), -EFBIG or -ENOMEM; *h must be released in every case.
 */
int segment_header_unpack(const void *data, size_t len, uint32_t version, ZSTD_DCtx *zstd,
			  struct segment_header *h, struct segment_layout *layout, struct err *err);
/* Frees what segment_header_unpack() allocated. */
void segment_header_release(struct segment_header *h);

#endif
