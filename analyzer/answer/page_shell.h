/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_shell: the frame of every HTML page that blkcast writes.
 *
 * A page is one file: its style stands in it, it asks no network, and it runs no script unless the
 * report puts one in. The title comes first, then the conclusion, then one section for each thing
 * shown. Failures are kept in the buffer (base/memory/buf.h) and seen by who writes it out.
 */
#ifndef ANALYZER_ANSWER_PAGE_SHELL_H
#define ANALYZER_ANSWER_PAGE_SHELL_H

#include <jansson.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

/* These are the style sheet and the script of the pages, each a text that ends with a 0 byte. */
extern const char page_css[], page_js[];

/*
 * Text as HTML: the characters that mean something there are written as entities. NULL writes
 * nothing.
 */
void page_escape(struct buf *out, const char *text);

/*
 * Writes everything up to the begin of the header, which the caller continues with a heading. kind,
 * such as "blkcast report", follows the title in the browser's tab.
 */
void page_open(struct buf *out, const char *title, const char *kind);
/* Writes head, title and lead. The lead is the conclusion; NULL means that there is none. */
void page_begin(struct buf *out, const char *title, const char *lead);
/* title and about, a sentence on what is shown, may be NULL. */
void page_section_begin(struct buf *out, const char *title, const char *about);
void page_section_end(struct buf *out);

/*
 * The data and models that a page was made from, one line each, such as "Load traces: sda of db1,
 * ...". A command adds them while it reads them. A zeroed list is empty. Only the first lines are
 * kept; the others are counted, because a store may have hundreds of devices.
 */
#define PAGE_ORIGINS 32
struct page_origins {
	char *lines[PAGE_ORIGINS]; /* owned */
	size_t nr, nr_more;
	json_t *devices; /* owned: the recorded devices (provenance.h); NULL: none */
};
/* Adds a line, unless the same line is there; o may be NULL. Returns 0 or -ENOMEM. */
int page_origins_add(struct page_origins *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void page_origins_release(struct page_origins *o);

/* This struct holds what a page says about its origin at its foot. */
struct page_maker {
	const char *command;	      /* the command line, as words of a shell; NULL: not told */
	uint64_t made_s;	      /* CLOCK_REALTIME, of which the page shows the day */
	struct page_origins *origins; /* borrowed; NULL: none */
};
/*
 * Writes paragraphs that say who made the page, when and from what. Where m is NULL, they say only
 * the version.
 */
void page_made(struct buf *out, const struct page_maker *m);
void page_end(struct buf *out, const struct page_maker *m);

#endif
