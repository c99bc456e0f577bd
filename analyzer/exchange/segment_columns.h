/* SPDX-License-Identifier: Apache-2.0 */
/* segment_columns: prints the sizes of the compressed columns of segment files. */
#ifndef ANALYZER_EXCHANGE_SEGMENT_COLUMNS_H
#define ANALYZER_EXCHANGE_SEGMENT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text/err.h"

/* Prints a table, or JSON. Returns 0 or -errno with one line in err. */
int segment_columns_print(const char *const *paths, size_t nr_paths, bool json, FILE *out,
			  struct err *err);

#endif
