/* SPDX-License-Identifier: Apache-2.0 */
/* when: instants of CLOCK_REALTIME as ISO 8601 text. */
#ifndef ANALYZER_WHEN_H
#define ANALYZER_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * "2026-01-31", "2026-01-31T14:05", "2026-01-31T14:05:00.25", a blank in place of the T, each with
 * "Z" or "+01:00" or, without, in local time; or "@1769864700.25", seconds since 1970.
 * 0 or -EINVAL.
 */
int when_parse(const char *text, uint64_t *real_ns);

#define WHEN_BYTES 48
/* "2026-01-31T14:05:00.250+01:00", or "...Z" with utc; digits: of the second's fraction, 0 to 9. */
void when_format(uint64_t real_ns, bool utc, unsigned int digits, char out[WHEN_BYTES]);

/* A length of time in three digits: "250 µs", "1.20 s", "3 min", "2 h 10 min", "4 d 3 h". */
void when_span(double seconds, char out[WHEN_BYTES]);

#endif
