/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_label: this module reads the labels of hosts, by which the page groups the fleet.
 *
 * Each line of the file is a host and its labels, `web1 role=web site=north`, separated by blanks.
 * Empty lines and the text after a # at the beginning of a word are ignored. The table does not
 * change after it was read, so that any thread may look into it. Memory: about five times the file,
 * whose bound is PAGE_LABEL_FILE_BYTES.
 */
#ifndef ANALYZER_SERVE_FLEET_PAGE_LABEL_H
#define ANALYZER_SERVE_FLEET_PAGE_LABEL_H

#include <stddef.h>

#include "base/text/err.h"

#define PAGE_LABEL_FILE_BYTES (8u << 20)
#define PAGE_LABEL_KEYS	      16  /* different keys of one file */
#define PAGE_LABEL_VALUES     256 /* different values of one key */
#define PAGE_LABEL_BYTES      64  /* of a key or a value, with its final 0 */

struct page_labels;

/*
 * Returns 0, or -EINVAL, -ENOENT, -EFBIG, ... with one line that begins with the file and the line
 * in it.
 */
int page_labels_read(struct page_labels **out, const char *path, struct err *err);
void page_labels_free(struct page_labels *l);

/* Returns the keys of the file in alphabetical order. */
size_t page_labels_keys(const struct page_labels *l, const char *const **out);
/* Returns the host's value for the key, or NULL. l may be NULL. */
const char *page_label(const struct page_labels *l, const char *host, const char *key);

#endif
