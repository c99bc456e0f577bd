/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_who: this module answers which processes and control groups made the requests of a device in
 * a period. The names are in the segments beside the requests (characterize/issuers.h), and the
 * newest segments are read first (page_requests.h).
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_WHO_H
#define ANALYZER_SERVE_PERIOD_PAGE_WHO_H

#include <jansson.h>

#include "analyzer/serve/period/page_device.h"

/*
 * Sets *out to the object that docs/api.md describes, a new reference. step_s of q is not used.
 * Returns the same as page_device_json().
 */
int page_who_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		  struct err *err);

#endif
