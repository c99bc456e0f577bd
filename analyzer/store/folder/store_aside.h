/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_aside: the segments that retention has set aside because reading them ended its process
 * twice (analyzer/keep/retain_mark.h). The file retention.aside has one path below the store per
 * line.
 */
#ifndef ANALYZER_STORE_ASIDE_H
#define ANALYZER_STORE_ASIDE_H

#include <stdbool.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define STORE_ASIDE "retention.aside"

struct store;

/*
 * Reads the text of the file into b, which is cleared first, with a 0 at its end. The text is empty
 * where there is no file.
 */
int store_aside_read(const struct store *s, struct buf *b, struct err *err);
/* Returns whether the text has the line. */
bool store_aside_has(const struct buf *b, const char *path);
/* Adds a line and makes it durable. Returns 0 or -errno. */
int store_aside_add(const struct store *s, const char *path, struct err *err);

#endif
