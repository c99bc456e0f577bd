/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_reply: the replies of the live page. Each has the fields that keep a browser from running, showing or
 * handing on anything that is not the page's own.
 */
#ifndef ANALYZER_SERVE_PAGE_REPLY_H
#define ANALYZER_SERVE_PAGE_REPLY_H

#include <jansson.h>
#include <microhttpd.h>

#include "analyzer/serve/page_files.h"

/* Adds those fields. MHD_NO where memory is out. */
enum MHD_Result page_reply_guard(struct MHD_Response *reply);
/* {"error": line} */
enum MHD_Result page_reply_error(struct MHD_Connection *c, int status, const char *line);
/* The object, whose reference is taken over; NULL is 503. An ETag that the request names gets 304. */
enum MHD_Result page_reply_json(struct MHD_Connection *c, json_t *object);
/* 204 with a Set-Cookie field. */
enum MHD_Result page_reply_cookie(struct MHD_Connection *c, const char *cookie);
enum MHD_Result page_reply_asset(struct MHD_Connection *c, const struct page_asset *asset);

#endif
