/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/text/units.h"

#define LARGEST	   0x1p62
#define MAX_DIGITS 15 /* a double holds every number of this many digits exactly */
#define MICRO	   "\xc2\xb5"

struct unit {
	const char *name;
	double factor;
};

/*
 * Parses the number at the beginning of text, exactly up to MAX_DIGITS digits. Returns the rest of
 * the text, or NULL where there is no number.
 */
static const char *parse_number(const char *text, double *out)
{
	double value = 0, scale = 1;
	unsigned int nr = 0;
	bool point = false;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		if (++nr > MAX_DIGITS)
			return NULL;
		value = 10 * value + (*text - '0');
		scale *= point ? 10 : 1;
	}
	*out = value / scale;
	return nr ? text : NULL;
}

static int units_parse(const char *text, const struct unit *units, size_t nr, const char *what,
		       uint64_t *out, const char **expected)
{
	const char *rest;
	double value;

	if (expected)
		*expected = what;
	rest = parse_number(text, &value);
	if (!rest)
		return -EINVAL;
	rest += *rest == ' ';
	for (size_t i = 0; i < nr; i++) {
		if (strcasecmp(rest, units[i].name))
			continue;
		value = rint(value * units[i].factor);
		if (value > LARGEST)
			return -ERANGE;
		*out = (uint64_t)value;
		return 0;
	}
	return -EINVAL;
}

#define NR(a) (sizeof(a) / sizeof((a)[0]))

int units_parse_bytes(const char *text, uint64_t *bytes, const char **expected)
{
	static const struct unit units[] = {
		{ "", 1 },	   { "b", 1 },	      { "k", 0x1p10 },	 { "kb", 0x1p10 },
		{ "kib", 0x1p10 }, { "m", 0x1p20 },   { "mb", 0x1p20 },	 { "mib", 0x1p20 },
		{ "g", 0x1p30 },   { "gb", 0x1p30 },  { "gib", 0x1p30 }, { "t", 0x1p40 },
		{ "tb", 0x1p40 },  { "tib", 0x1p40 },
	};

	return units_parse(text, units, NR(units), "a size such as 512, 4k or 1MiB", bytes,
			   expected);
}

int units_parse_time(const char *text, uint64_t *ns, const char **expected)
{
	static const struct unit units[] = {
		{ "", 1e9 },	    { "s", 1e9 },     { "ms", 1e6 },	 { "us", 1e3 },
		{ MICRO "s", 1e3 }, { "ns", 1 },      { "m", 60e9 },	 { "min", 60e9 },
		{ "h", 3600e9 },    { "d", 86400e9 }, { "w", 604800e9 },
	};

	return units_parse(text, units, NR(units), "a time such as 1s, 20ms or 5min", ns, expected);
}

int units_parse_count(const char *text, uint64_t *count, const char **expected)
{
	static const struct unit units[] = { { "", 1 }, { "k", 1e3 }, { "m", 1e6 }, { "g", 1e9 } };

	return units_parse(text, units, NR(units), "a number such as 1000, 10k or 2M", count,
			   expected);
}

/* Writes the last `digits` digits of the value, with leading zeros. Returns the end. */
static char *put_digits(char *to, uint64_t value, unsigned int digits)
{
	for (unsigned int i = digits; i-- > 0; value /= 10)
		to[i] = (char)('0' + value % 10);
	return to + digits;
}

/*
 * Writes a size below 999.5 as printf() does, which is slow where a library has registered
 * conversions of its own, as libquadmath does. Returns NULL where the product is so near to the
 * middle of two results that its rounding error could decide.
 */
static char *put_decimal(char *to, double size, int decimals)
{
	static const unsigned int powers[] = { 1, 10, 100 };
	unsigned int power = powers[decimals], whole, scaled;
	double product = size * power, nearest = rint(product);

	if (fabs(fabs(product - nearest) - 0.5) < 1e-9)
		return NULL;
	scaled = (unsigned int)nearest;
	whole = scaled / power;
	to = put_digits(to, whole, whole >= 100 ? 3 : whole >= 10 ? 2 : 1);
	if (!decimals)
		return to;
	*to++ = '.';
	return put_digits(to, scaled % power, (unsigned int)decimals);
}

/* Appends a blank and the unit, if there is one, to the number that ends at `to`. */
static const char *put_unit(char *to, const char *unit, char out[UNITS_BYTES])
{
	if (*unit)
		*to++ = ' ';
	memcpy(to, unit, strlen(unit) + 1);
	return out;
}

/* Prints three significant digits. A whole value has no zeros behind a point. */
static const char *three_digits(double value, const char *unit, char out[UNITS_BYTES])
{
	double size = fabs(value);
	int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
	char *end;

	if (value == rint(value))
		decimals = 0;
	*out = '-';
	end = size < 999.5 ? put_decimal(out + (signbit(value) != 0), size, decimals) : NULL;
	if (end)
		return put_unit(end, unit, out);
	snprintf(out, UNITS_BYTES, "%.*f%s%s", decimals, value, *unit ? " " : "", unit);
	for (char *c = out; *c; c++)
		if (*c == ',')
			*c = '.'; /* replaces the locale's decimal comma */
	return out;
}

