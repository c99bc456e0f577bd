/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_who: this module finds which processes and control groups made the requests of a device in a
 * period.
 *
 * Profiles do not hold this information. The requests in the segments do, together with the names
 * in their segment. Processes of the same name are added up, because most processes are short. A
 * query decodes at most PAGE_WHO_REQUESTS requests and takes at most PAGE_WHO_S seconds, the newest
 * segments first; the answer says which part of the period was read. Names beyond PAGE_WHO_NAMES
 * are added up as one. Memory: about 4 MiB.
 */
#ifndef ANALYZER_SERVE_PAGE_WHO_H
#define ANALYZER_SERVE_PAGE_WHO_H

#include <jansson.h>

#include "analyzer/serve/page_device.h"

#define PAGE_WHO_REQUESTS 20000000
#define PAGE_WHO_S	  5
#define PAGE_WHO_NAMES	  2048
#define PAGE_WHO_SHOWN	  20

/*
 * Sets *out to the object that docs/api.md describes, a new reference. step_s of q is not used.
 * Returns the same as page_device_json().
 */
int page_who_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		  struct err *err);

#endif
