/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_files: the files of the live page (analyzer/serve/page/), which the assembler embeds into
 * the program.
 */
#ifndef ANALYZER_SERVE_PAGE_PAGE_FILES_H
#define ANALYZER_SERVE_PAGE_PAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct page_asset {
	const char *path; /* the path of the request: "/assets/main.js"; "/" is the page itself */
	const char *type;
	const char *data;
	size_t len;
};

#define PAGE_FILES_MAX 16

/* Gives file number i of all files; returns false past the last one. */
bool page_asset_at(size_t i, struct page_asset *out);

#endif
