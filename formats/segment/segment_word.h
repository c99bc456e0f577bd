/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_word: what a host or a boot id may be called.
 *
 * They come from machines and over the network and become parts of URLs and names of folders: the
 * agent asks before it begins, serve and the store before they take a segment.
 */
#ifndef FORMATS_SEGMENT_WORD_H
#define FORMATS_SEGMENT_WORD_H

#include <stdbool.h>

#include "base/err.h"

/* Whether text may be a host or a boot id: 1 to 63 letters, digits, '.', '_' and '-', no leading dot. */
bool segment_word_ok(const char *text);
/* 0, or -EINVAL with "FIELD: expected ..., got '...'"; bytes that are not printable are shown as '?'. */
int segment_word_check(const char *field, const char *text, struct err *err);
/* Makes a device's or command's name from outside fit to be shown and put into JSON: any byte but
 * letters, digits and . _ - : ! / + @ becomes '_'. */
void segment_word_clean(char *text);

#endif
