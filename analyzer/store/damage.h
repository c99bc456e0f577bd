/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage: what a command could not read of a store, and read on without.
 *
 * One damaged segment must not hide all others. Whoever meets one notes it here and goes on; when
 * the command has ended, cli.c names the damaged files and makes an exit status of 0 a 1, so that no
 * command of today or tomorrow can forget to. The notes belong to the process, like its exit status.
 */
#ifndef ANALYZER_DAMAGE_H
#define ANALYZER_DAMAGE_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/store/store.h"

#define DAMAGE_KEPT 16

/* A file of the store in that folder was left out, once however often it is noted. */
void damage_note(const char *store_dir, const char *path, const char *why);
/* Notes what the catalog knows to be damaged of these hosts; of all where there are none. 0, -EIO. */
int damage_note_store(struct store *store, const char *const *hosts, size_t nr_hosts,
		      struct err *err);
/* How many files were noted. */
size_t damage_count(void);
/* A line for each of the first DAMAGE_KEPT files, and what mends them. */
void damage_print(const char *command, FILE *out);

#endif
