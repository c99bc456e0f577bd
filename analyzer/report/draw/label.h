/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label: prints quantities for people, for axes, tables and sentences.
 *
 * Each function writes a short UTF-8 text into a struct label and returns it. Numbers have three
 * significant digits, and NaN gives an en dash. Thread-safe except for clocks, which read the time
 * zone.
 */
#ifndef ANALYZER_REPORT_DRAW_LABEL_H
#define ANALYZER_REPORT_DRAW_LABEL_H

#include <stdbool.h>
#include <stdint.h>

struct label {
	char text[64];
};

enum unit {
	UNIT_COUNT,   /* 12 345; 0.25 */
	UNIT_SECONDS, /* 850 ns, 12.3 µs, 4.5 ms, 2 s, 3 min, 1.5 h */
	UNIT_BYTES,   /* 4 KiB, 1.5 GiB: powers of 1024, named so */
	UNIT_RATIO,   /* 0.125 as 12.5 % */
};

const char *label_quantity(struct label *l, enum unit unit, double value);
const char *label_duration(struct label *l, double value_s);
const char *label_bytes(struct label *l, double bytes);
const char *label_count(struct label *l, double count);
const char *label_percent(struct label *l, double ratio);
/* Writes month and day, such as "05-06". */
const char *label_date(struct label *l, uint64_t real_ns, bool utc);
/*
 * Writes the time of day alone, such as "07:08:09.123". If digits is below 0, the text has no
 * seconds.
 */
const char *label_clock(struct label *l, uint64_t real_ns, int digits, bool utc);

#endif
