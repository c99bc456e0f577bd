/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain_share: what must go so that a store keeps within a size, host by host.
 *
 * Every host may have the same number of bytes; what one does not use is shared among the others.
 * Only hosts above their share lose anything, each its own oldest. So no host can push out what
 * another has sent, whatever it sends and whatever its clock says.
 */
#ifndef ANALYZER_RETAIN_SHARE_H
#define ANALYZER_RETAIN_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/segment/segment.h"

/* Everything of the host up to and including this instant must go; 0: nothing. */
struct share_host {
	char host[SEGMENT_NAME_BYTES];
	uint64_t until_ns;
	uint64_t bytes;	 /* that it has */
	size_t from, nr; /* its items */
};

struct share_item {
	uint64_t at_ns, bytes;
};

/* A zeroed one is empty. */
struct retain_share {
	struct share_host *hosts; /* owned; by name */
	size_t nr_hosts;
	struct share_item *items; /* owned */
	size_t nr_items;
};

void retain_share_release(struct retain_share *s);
/* Adds a file; hosts come one after the other, each with all its files, by name. 0, -ENOMEM. */
int retain_share_add(struct retain_share *s, const char *host, uint64_t at_ns, uint64_t bytes);
/* After all were added: sets until_ns of each host so that what stays is at most limit bytes. */
void retain_share_limit(struct retain_share *s, uint64_t limit);
/* Of the host, 0 where there is none of that name. */
uint64_t retain_share_until(const struct retain_share *s, const char *host);

#endif
