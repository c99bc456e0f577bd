/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_read_state: the declarations that segment_read.c and segment_read_next.c share. No other
 * file includes this header.
 */
#ifndef FORMATS_SEGMENT_READ_STATE_H
#define FORMATS_SEGMENT_READ_STATE_H

#include <stdbool.h>

#include "formats/segment/column.h"
#include "formats/segment/segment_header.h"
#include "formats/streams.h"

struct bytes_plane {
	const uint8_t *at;
	uint8_t *owned;
};

/*
 * Attributes that many requests share: the distinct combinations, and the index of each request's
 * combination.
 */
struct common {
	struct request *entries; /* owned */
	size_t nr;
	struct bytes_plane index[2]; /* low and high bytes of the index */
};

struct segment_reader {
	ZSTD_DCtx *zstd;
	struct segment_header header;
	struct segment_layout layout;
	size_t nr, at;
	size_t coded_bytes[NR_SEGMENT_COLUMNS];

	uint32_t version;
	struct common kinds;   /* all attributes but times, offset and issuer */
	struct common issuers; /* tid, pid and cgroup_id */
	struct bytes_plane stream, low;
	size_t nr_near, nr_place, low_at;
	bool has_streams; /* some bytes are not zero */
	char refusal[96]; /* text for segment_reader_refusal() */
	/* The large members come last, because they are cleared only as far as they were used. */
	struct column_reader bytes, near, place, arrival, queue, device, depth;
	struct streams streams[NR_STREAM_CONTEXTS];
};

/* Returns the index of the entry that request i has. */
static inline unsigned int common_index(const struct common *t, size_t i)
{
	return t->index[0].at[i] + (t->index[1].at ? (unsigned int)t->index[1].at[i] << 8 : 0u);
}

/* Counts how many of nr requests have a number in the near and in the place column. */
void segment_count_streams(const uint8_t *stream, size_t nr, size_t *nr_near, size_t *nr_place);

#endif
