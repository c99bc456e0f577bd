/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/units.h"
#include "tests/support/tap.h"

static void sizes_in(void)
{
	static const struct {
		const char *text;
		uint64_t want;
	} good[] = {
		{ "0", 0 },
		{ "512", 512 },
		{ "4k", 4096 },
		{ "4K", 4096 },
		{ "4 KiB", 4096 },
		{ "4kb", 4096 },
		{ "1MiB", 1 << 20 },
		{ "1.5m", 3 << 19 },
		{ "2g", (uint64_t)2 << 30 },
		{ "1TiB", (uint64_t)1 << 40 },
		{ "0.5k", 512 },
		{ ".5k", 512 },
	};
	static const char *const bad[] = { "",
					   "k",
					   "-1",
					   "4x",
					   "4k k",
					   "1e3",
					   "0x10",
					   "4  k",
					   "1.2.3",
					   "nan",
					   "1234567890123456",
					   "4k " };
	const char *expected = NULL;
	uint64_t bytes = 77;

	for (size_t i = 0; i < TAP_NR(bad); i++)
		if (!ok_int(units_parse_bytes(bad[i], &bytes, &expected), -EINVAL))
			tap_note("%s", bad[i]);
	ok_int(units_parse_bytes("9999999t", &bytes, NULL), -ERANGE);
	ok_eq(bytes, 77);
	ok_str(expected, "a size such as 512, 4k or 1MiB");
	for (size_t i = 0; i < TAP_NR(good); i++) {
		ok_int(units_parse_bytes(good[i].text, &bytes, NULL), 0);
		ok_eq(bytes, good[i].want);
	}
}

static void times_in(void)
{
	static const struct {
		const char *text;
		uint64_t want;
	} good[] = {
		{ "1s", 1000000000 },	    { "20ms", 20000000 },      { "250us", 250000 },
		{ "250\xc2\xb5s", 250000 }, { "100ns", 100 },	       { "1.5min", 90000000000 },
		{ "2h", 7200000000000 },    { "7d", 604800000000000 }, { "0.1", 100000000 },
		{ "1w", 604800000000000 },  { "0.000000001s", 1 },
	};
	uint64_t ns, count;

	for (size_t i = 0; i < TAP_NR(good); i++) {
		ok_int(units_parse_time(good[i].text, &ns, NULL), 0);
		ok_eq(ns, good[i].want);
	}
	ok_int(units_parse_time("1 fortnight", &ns, NULL), -EINVAL);
	ok_int(units_parse_count("1.2k", &count, NULL), 0);
	ok_eq(count, 1200);
	ok_int(units_parse_count("2M", &count, NULL), 0);
	ok_eq(count, 2000000);
}

static void times_out(void)
{
	char out[UNITS_BYTES];

	ok_str(units_time(0, out), "0 s");
	ok_str(units_time(870e-9, out), "870 ns");
	ok_str(units_time(12.34e-6, out), "12.3 \xc2\xb5s");
	ok_str(units_time(1.234e-3, out), "1.23 ms");
	ok_str(units_time(0.9999, out), "1.00 s");
	ok_str(units_time(45.64, out), "45.6 s");
	ok_str(units_time(99.94, out), "99.9 s");
	ok_str(units_time(200, out), "3 min 20 s");
	ok_str(units_time(3599.9, out), "1 h");
	ok_str(units_time(7500, out), "2 h 5 min");
	ok_str(units_time(4 * 86400 + 3 * 3600, out), "4 d 3 h");
	ok_str(units_time(-0.002, out), "-2 ms");
	ok_str(units_time(NAN, out), "-");
	ok_str(units_time(INFINITY, out), "-");
	ok_str(units_measured_time(184.82, out), "185 s");
	ok_str(units_measured_time(45.64, out), "45.6 s");
	ok_str(units_measured_time(1250, out), "20.8 min");
	ok_str(units_measured_time(7500, out), "2.08 h");
	ok_str(units_measured_time(4.13 * 86400, out), "99.1 h");
	ok_str(units_measured_time(30.4 * 86400, out), "30.4 d");
	ok_str(units_measured_time(NAN, out), "-");
}

