/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word: a text as one word of a shell command, so that a copied command means what it says. */
#ifndef ANALYZER_REPORT_SHELL_WORD_H
#define ANALYZER_REPORT_SHELL_WORD_H

#include "base/buf.h"

/* Appends a blank where out is not empty, then the word: as it is where it is plain, else in single
 * quotes, whatever it holds. */
void shell_word(struct buf *out, const char *text);

#endif
