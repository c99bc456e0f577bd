/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_reply: the replies of the live page. Each reply has header fields that forbid the browser to
 * run, embed or pass on content that is not the page's own. JSON and files have an ETag, and are
 * sent as gzip if the request accepts that.
 */
#ifndef ANALYZER_SERVE_PAGE_PAGE_REPLY_H
#define ANALYZER_SERVE_PAGE_PAGE_REPLY_H

#include <jansson.h>
#include <microhttpd.h>

#include "analyzer/serve/page/page_files.h"

/* Adds these header fields. Returns MHD_NO if memory is out. */
enum MHD_Result page_reply_guard(struct MHD_Response *reply);
/* Replies with {"error": line}. */
enum MHD_Result page_reply_error(struct MHD_Connection *c, int status, const char *line);
/*
 * Replies that the path does not take the method of the request, but only those of `allowed`, a
 * list with commas.
 */
enum MHD_Result page_reply_method(struct MHD_Connection *c, const char *allowed);
/*
 * Replies with the object and takes over its reference; NULL gives 503. If the request names the
 * ETag, the reply is 304.
 */
enum MHD_Result page_reply_json(struct MHD_Connection *c, json_t *object);
/* Does the same with all digits of each number; page_reply_json() gives 13. */
enum MHD_Result page_reply_json_exact(struct MHD_Connection *c, json_t *object);
/* Replies with 204 and a Set-Cookie field. */
enum MHD_Result page_reply_cookie(struct MHD_Connection *c, const char *cookie);
/*
 * Replies with a page that was made from the answer of a command (analyzer/answer). It may use its
 * own styles and nothing else: no script runs, and it has no access to this origin.
 */
enum MHD_Result page_reply_page(struct MHD_Connection *c, const char *html, size_t len);
/*
 * The files of the page in the forms in which they are sent, which are made once: packing all of
 * them for each page that opens takes as long as all other work of its first view.
 */
struct page_packed;
/* Makes the forms of all files. Returns 0 or -ENOMEM. */
int page_packed_new(struct page_packed **out);
void page_packed_free(struct page_packed *packed);
/* Replies with the file of a path. Returns false if there is none, and *result is not set then. */
bool page_reply_file(const struct page_packed *packed, struct MHD_Connection *c, const char *path,
		     enum MHD_Result *result);

#endif
