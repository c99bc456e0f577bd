/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_device: this module answers what one device did over a period, as columns made from the
 * windows in the store.
 *
 * Columns of 10 s and longer are made from those that page_block.h keeps on disk, where a block of
 * the period is over. The windows of the device in a segment are kept in memory (page_cache.h) as
 * packed columns, so that a second look at a short period and a zoom into it read no file.
 * docs/studies/page/results.md has the times of the first and of later answers for the 86 400
 * windows of a day.
 *
 * A column is at least as long as one window, and there are at most PAGE_COLUMNS columns. A query
 * takes at most PAGE_DEVICE_S seconds, and of a quarter of an hour it reads at most
 * PAGE_BLOCK_SEGMENTS segments; the answer names what could not be read. One query takes at most
 * 40 MiB of memory; the caller limits how many queries run at the same time.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_DEVICE_H
#define ANALYZER_SERVE_PERIOD_PAGE_DEVICE_H

#include <jansson.h>

#include "analyzer/serve/period/page_store.h"

#define PAGE_COLUMNS  600
#define PAGE_DEVICE_S 10

struct page_device_question {
	const char *host, *device; /* device: for example "8:0" */
	double begin_s, end_s;
	/* length of a column; 0: as short as PAGE_COLUMNS allows, at least one second */
	double step_s;
};

/* Returns 0, or -EINVAL with the field that is wrong. */
int page_device_check(const struct page_device_question *q, struct err *err);
/*
 * Sets *out to the object that docs/api.md describes, a new reference. Returns 0, -EINVAL with the
 * field, -ENOMEM or -EIO.
 */
int page_device_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		     struct err *err);

#endif
