/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_device: one device over a period, as columns, from the windows in the store.
 *
 * A column is at least one window long, and there are at most PAGE_COLUMNS of them. A question reads at most
 * PAGE_DEVICE_SEGMENTS segments and takes at most PAGE_DEVICE_S seconds; what it could not read is named
 * in the answer. One question takes at most 20 MiB; the caller bounds how many there are at once.
 */
#ifndef ANALYZER_SERVE_PAGE_DEVICE_H
#define ANALYZER_SERVE_PAGE_DEVICE_H

#include <jansson.h>

#include "analyzer/serve/page_store.h"

#define PAGE_COLUMNS	     600
#define PAGE_DEVICE_SEGMENTS 20000
#define PAGE_DEVICE_S	     10

struct page_device_question {
	const char *host, *device; /* device: "8:0" */
	double begin_s, end_s;
	double step_s; /* of a column; 0: as short as PAGE_COLUMNS allow, at least a second */
};

/* 0, or -EINVAL with the field that is wrong. */
int page_device_check(const struct page_device_question *q, struct err *err);
/* *out: the object of docs/api.md, a new reference. 0, -EINVAL with the field, -ENOMEM, -EIO. */
int page_device_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		     struct err *err);

#endif
