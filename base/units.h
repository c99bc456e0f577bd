/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units: quantities as people write and read them. The same in every locale.
 *
 * In: a number (digits, with a fraction or without) and a unit, in any case, with or without a blank
 * between. Out: three digits and a unit; NaN is "-".
 */
#ifndef FORMATS_UNITS_H
#define FORMATS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#define UNITS_BYTES 64 /* of any text made here, with the final 0 */

/*
 * "4096", "4k", "4 KiB", "1.5m", "1GiB", "2t": powers of 1024; k, kb and kib are the same. Rounded
 * to whole bytes. 0; -EINVAL, with what was expected in *expected (static, may be NULL), where it is
 * no such thing; -ERANGE above 2^62.
 */
int units_parse_bytes(const char *text, uint64_t *bytes, const char **expected);
/* "1s", "20ms", "250us", "250µs", "100ns", "1.5min", "2h", "7d", "1w"; a bare number is seconds.
 * Rounded to whole ns; as above. */
int units_parse_time(const char *text, uint64_t *ns, const char **expected);
/* "1000", "1.2k", "3M", "2G": powers of 1000; as above. */
int units_parse_count(const char *text, uint64_t *count, const char **expected);

/* "0 s", "870 ns", "12.3 µs", "1.23 ms", "45.6 s", "3 min 20 s", "2 h 5 min", "4 d 3 h" */
const char *units_time(double seconds, char out[UNITS_BYTES]);
/*
 * A time that was computed or measured, with three significant digits in one unit at any length:
 * "12.3 µs", "185 s", "20.8 min", "2.08 h", "4.13 d".
 */
const char *units_measured_time(double seconds, char out[UNITS_BYTES]);
/* "512 B", "4 KiB", "1.37 GiB" */
const char *units_bytes(double bytes, char out[UNITS_BYTES]);
/* "0.25", "12.3", "999", "1.2 k", "3.45 M" */
const char *units_count(double count, char out[UNITS_BYTES]);

/*
 * An instant of CLOCK_REALTIME as ISO 8601 with the offset of the local time or, with utc, "Z":
 * "2026-01-31T14:05:00.250+01:00"; digits: of the second's fraction, 0 to 9.
 */
const char *units_instant(uint64_t real_ns, bool utc, unsigned int digits, char out[UNITS_BYTES]);

#endif
