/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_window: this module reads from the JSON text of a window (a profile) only the values that
 * the live page shows.
 *
 * A profile of a busy second has 20 KiB of text, most of it histograms of stages and sizes that no
 * picture of the page uses. Reading all of it takes 2 ms; this module walks over the text once,
 * keeps names, counts, sizes and the total response times, and skips all other values. A window of
 * another device is left as soon as its device is known. The text is not trusted: the walk is
 * linear in its length, and nested values need no memory.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_WINDOW_H
#define ANALYZER_SERVE_PERIOD_PAGE_WINDOW_H

#include <stdbool.h>

#include "formats/profile/profile.h"

/*
 * Reads the window into p, whose old content is overwritten. device is NULL for any device.
 * *is_other is set, and p is not whole, if the window is of another device. Returns 0, -EBADMSG or
 * -ENOMEM. The caller releases p in every case.
 */
int page_window_read(const char *text, const char *device, struct profile *p, bool *is_other);

#endif
