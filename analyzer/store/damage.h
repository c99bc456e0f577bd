/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage: notes the files of a store that a command could not read and therefore left out.
 *
 * One damaged segment must not hide all others. Code that meets one notes it here and continues.
 * When the command has ended, cli.c names the damaged files and turns an exit status of 0 into 1,
 * so that no command can forget to do so. The notes belong to the process, like its exit status.
 */
#ifndef ANALYZER_DAMAGE_H
#define ANALYZER_DAMAGE_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/store/store.h"

#define DAMAGE_KEPT 16

/*
 * Notes that a file of the store in that folder was left out. A file counts once, however often it
 * is noted.
 */
void damage_note(const char *store_dir, const char *path, const char *why);
/*
 * Notes the files of these hosts that the catalog knows to be damaged; of all hosts where none are
 * given. Returns 0 or -EIO.
 */
int damage_note_store(struct store *store, const char *const *hosts, size_t nr_hosts,
		      struct err *err);
/* Returns the number of files that were noted. */
size_t damage_count(void);
/* Prints a line for each of the first DAMAGE_KEPT files, and the number of the others. */
void damage_print(const char *command, FILE *out);
/* Returns the folder of the store whose file was noted, or an empty text. */
const char *damage_store(void);

#endif
