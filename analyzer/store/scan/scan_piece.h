/* SPDX-License-Identifier: Apache-2.0 */
/* scan_piece: the segments that a scan will read, found before the first one is decoded. */
#ifndef ANALYZER_SCAN_PIECE_H
#define ANALYZER_SCAN_PIECE_H

#include "analyzer/store/scan/scan.h"

/* One segment to read. */
struct scan_piece {
	struct segment_name name;
	struct segment_hash hash;
	/* borrowed path of a file; NULL: the piece lies in the store under its name */
	const char *file;
	uint64_t file_offset; /* where it begins in the file */
	uint64_t file_bytes;
	uint64_t nr_requests, nr_captured;
	struct clock_anchor begin, end;
	uint64_t first_real_ns, last_real_ns; /* of its requests; 0 where there are none */
	/* false: first_real_ns is only the beginning of the watched interval */
	bool first_known;
	uint64_t nr_missing; /* sequence numbers missing directly before it */
};

/* The hosts of a part of the filter: those from `first` on and before `end`, by name. */
struct scan_part {
	char first[SEGMENT_NAME_BYTES], end[SEGMENT_NAME_BYTES];
	bool is_empty, has_end;
};

struct scan_pieces {
	struct scan_piece *items; /* owned; by host, boot id, epoch, sequence; every name once */
	size_t nr, cap;
	uint64_t nr_requests; /* of the items */
	uint64_t nr_whole;    /* the same before the filter's part was cut out */
	struct scan_part part;
};

void scan_pieces_release(struct scan_pieces *p);
bool scan_part_has(const struct scan_part *part, const char *host);
/* Finds the segments that may hold requests which the filter takes. Returns 0, -ENOMEM or -EIO. */
int scan_pieces_of_store(struct scan_pieces *p, struct store *store,
			 const struct scan_filter *filter, struct err *err);
/*
 * Reads the heads of all segments of the files; paths are borrowed. Errors are those of
 * scan_open_files().
 */
int scan_pieces_of_files(struct scan_pieces *p, const char *const *paths, size_t nr,
			 const struct scan_filter *filter, struct err *err);

/* Reads nr bytes of a file from offset on into b, which is cleared first. */
int scan_read_file(const char *path, uint64_t offset, uint64_t nr, struct buf *b, struct err *err);

#endif
