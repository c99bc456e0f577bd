/* SPDX-License-Identifier: Apache-2.0 */
/* humane: quantities as people read them, in three digits with their unit. NaN is "-". */
#ifndef ANALYZER_HUMANE_H
#define ANALYZER_HUMANE_H

#define HUMANE_BYTES 32

/* "512 B", "4.00 KiB", "1.37 GiB" */
const char *humane_bytes(double bytes, char out[HUMANE_BYTES]);
/* "0.123", "12.3", "1230", "12.3 k", "1.20 M": rates and ratios */
const char *humane_number(double value, char out[HUMANE_BYTES]);
/* "49.9 %" of a ratio */
const char *humane_percent(double ratio, char out[HUMANE_BYTES]);

#endif