static void sizes_out(void)
{
	char out[UNITS_BYTES];

	ok_str(units_bytes(0, out), "0 B");
	ok_str(units_bytes(512, out), "512 B");
	ok_str(units_bytes(4096, out), "4 KiB");
	ok_str(units_bytes(1023.7, out), "1.00 KiB");
	ok_str(units_bytes(1.371 * (1 << 30), out), "1.37 GiB");
	ok_str(units_bytes(NAN, out), "-");
	ok_str(units_share(0, out), "0 %");
	ok_str(units_share(0.0000109, out), "less than 0.01 %");
	ok_str(units_share(0.002512, out), "0.25 %");
	ok_str(units_share(0.95, out), "95 %");
	ok_str(units_share(1.063, out), "106 %");
	ok_str(units_share(9.996, out), "1000 %");
	ok_str(units_share(21.256, out), "2126 %");
	ok_str(units_share(NAN, out), "-");
	ok_str(units_count(0.25, out), "0.25");
	ok_str(units_count(999, out), "999");
	ok_str(units_count(999.6, out), "1.00 k");
	ok_str(units_count(1234, out), "1.23 k");
	ok_str(units_count(3.45e6, out), "3.45 M");
	ok_str(units_count(NAN, out), "-");
}

static void what_goes_out_comes_in(void)
{
	char out[UNITS_BYTES];
	uint64_t back;

	for (unsigned int i = 0; i < 50; i++) {
		uint64_t bytes = (uint64_t)1 << i;

		ok_int(units_parse_bytes(units_bytes((double)bytes, out), &back, NULL), 0);
		ok_eq(back, bytes);
	}
}

static void instants(void)
{
	uint64_t t = 1769864700250000000;
	char out[UNITS_BYTES];

	ok_str(units_instant(t, true, 3, out), "2026-01-31T13:05:00.250Z");
	ok_str(units_instant(t, true, 0, out), "2026-01-31T13:05:00Z");
	ok_str(units_instant(1, true, 9, out), "1970-01-01T00:00:00.000000001Z");
	setenv("TZ", "CET-1", 1);
	tzset();
	ok_str(units_instant(t, false, 3, out), "2026-01-31T14:05:00.250+01:00");
	setenv("TZ", "NST3:30", 1);
	tzset();
	ok_str(units_instant(t, false, 0, out), "2026-01-31T09:35:00-03:30");
	setenv("TZ", "UTC", 1);
	tzset();
}

/* Compares the number without a unit with what printf() makes of it. */
static void like_printf(double value, unsigned int *nr_wrong)
{
	char got[UNITS_BYTES], want[UNITS_BYTES];
	double size = fabs(value);
	int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;

	if (value == rint(value))
		decimals = 0;
	snprintf(want, sizeof(want), "%.*f", decimals, value);
	units_count(value, got);
	if (!strcmp(got, want))
		return;
	if (!(*nr_wrong)++)
		tap_note("%.17g: got %s, expected %s", value, got, want);
}

/* Goes through all thousandths, with the middles between two results, and their neighbours. */
static void numbers_out(void)
{
	unsigned int nr_wrong = 0;

	for (int i = -999499; i <= 999499; i++) {
		double value = i / 1000.;

		like_printf(value, &nr_wrong);
		like_printf(nextafter(value, 1000), &nr_wrong);
		like_printf(nextafter(value, -1000), &nr_wrong);
	}
	for (int i = 0; i < 2 * 99950;
	     i++) /* halves, eighths and so on are exactly in the middle */
		like_printf(i / 2048., &nr_wrong);
	like_printf(0., &nr_wrong);
	like_printf(-0., &nr_wrong);
	like_printf(-1e-300, &nr_wrong);
	ok_eq(nr_wrong, 0);
}

static const struct tap_test tests[] = {
	{ "sizes are read in powers of 1024, or refused", sizes_in },
	{ "times and counts are read with their units", times_in },
	{ "times are shown in three digits", times_out },
	{ "sizes and counts are shown in three digits", sizes_out },
	{ "a size that is shown can be read back", what_goes_out_comes_in },
	{ "numbers are those of printf", numbers_out },
	{ "instants are ISO 8601 with their offset", instants },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
