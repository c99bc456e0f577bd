/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing: lists what a store has: hosts with their devices, and the segments that are damaged or
 * that retention has set aside.
 */
#ifndef ANALYZER_STORE_SCAN_LISTING_H
#define ANALYZER_STORE_SCAN_LISTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyzer/store/scan/inventory.h"
#include "base/text/word_list.h"

/*
 * listing_open() reads what a store has. listing_print() or listing_json() follow, and
 * listing_release() at the end in every case.
 */
struct listing {
	struct word_list hosts; /* only these; empty: all */
	bool all;		/* devices without requests, too */
	bool utc;		/* times in UTC instead of local time */
	/* The members below are set by listing_open(); store and inventory are owned. */
	struct store *store;
	struct inventory inventory;
	const char *missing; /* the first of the hosts that the store does not have, or NULL */
	/* What a reader of the printed listing should be told once, below all hosts. */
	size_t nr_hidden;   /* devices that were left out, since all is not set */
	bool has_counted;   /* some segments have counters only */
	bool has_kept_back; /* some requests were kept back by a policy */
};

/*
 * Notes the damaged segments of the listing's hosts (damage.h). Returns 0 or -errno; -EINVAL with
 * missing and the hosts that exist where one does not. A host whose segments are all damaged counts
 * as existing.
 */
int listing_open(struct listing *l, const char *dir, struct err *err);
void listing_release(struct listing *l);
/* Returns 0 or -errno. Sets the remarks whatever it returns. */
int listing_print(struct listing *l, FILE *out, struct err *err);
/* Makes "blkcast.store/1", which the caller owns. Returns 0 or -errno. */
int listing_json(json_t **out, const struct listing *l, struct err *err);

#endif
