/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_word: writes a text as one word of a shell command, so that a copied command keeps its
 * meaning.
 */
#ifndef BASE_TEXT_SHELL_WORD_H
#define BASE_TEXT_SHELL_WORD_H

#include "base/memory/buf.h"

/*
 * Appends a blank where out is not empty, and then the word: unchanged where it is plain, otherwise
 * in single quotes with all its characters.
 */
void shell_word(struct buf *out, const char *text);

#endif
