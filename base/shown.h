/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown: text that came from outside (a segment, a trace, a file name), made fit for a terminal.
 *
 * Names and messages of a guest may hold escape sequences that move the cursor, rename the window or
 * forge a line of output. Every byte of a C0 or C1 control, DEL, of a bidirectional control and of
 * what is no UTF-8 becomes \xHH; all other text stays as it is, so that shown text may be shown again.
 */
#ifndef FORMATS_SHOWN_H
#define FORMATS_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the text into out, at most bytes of it with the final 0, cut before what has no room. Returns out. */
char *shown(const char *text, char *out, size_t bytes);
/* Prints the text. */
void shown_print(const char *text, FILE *out);
/*
 * Prints JSON text in one line that stays JSON: what is hidden in its strings becomes \uHHHH, and line
 * breaks between its parts become blanks.
 */
void shown_print_json(const char *json, FILE *out);
/*
 * Prints nr bytes of JSON that is valid as it is, laid out in lines: what is hidden in its strings becomes
 * \uHHHH, which a reader of JSON takes for the same text.
 */
void shown_put_json(const char *json, size_t nr, FILE *out);
/* Whether the text is UTF-8, which JSON expects of its strings. */
bool shown_is_utf8(const char *text);
/* shown() in place, in a buffer of that many bytes. */
void shown_in_place(char *text, size_t bytes);

#endif
