/* SPDX-License-Identifier: Apache-2.0 */
/* when: reads an instant as people type it. base/text/units.h writes instants. */
#ifndef BASE_TEXT_WHEN_H
#define BASE_TEXT_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/units.h"

/*
 * Parses "2026-01-31", "2026-01-31T14:05" or "2026-01-31T14:05:00.25" (a blank may replace the T),
 * each followed by "Z", "+01:00" or nothing for local time; or "@1769864700.25", seconds since
 * 1970. Returns 0, or -EINVAL, also for a day that the calendar does not have.
 */
int when_parse(const char *text, uint64_t *real_ns);

#endif
