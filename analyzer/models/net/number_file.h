/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_file: reads a file of numbers that a net names: a measured trace, or the shares of a
 * histogram.
 *
 * The numbers are at or above 0 and separated by blanks, ends of lines or semicolons (as QPME
 * writes them).
 */
#ifndef ANALYZER_NUMBER_FILE_H
#define ANALYZER_NUMBER_FILE_H

#include <stddef.h>

#include "base/text/err.h"

/*
 * Makes the path of a name that stands in the file `model`: beside that file unless absolute.
 * Returns 0 or -ENAMETOOLONG.
 */
int number_file_path(char *path, size_t size, const char *model, const char *name);

/*
 * Returns 0, and *out has *nr >= 1 numbers, which the caller must free(). Returns -EINVAL with
 * "PATH:LINE: what" where something else stands there or nothing, or another -errno with "PATH:
 * why" where the file cannot be read or is not a regular file.
 */
int number_file_read(double **out, size_t *nr, const char *path, struct err *err);

#endif
