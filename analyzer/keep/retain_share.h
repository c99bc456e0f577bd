/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain_share: decides what must be removed from each host so that a store keeps within a size.
 *
 * Every host may have the same number of bytes, and the bytes that one host does not use are shared
 * among the others. Only hosts above their share lose data, each its own oldest data. So no host
 * can displace the data of another host, whatever it sends and whatever its clock says.
 */
#ifndef ANALYZER_RETAIN_SHARE_H
#define ANALYZER_RETAIN_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/segment/segment.h"

/* All data of the host up to and including this instant must be removed; 0: nothing. */
struct share_host {
	char host[SEGMENT_NAME_BYTES];
	uint64_t until_ns;
	uint64_t bytes;	 /* bytes of the host */
	size_t from, nr; /* items of the host */
};

struct share_item {
	uint64_t at_ns, bytes;
};

/* A zeroed struct is empty. */
struct retain_share {
	struct share_host *hosts; /* owned; by name */
	size_t nr_hosts;
	struct share_item *items; /* owned */
	size_t nr_items;
};

void retain_share_release(struct retain_share *s);
/*
 * Adds a file. Hosts come one after the other, ordered by name, each with all its files. Returns 0
 * or -ENOMEM.
 */
int retain_share_add(struct retain_share *s, const char *host, uint64_t at_ns, uint64_t bytes);
/*
 * Sets until_ns of each host so that at most limit bytes remain. Call this after all files were
 * added.
 */
void retain_share_limit(struct retain_share *s, uint64_t limit);
/* Returns until_ns of the host, or 0 if there is no host of that name. */
uint64_t retain_share_until(const struct retain_share *s, const char *host);

#endif
