/* SPDX-License-Identifier: Apache-2.0 */
/* page_files: the files of the live page (analyzer/serve/page/), which the assembler puts into the program. */
#ifndef ANALYZER_SERVE_PAGE_FILES_H
#define ANALYZER_SERVE_PAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct page_asset {
	const char *path; /* of the request: "/assets/main.js"; "/" is the page itself */
	const char *type;
	const char *data;
	size_t len;
};

/* The file of a path; false where there is none. */
bool page_asset_find(const char *path, struct page_asset *out);
/* The i-th of all; false behind the last. */
bool page_asset_at(size_t i, struct page_asset *out);

#endif
