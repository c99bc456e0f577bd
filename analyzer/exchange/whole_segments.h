/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole_segments: the segments of a store or of files, unchanged, for a trace that is passed on as
 * one file (`export --format segments`), pseudonymized (`redact`) or taken in (`import`).
 */
#ifndef ANALYZER_WHOLE_SEGMENTS_H
#define ANALYZER_WHOLE_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/store/scan/selection_told.h"
#include "base/memory/buf.h"
#include "base/text/err.h"

struct redactor;

/* The origin of the segments: a store or files, exactly one of the two. */
struct whole_segments {
	const char *store; /* folder of a store, or NULL */
	const char *const *paths;
	size_t nr_paths;
	/* for a store, only its hosts and times are used; a segment is taken whole or not at all */
	const struct scan_filter *filter;
};

struct whole_segments_counts {
	uint64_t nr_segments, nr_requests, bytes; /* bytes written */
};

/*
 * Visits the segments by host, boot id, epoch and sequence, each once. visit() returns 0, or -errno
 * with a line in err, which ends the walk. Returns 0, -ENOENT, -EBADMSG, -EINVAL, -EIO, -ENOMEM, or
 * the result of visit().
 */
int whole_segments_each(const struct whole_segments *from,
			int (*visit)(void *ctx, const struct buf *segment, struct err *err),
			void *ctx, struct whole_segments_counts *counts, struct err *err);

/* Writes the segments one after the other, redacted by r unless r is NULL. */
int whole_segments_write(const struct whole_segments *from, struct redactor *r, FILE *out,
			 struct whole_segments_counts *counts, struct err *err);
/*
 * Does the same to a file, through a temporary file beside it with mode 0600: the file at path is
 * either complete or unchanged. Returns -ENODATA where there is no segment to write.
 */
int whole_segments_write_file(const struct whole_segments *from, struct redactor *r,
			      const char *path, struct whole_segments_counts *counts,
			      struct err *err);
/*
 * Writes the whole segments of a selection, which may choose hosts and a period, to the file at
 * path or, where it is NULL, to out. Returns -EINVAL with a line that names the devices where it
 * has none.
 */
int whole_segments_export(const struct selection *sel, const char *path, FILE *out,
			  struct whole_segments_counts *counts, struct err *err);
/*
 * Writes the segments of in, a store or a segment file, with their names and offsets hidden by the
 * key in key_file, or by a random one where that is NULL.
 */
int whole_segments_redact(const char *in, const struct scan_filter *filter, const char *key_file,
			  const char *path, struct whole_segments_counts *counts, struct err *err);

#endif
