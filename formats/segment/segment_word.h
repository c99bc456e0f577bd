/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_word: checks whether a word is allowed as a host or a boot id.
 *
 * These words come from other machines over the network and become parts of URLs and names of
 * folders. The agent checks them before it begins, and serve and the store before they accept a
 * segment.
 */
#ifndef FORMATS_SEGMENT_WORD_H
#define FORMATS_SEGMENT_WORD_H

#include <stdbool.h>

#include "base/text/err.h"

/*
 * Returns whether text may be a host or a boot id: 1 to 63 letters, digits, '.', '_' and '-',
 * without a dot at the beginning.
 */
bool segment_word_ok(const char *text);
/*
 * Returns 0, or -EINVAL with "FIELD: expected ..., got '...'". Bytes that are not printable are
 * shown as '?'.
 */
int segment_word_check(const char *field, const char *text, struct err *err);
/*
 * Makes the name of a device or command from outside safe to show and to put into JSON: every byte
 * other than letters, digits and . _ - : ! / + @ becomes '_'.
 */
void segment_word_clean(char *text);

#endif
