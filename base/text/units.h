/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units: reads and writes quantities as people write them. The result is the same in every locale.
 *
 * To read: a number of digits, with or without a fraction, and a unit in upper or lower case, with
 * or without a blank between them. To write: three digits and a unit; NaN becomes "-".
 */
#ifndef BASE_TEXT_UNITS_H
#define BASE_TEXT_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#define UNITS_BYTES 64 /* room for any text made here, including the final 0 */

/*
 * Parses "4096", "4k", "4 KiB", "1.5m", "1GiB", "2t": powers of 1024, where k, kb and kib mean the
 * same. The result is rounded to whole bytes. Returns 0; -EINVAL where the text is no such
 * quantity, with what was expected in *expected (static, may be NULL); -ERANGE above 2^62.
 */
int units_parse_bytes(const char *text, uint64_t *bytes, const char **expected);
/*
 * Parses "1s", "20ms", "250us", "250µs", "100ns", "1.5min", "2h", "7d", "1w"; a bare number is in
 * seconds. The result is rounded to whole nanoseconds. Errors are those of units_parse_bytes().
 */
int units_parse_time(const char *text, uint64_t *ns, const char **expected);
/* Parses "1000", "1.2k", "3M", "2G": powers of 1000. Errors are those of units_parse_bytes(). */
int units_parse_count(const char *text, uint64_t *count, const char **expected);

/*
 * Prints "0 s", "870 ns", "12.3 µs", "1.23 ms", "45.6 s", "3 min 20 s", "2 h 5 min" or "4 d 3 h".
 */
const char *units_time(double seconds, char out[UNITS_BYTES]);
/*
 * Prints a computed or measured time with three significant digits in a single unit: "12.3 µs",
 * "185 s", "20.8 min", "2.08 h", "4.13 d".
 */
const char *units_measured_time(double seconds, char out[UNITS_BYTES]);
/* Prints "512 B", "4 KiB", "1.37 GiB". */
const char *units_bytes(double bytes, char out[UNITS_BYTES]);
/* Prints "0.25", "12.3", "999", "1.2 k", "3.45 M". */
const char *units_count(double count, char out[UNITS_BYTES]);
/* Prints a share: "0 %", "less than 0.01 %", "0.25 %", "12.3 %", "100 %", "2126 %". */
const char *units_share(double ratio, char out[UNITS_BYTES]);

/*
 * Prints an instant of CLOCK_REALTIME as ISO 8601, with the offset of the local time or, where utc
 * is set, with "Z": "2026-01-31T14:05:00.250+01:00". digits (0 to 9) is the number of digits of the
 * second's fraction.
 */
const char *units_instant(uint64_t real_ns, bool utc, unsigned int digits, char out[UNITS_BYTES]);

#endif
