/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole_segments: the segments of a store or of files as they are, for a trace that is handed on as
 * one file (`export --format segments`), hidden (`redact`) or taken in (`import`).
 */
#ifndef ANALYZER_WHOLE_SEGMENTS_H
#define ANALYZER_WHOLE_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/store/scan.h"
#include "base/buf.h"
#include "base/err.h"

struct redactor;

/* Where they come from: one of the two. */
struct whole_segments {
	const char *store; /* a store's folder, or NULL */
	const char *const *paths;
	size_t nr_paths;
	const struct scan_filter *filter; /* of it hosts and times count: a segment is taken or not */
};

struct whole_segments_counts {
	uint64_t nr_segments, nr_requests, bytes; /* bytes written */
};

/*
 * Visits them by host, boot id, epoch and sequence, each once. visit() returns 0, or -errno with
 * a line in err, which ends it. 0, -ENOENT, -EBADMSG, -EINVAL, -EIO, -ENOMEM, or what visit() said.
 */
int whole_segments_each(const struct whole_segments *from,
			int (*visit)(void *ctx, const struct buf *segment, struct err *err),
			void *ctx, struct whole_segments_counts *counts, struct err *err);

/* Writes them one after the other, through r where it is not NULL. */
int whole_segments_write(const struct whole_segments *from, struct redactor *r, FILE *out,
			 struct whole_segments_counts *counts, struct err *err);
/* The same to a file, by way of one beside it of mode 0600: what is at path is whole or what it was.
 * -ENODATA where there is no segment to write. */
int whole_segments_write_file(const struct whole_segments *from, struct redactor *r,
			      const char *path, struct whole_segments_counts *counts,
			      struct err *err);

#endif
