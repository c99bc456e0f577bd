/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_word: writes a text as one word of a shell command, so that a copied command keeps its
 * meaning.
 */
#ifndef BASE_TEXT_SHELL_WORD_H
#define BASE_TEXT_SHELL_WORD_H

#include "base/memory/buf.h"

/* Appends the word: unchanged where it is plain, otherwise in single quotes with all characters. */
void shell_word_quote(struct buf *out, const char *text);
/* Appends a blank where out is not empty, and then the word likewise. */
void shell_word(struct buf *out, const char *text);

#endif
