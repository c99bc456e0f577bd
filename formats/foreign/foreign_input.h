/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_input: the bytes of a trace file, or of standard input ("-"): plain, gzip or zstd, as the
 * first bytes show. They are handed out in place, as lines or as records of fixed length.
 */
#ifndef FORMATS_FOREIGN_INPUT_H
#define FORMATS_FOREIGN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

/* A longer line is cut into pieces of this length. */
#ifndef FOREIGN_LINE_MAX
#define FOREIGN_LINE_MAX (1u << 20)
#endif

struct foreign_input;

/* Returns 0, -ENOENT, -EISDIR, -EACCES, -EIO or -ENOMEM; path is copied. */
int foreign_input_open(struct foreign_input **out, const char *path, struct err *err);
/* Does the same for bytes in memory, which are borrowed. name is shown in place of a path. */
int foreign_input_open_memory(struct foreign_input **out, const char *name, const void *data,
			      size_t len, struct err *err);
void foreign_input_free(struct foreign_input *in);

const char *foreign_input_path(const struct foreign_input *in);
/*
 * Return the offset in the decompressed stream, from 0, of the bytes that come next, and the
 * number, from 1, of the line that came last.
 */
uint64_t foreign_input_offset(const struct foreign_input *in);
uint64_t foreign_input_line_number(const struct foreign_input *in);
/*
 * Return the bytes read so far from the file as it is stored, and its length (0 where it has none),
 * for showing progress.
 */
uint64_t foreign_input_read_bytes(const struct foreign_input *in);
uint64_t foreign_input_file_bytes(const struct foreign_input *in);

/*
 * Shows at least want bytes (at most FOREIGN_LINE_MAX) in place, or fewer at the end of the file;
 * *got is their number. Nothing is consumed. The bytes are valid until the next call. Returns 0;
 * -EIO; -ENOMEM; -EBADMSG where the compressed stream is damaged or truncated; -EFBIG where a zstd
 * stream asks for a window above 32 MiB.
 */
int foreign_input_peek(struct foreign_input *in, size_t want, const uint8_t **data, size_t *got,
		       struct err *err);
/* Consumes nr of the bytes that were shown. */
void foreign_input_take(struct foreign_input *in, size_t nr);
/*
 * Takes one line without its end ("\n" or "\r\n"). Returns 1, or 0 at the end of the file; errors
 * are those of foreign_input_peek().
 */
int foreign_input_line(struct foreign_input *in, const char **line, size_t *len, struct err *err);

#endif
