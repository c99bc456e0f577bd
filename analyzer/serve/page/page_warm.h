/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_warm: a thread that sums up every quarter of an hour of every host once it is over
 * (page_block.h), so that the first look at a device's day finds the sums on disk.
 *
 * At the start it goes back a day from the newest window, the newest quarter first. The thread
 * rests four times as long as it works. A quarter that it has not reached is summed up when
 * somebody looks at it. The thread holds one quarter of one host in memory at a time, and skips a
 * quarter that needs more than 128 MiB.
 */
#ifndef ANALYZER_SERVE_PAGE_PAGE_WARM_H
#define ANALYZER_SERVE_PAGE_PAGE_WARM_H

#include "analyzer/serve/fleet/page_fleet.h"
#include "analyzer/serve/period/page_store.h"

struct page_warm;

/* store and fleet, which names the hosts, are borrowed. Returns 0, -ENOMEM or -EAGAIN. */
int page_warm_start(struct page_warm **out, struct page_store *store, struct page_fleet *fleet);
void page_warm_stop(struct page_warm *w);

#endif
