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

struct listing {
	struct word_list hosts; /* only these; empty: all */
	bool all;		/* devices without requests, too */
	bool utc;		/* times in UTC instead of local time */
};

/*
 * Returns 0 where the store has each host of the listing. Otherwise returns -EINVAL, with the hosts
 * that exist, and sets *missing to the first host that does not. A host whose segments are all
 * damaged counts as existing; the caller has told damage.h the store.
 */
int listing_check_hosts(const struct listing *l, const struct inventory *v, const char **missing,
			struct err *err);

/* What a reader of the printed listing should be told once, below all hosts. */
struct listing_remarks {
	size_t nr_hidden;   /* devices that were left out, since all is not set */
	bool has_counted;   /* some segments have counters only */
	bool has_kept_back; /* some requests were kept back by a policy */
};

/* Returns 0 or -errno. Sets *remarks whatever it returns. */
int listing_print(const struct listing *l, const struct inventory *v, struct store *store,
		  struct listing_remarks *remarks, FILE *out, struct err *err);
/* Makes "blkcast.store/1", which the caller owns. Returns 0 or -errno. */
int listing_json(json_t **out, const struct listing *l, const struct inventory *v,
		 struct store *store, struct err *err);

#endif
