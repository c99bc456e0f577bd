/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach: finds the addresses of the hosts on the way to a receiver (the receiver and a proxy), for
 * libcurl.
 *
 * Each name is looked up (lookup.h) again after a minute or a failed transfer. Where the name
 * service does not answer, the addresses that are known stay in use. libcurl itself looks nothing
 * up: it finds every address in CURLOPT_RESOLVE. Numeric addresses and localhost need no look-up.
 *
 * libcurl uses an open connection again whatever the name means by then. So new addresses count
 * from the next connection on: when the receiver closes the old one, after a failed transfer, and
 * where nothing was sent for longer than the receiver keeps an idle connection.
 */
#ifndef AGENT_REACH_H
#define AGENT_REACH_H

#include <curl/curl.h>
#include <stdatomic.h>

#include "base/text/err.h"

struct reach;

/*
 * url is the receiver's URL, proxy the URL of a proxy or NULL. Returns 0, or -EINVAL or -ENOMEM
 * with one line in err.
 */
int reach_new(struct reach **out, const char *url, const char *proxy, struct err *err);

/*
 * Starts the thread that looks names up. Call this before reach_find(). Fails as lookup_start()
 * does.
 */
int reach_start(struct reach *r, struct err *err);
void reach_free(struct reach *r);

/*
 * Gives curl the addresses of all names. Waits for each at most wait_s, and no longer once
 * *abort_flag is set. Where no address of a name is known it fails as lookup_addresses() does. curl
 * refers to memory of r until the next call or reach_free().
 */
int reach_find(struct reach *r, CURL *curl, double wait_s, const atomic_bool *abort_flag,
	       struct err *err);

/* Notes that a transfer failed: the addresses may have changed and are looked up again. */
void reach_doubt(struct reach *r);

#endif
