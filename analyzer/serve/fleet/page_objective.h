/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_objective: this module judges objectives of response times (time_objective.h) over the last
 * hour: of each window of a device that an objective names, the requests that took longer than the
 * limit are counted, in minutes.
 *
 * The rules for Prometheus judge the agents' own metrics in the same way. Their buckets end at
 * powers of two; the rules use the largest one that is not above the limit, so that they are never
 * less strict.
 *
 * At most TIME_OBJECTIVES objectives, and PAGE_OBJECTIVE_STATES pairs of an objective and a device,
 * of about 1 KiB each; further pairs are counted. Any thread may call the functions.
 */
#ifndef ANALYZER_SERVE_FLEET_PAGE_OBJECTIVE_H
#define ANALYZER_SERVE_FLEET_PAGE_OBJECTIVE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/profile/profile.h"

#define PAGE_OBJECTIVE_STATES 16384
#define PAGE_OBJECTIVE_ROWS   256 /* of one answer */

struct page_objectives;

/* Reads a YAML file. Returns 0, -EINVAL, -ENOENT, -ENOMEM, ... */
int page_objectives_read(struct page_objectives **out, const char *path, struct err *err);
void page_objectives_free(struct page_objectives *o);

/* Counts a window of a device. Nothing happens where o is NULL or memory is out. */
void page_objectives_take(struct page_objectives *o, const char *host, const struct profile *p);
/*
 * Returns the objectives and the state of every device that they name, the worst first, as
 * docs/api.md describes; o may be NULL. permits as in page_fleet.h.
 */
json_t *page_objectives_json(struct page_objectives *o,
			     bool (*permits)(void *ctx, const char *host), void *ctx);
/* Appends recording and alerting rules for Prometheus, as YAML. */
void page_objectives_rules(const struct page_objectives *o, struct buf *out);

#endif
