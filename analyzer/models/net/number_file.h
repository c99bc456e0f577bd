/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_file: a file of numbers that a net names: a measured trace, the shares of a histogram.
 *
 * Numbers at or above 0, between them blanks, ends of lines or semicolons (as QPME writes them).
 */
#ifndef ANALYZER_NUMBER_FILE_H
#define ANALYZER_NUMBER_FILE_H

#include <stddef.h>

#include "base/err.h"

/* The path of a name that stands in the file `model`: beside it unless absolute. -ENAMETOOLONG. */
int number_file_path(char *path, size_t size, const char *model, const char *name);

/*
 * 0, and *out with *nr >= 1 numbers is the caller's to free(); -EINVAL with "PATH:LINE: what" where
 * something else stands there or nothing; other -errno with "PATH: why" where it cannot be read or
 * is no regular file.
 */
int number_file_read(double **out, size_t *nr, const char *path, struct err *err);

#endif
