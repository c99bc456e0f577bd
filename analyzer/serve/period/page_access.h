/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_access: this module finds where on a device the requests of a period began, and which share
 * of them a cache of any size would miss.
 *
 * Both need the requests in their order. A query reads the segments from the oldest on
 * (page_requests.h); the answer says until when it read. The map has columns of time and rows of
 * equal regions of the device, between the lowest and the highest offset that was seen. Memory:
 * about 4 MiB.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_ACCESS_H
#define ANALYZER_SERVE_PERIOD_PAGE_ACCESS_H

#include <jansson.h>

#include "analyzer/serve/period/page_device.h"

#define PAGE_ACCESS_COLUMNS 120
#define PAGE_ACCESS_ROWS    64

/* Sets *out to the object that docs/api.md describes. Returns the same as page_who_json(). */
int page_access_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		     struct err *err);

#endif
