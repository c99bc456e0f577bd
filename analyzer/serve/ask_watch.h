/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask_watch: knows the questions that the store holds (store_ask.h), for the replies to uploads.
 *
 * A thread reads them once per second, so that no upload waits for a disk or a database. Where they
 * cannot be read, those that were read last stay in force, and one line says why.
 */
#ifndef ANALYZER_ASK_WATCH_H
#define ANALYZER_ASK_WATCH_H

#include <stdbool.h>

#include "base/err.h"

#define ASK_FIELD_BYTES 48

struct ask_watch;

/* store: its name. note (may be NULL) is called with a line by the thread. 0 or -errno. */
int ask_watch_new(struct ask_watch **out, const char *store, void (*note)(void *, const char *),
		  void *ctx, struct err *err);
void ask_watch_free(struct ask_watch *w);
/* Prints the value of Blkcast-Ask for the host. Returns false where nobody asked. Any thread. */
bool ask_watch_field(struct ask_watch *w, const char *host, char out[ASK_FIELD_BYTES]);

#endif
