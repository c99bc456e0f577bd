/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach: the names on the way to a receiver, its own and a proxy's, and their addresses for libcurl.
 *
 * Looked up by lookup.h, each again after a minute or a failed transfer; where the name service does
 * not answer, the addresses known so far are used on. libcurl asks nobody: it finds all that it is
 * to connect to in CURLOPT_RESOLVE. Addresses in numbers and localhost need no looking up.
 */
#ifndef AGENT_REACH_H
#define AGENT_REACH_H

#include <curl/curl.h>
#include <stdatomic.h>

#include "base/err.h"

struct reach;

/* url: of the receiver. proxy: its URL, or NULL. -EINVAL with one line in err, -ENOMEM. */
int reach_new(struct reach **out, const char *url, const char *proxy, struct err *err);

/* Starts the thread that looks up; before reach_find(). As lookup_start(). */
int reach_start(struct reach *r, struct err *err);
void reach_free(struct reach *r);

/*
 * Gives curl the addresses of all names. Waits for them at most wait_s, and no longer once
 * *abort_flag is set. Where a name's are not known: as lookup_addresses(). Until the next call, or
 * reach_free(), curl refers to what r holds.
 */
int reach_find(struct reach *r, CURL *curl, double wait_s, const atomic_bool *abort_flag,
	       struct err *err);

/* A transfer failed: what is known may have changed. */
void reach_doubt(struct reach *r);

#endif