static const char *units_unknown(char out[UNITS_BYTES])
{
	return memcpy(out, "-", sizeof("-"));
}

/* Chooses the next unit where rounding would show a full step of this one. */
static const char *units_scaled(double value, double step, const char *const *units,
				unsigned int nr, char out[UNITS_BYTES])
{
	unsigned int unit = 0;

	if (!isfinite(value))
		return units_unknown(out);
	for (; fabs(value) >= step - 0.5 && unit + 1 < nr; unit++)
		value /= step;
	return three_digits(value, units[unit], out);
}

const char *units_bytes(double bytes, char out[UNITS_BYTES])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };

	return units_scaled(bytes, 1024, units, NR(units), out);
}

#define LEAST_SHOWN_SHARE 0.0001 /* What is less than this is shown as less. */

const char *units_share(double ratio, char out[UNITS_BYTES])
{
	if (!isfinite(ratio))
		snprintf(out, UNITS_BYTES, "-");
	else if (ratio > 0 && ratio < LEAST_SHOWN_SHARE)
		snprintf(out, UNITS_BYTES, "less than 0.01 %%");
	else if (ratio >= 1)
		snprintf(out, UNITS_BYTES, "%.0f %%", 100 * ratio);
	else
		snprintf(out, UNITS_BYTES, "%.*g %%", ratio < 0.01 ? 2 : 3, 100 * ratio);
	return out;
}

const char *units_count(double count, char out[UNITS_BYTES])
{
	static const char *const units[] = { "", "k", "M", "G", "T" };

	return units_scaled(count, 1000, units, NR(units), out);
}

static const char *two_units(double seconds, char out[UNITS_BYTES])
{
	static const struct {
		unsigned long long seconds;
		const char *name, *rest_name;
		unsigned long long rest;
	} steps[] = { { 86400, "d", "h", 3600 }, { 3600, "h", "min", 60 }, { 60, "min", "s", 1 } };
	unsigned long long whole;

	for (size_t i = 0; i < NR(steps); i++) {
		whole = (unsigned long long)rint(seconds / (double)steps[i].rest) * steps[i].rest;
		if (whole < steps[i].seconds)
			continue;
		if (whole % steps[i].seconds)
			snprintf(out, UNITS_BYTES, "%llu %s %llu %s", whole / steps[i].seconds,
				 steps[i].name, whole % steps[i].seconds / steps[i].rest,
				 steps[i].rest_name);
		else
			snprintf(out, UNITS_BYTES, "%llu %s", whole / steps[i].seconds,
				 steps[i].name);
		break;
	}
	return out;
}

const char *units_time(double seconds, char out[UNITS_BYTES])
{
	static const char *const units[] = { "ns", MICRO "s", "ms", "s" };

	if (!isfinite(seconds))
		return units_unknown(out);
	if (seconds == 0)
		return three_digits(0, "s", out);
	if (seconds >= 99.95 && seconds < 1e15)
		return two_units(seconds, out);
	return units_scaled(seconds * 1e9, 1000, units, NR(units), out);
}

const char *units_measured_time(double seconds, char out[UNITS_BYTES])
{
	if (!(seconds >= 99.95 && seconds < 1e15))
		return units_time(seconds, out);
	if (seconds < 999.5)
		return three_digits(seconds, "s", out);
	if (seconds < 99.95 * 60)
		return three_digits(seconds / 60, "min", out);
	if (seconds < 99.95 * 3600)
		return three_digits(seconds / 3600, "h", out);
	return three_digits(seconds / 86400, "d", out);
}

const char *units_instant(uint64_t real_ns, bool utc, unsigned int digits, char out[UNITS_BYTES])
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	uint64_t fraction = real_ns % 1000000000;
	struct tm tm;
	long offset;
	char *end;

	if (!(utc ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm)))
		return units_unknown(out);
	end = out + strftime(out, UNITS_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	digits = digits < 9 ? digits : 9;
	for (unsigned int i = digits; i < 9; i++)
		fraction /= 10;
	if (digits) {
		*end++ = '.';
		end = put_digits(end, fraction, digits);
	}
	if (utc) {
		memcpy(end, "Z", sizeof("Z"));
		return out;
	}
	offset = labs(tm.tm_gmtoff / 60);
	*end++ = tm.tm_gmtoff / 60 < 0 ? '-' : '+';
	end = put_digits(end, (uint64_t)offset / 60, 2);
	*end++ = ':';
	*put_digits(end, (uint64_t)offset % 60, 2) = '\0';
	return out;
}
