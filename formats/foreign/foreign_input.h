/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_input: the bytes of a trace file, or of standard input ("-"), plain, gzip or zstd as its
 * first bytes say. Handed out in place, as lines or as records of fixed length.
 */
#ifndef FORMATS_FOREIGN_INPUT_H
#define FORMATS_FOREIGN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A line that is longer is cut into pieces of this length. */
#ifndef FOREIGN_LINE_MAX
#define FOREIGN_LINE_MAX (1u << 20)
#endif

struct foreign_input;

/* -ENOENT, -EISDIR, -EACCES, -EIO, -ENOMEM; path is copied. */
int foreign_input_open(struct foreign_input **out, const char *path, struct err *err);
/* The same of bytes in memory, borrowed; name is shown where a path would be. */
int foreign_input_open_memory(struct foreign_input **out, const char *name, const void *data,
			      size_t len, struct err *err);
void foreign_input_free(struct foreign_input *in);

const char *foreign_input_path(const struct foreign_input *in);
/* Of the bytes handed out next, in the decompressed stream, from 0; of the line handed out last,
 * from 1. */
uint64_t foreign_input_offset(const struct foreign_input *in);
uint64_t foreign_input_line_number(const struct foreign_input *in);
/* Bytes read from the file, as it lies there, and its length (0 where it has none): progress. */
uint64_t foreign_input_read_bytes(const struct foreign_input *in);
uint64_t foreign_input_file_bytes(const struct foreign_input *in);

/*
 * At least want bytes (at most FOREIGN_LINE_MAX) in place, fewer only at the end; *got says how
 * many. Nothing is taken. The place is good until the next call. 0, -EIO, -ENOMEM; -EBADMSG where
 * the compressed stream is damaged or cut, -EFBIG where a zstd stream asks for a window over 32 MiB.
 */
int foreign_input_peek(struct foreign_input *in, size_t want, const uint8_t **data, size_t *got,
		       struct err *err);
/* Takes nr bytes of those shown. */
void foreign_input_take(struct foreign_input *in, size_t nr);
/* Takes one line, without its end ("\n" or "\r\n"). 1; 0 at the end; errors as above. */
int foreign_input_line(struct foreign_input *in, const char **line, size_t *len, struct err *err);

#endif
