/* SPDX-License-Identifier: Apache-2.0 */
/* scan_piece: the segments that a scan will read, found before the first is decoded. */
#ifndef ANALYZER_SCAN_PIECE_H
#define ANALYZER_SCAN_PIECE_H

#include "analyzer/store/scan.h"

/* One segment to read. */
struct scan_piece {
	struct segment_name name;
	struct segment_hash hash;
	const char *file;     /* borrowed path of a file, or NULL: in the store under its name */
	uint64_t file_offset; /* where in the file it begins */
	uint64_t file_bytes;
	uint64_t nr_requests, nr_captured;
	struct clock_anchor begin, end;
	uint64_t first_real_ns, last_real_ns; /* of requests; 0 where there are none */
	bool first_known;    /* else first_real_ns is only where it begins to watch */
	uint64_t nr_missing; /* sequence numbers left out just before it */
};

struct scan_pieces {
	struct scan_piece *items; /* owned; by host, boot id, epoch, sequence; no name twice */
	size_t nr, cap;
};

void scan_pieces_release(struct scan_pieces *p);
/* Those that may hold what the filter takes. 0, -ENOMEM, -EIO. */
int scan_pieces_of_store(struct scan_pieces *p, struct store *store,
			 const struct scan_filter *filter, struct err *err);
/* Reads the heads of all segments of the files; paths are borrowed. Errors as scan_open_files(). */
int scan_pieces_of_files(struct scan_pieces *p, const char *const *paths, size_t nr,
			 const struct scan_filter *filter, struct err *err);

/* Reads nr bytes of a file from offset on into b (cleared first). */
int scan_read_file(const char *path, uint64_t offset, uint64_t nr, struct buf *b, struct err *err);

#endif
