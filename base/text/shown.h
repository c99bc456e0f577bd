/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown: makes text from outside (a segment, a trace, a file name) safe to print on a terminal.
 *
 * Names and messages of a guest may hold escape sequences that move the cursor, rename the window
 * or forge a line of output. Every byte of a C0 or C1 control, of DEL, of a bidirectional control
 * and of anything that is not UTF-8 becomes \xHH. All other text stays unchanged, so text may be
 * passed through shown() twice.
 */
#ifndef BASE_TEXT_SHOWN_H
#define BASE_TEXT_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SHOWN_ESCAPE_BYTES 4 /* length of the escape for one hidden byte */

/*
 * Writes the text into out, which has room for this many bytes with the final 0. The text is cut
 * before the first character that does not fit. Returns out.
 */
char *shown(const char *text, char *out, size_t bytes);
/* Prints the text. */
void shown_print(const char *text, FILE *out);
/*
 * Prints JSON text in one line of valid JSON: hidden characters in its strings become \uHHHH, and
 * line breaks between its parts become blanks.
 */
void shown_print_json(const char *json, FILE *out);
/*
 * Prints nr bytes of valid JSON and keeps its line breaks: hidden characters in its strings become
 * \uHHHH, which a reader of JSON understands as the same text.
 */
void shown_put_json(const char *json, size_t nr, FILE *out);
/* Returns whether the text is UTF-8, as JSON requires of its strings. */
bool shown_is_utf8(const char *text);
/* Does the same as shown() in place, in a buffer of this many bytes. */
void shown_in_place(char *text, size_t bytes);

#endif
