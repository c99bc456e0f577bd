/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask_watch: knows the questions (store_ask.h) and the policies (store_policy.h) that the store
 * holds, for the replies to uploads.
 *
 * They are read before the first reply, and then by a thread once per second, so that no upload
 * waits for a disk or a database. If they cannot be read, the ones that were read last stay in
 * force, and one line says why. The server does not start before policies could be read, because
 * agents would send requests that a policy forbids.
 */
#ifndef ANALYZER_ASK_WATCH_H
#define ANALYZER_ASK_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/err.h"
#include "formats/policy.h"

#define ASK_FIELD_BYTES 48

struct ask_watch;

/*
 * store is the name of the store. note (may be NULL) is called with a line, mostly by the thread.
 * Returns 0 or -errno.
 */
int ask_watch_new(struct ask_watch **out, const char *store, void (*note)(void *, const char *),
		  void *ctx, struct err *err);
void ask_watch_free(struct ask_watch *w);
/* Prints the value of Blkcast-Ask for the host. Returns false where nobody asked. Any thread. */
bool ask_watch_field(struct ask_watch *w, const char *host, char out[ASK_FIELD_BYTES]);
/*
 * Prints the value of Blkcast-Policy for the host. Returns false where its agent sends all
 * requests. Any thread.
 */
bool ask_watch_policy(struct ask_watch *w, const char *host, char out[POLICY_FIELD_BYTES]);
/* Returns the number of policies that are in force. Any thread. */
size_t ask_watch_nr_policies(struct ask_watch *w);

#endif
