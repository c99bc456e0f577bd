/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage: notes the files of a store that are damaged or could not be read, and that a command
 * therefore left out.
 *
 * One such segment must not hide all others. Code that meets one notes it here and continues.
 * When the command has ended, cli.c names the files and turns an exit status of 0 into 1,
 * so that no command can forget to do so. The notes belong to the process, like its exit status.
 */
#ifndef ANALYZER_DAMAGE_H
#define ANALYZER_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyzer/store/store.h"

#define DAMAGE_KEPT 16

/*
 * Returns whether that status of reading and decoding a file says nothing about its content: the
 * file could not be read, for lack of a right, say, and may be whole.
 */
bool damage_is_unread(int status);
/*
 * Notes that a file of the store in that folder was left out. A file counts once, however often it
 * is noted.
 */
void damage_note(const char *store_dir, const char *path, bool is_unread, const char *why);
/*
 * Notes the files of these hosts that the catalog lists as damaged or unreadable; of all hosts
 * where none are given. Returns 0 or -EIO.
 */
int damage_note_store(struct store *store, const char *const *hosts, size_t nr_hosts,
		      struct err *err);
/* Returns the number of files that were noted. */
size_t damage_count(void);
/* Returns whether one of them was read and is damaged, so that it can be set aside. */
bool damage_has_damaged(void);
/* Prints a line for each of the first DAMAGE_KEPT files, and the number of the others. */
void damage_print(const char *command, FILE *out);
/* Returns the folder of the store whose file was noted, or an empty text. */
const char *damage_store(void);

#endif
