/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyzer/report/draw/label.h"
#include "base/text/units.h"

#define NS_PER_S 1000000000ull
#define NARROW	 "\u202f" /* narrow no-break space, between groups of thousands and before units */

/* Prints three significant digits without trailing zeros: 1.5, 12.3, 123. */
static void label_digits3(char *out, size_t len, double v)
{
	int decimals = fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
	char *end;

	/* Two decimals would show nothing of a value below a hundredth. */
	if (v != 0 && fabs(v) < 0.01) {
		snprintf(out, len, "%.3g", v);
		return;
	}
	snprintf(out, len, "%.*f", decimals, v);
	if (!decimals)
		return;
	end = out + strlen(out) - 1;
	while (*end == '0')
		*end-- = '\0';
	if (*end == '.')
		*end = '\0';
}

static bool label_unknown(struct label *l, double v)
{
	if (isfinite(v))
		return false;
	snprintf(l->text, sizeof(l->text), "–");
	return true;
}

/* Shortens "1.50 ms" to "1.5 ms" for ticks, with a blank that keeps the unit at its number. */
static const char *label_tighten(struct label *l, const char *text)
{
	size_t digits = strcspn(text, " "), kept = digits, at;

	if (memchr(text, '.', digits))
		while (text[kept - 1] == '0' || text[kept - 1] == '.')
			if (text[--kept] == '.')
				break;
	memcpy(l->text, text, kept);
	at = kept;
	for (text += digits; *text && at + sizeof(NARROW) < sizeof(l->text); text++) {
		size_t len = *text == ' ' ? sizeof(NARROW) - 1 : 1;

		memcpy(l->text + at, *text == ' ' ? NARROW : text, len);
		at += len;
	}
	l->text[at] = '\0';
	return l->text;
}

const char *label_duration(struct label *l, double v)
{
	char text[UNITS_BYTES];

	return label_unknown(l, v) ? l->text : label_tighten(l, units_time(v, text));
}

const char *label_bytes(struct label *l, double v)
{
	char text[UNITS_BYTES];

	return label_unknown(l, v) ? l->text : label_tighten(l, units_bytes(v, text));
}

const char *label_count(struct label *l, double v)
{
	char digits[48];
	size_t len, at = 0;

	if (label_unknown(l, v))
		return l->text;
	if (fabs(v) < 999.5) {
		label_digits3(l->text, sizeof(l->text), v);
		return l->text;
	}
	snprintf(digits, sizeof(digits), "%.0f", fmin(fmax(v, -1e30), 1e30));
	len = strlen(digits);
	for (size_t i = 0; i < len && at + 5 < sizeof(l->text); i++) {
		if (i && (len - i) % 3 == 0 && digits[i - 1] != '-') {
			memcpy(l->text + at, NARROW, sizeof(NARROW) - 1);
			at += sizeof(NARROW) - 1;
		}
		l->text[at++] = digits[i];
	}
	l->text[at] = '\0';
	return l->text;
}

const char *label_percent(struct label *l, double ratio)
{
	char digits[48];

	if (label_unknown(l, ratio))
		return l->text;
	label_digits3(digits, sizeof(digits), ratio * 100);
	snprintf(l->text, sizeof(l->text), "%s" NARROW "%%", digits);
	return l->text;
}

const char *label_quantity(struct label *l, enum unit unit, double value)
{
	switch (unit) {
	case UNIT_SECONDS:
		return label_duration(l, value);
	case UNIT_BYTES:
		return label_bytes(l, value);
	case UNIT_RATIO:
		return label_percent(l, value);
	case UNIT_COUNT:
		break;
	}
	return label_count(l, value);
}

static void broken_down(uint64_t real_ns, bool utc, struct tm *tm)
{
	time_t t = (time_t)(real_ns / NS_PER_S);

	memset(tm, 0, sizeof(*tm));
	if (utc)
		gmtime_r(&t, tm);
	else
		localtime_r(&t, tm);
}

/* Prints ".123", or nothing. */
static void label_fraction(char *out, size_t len, uint64_t real_ns, int digits)
{
	uint64_t ns = real_ns % NS_PER_S;

	out[0] = '\0';
	if (digits == 3)
		snprintf(out, len, ".%03u", (unsigned int)(ns / 1000000));
	else if (digits == 6)
		snprintf(out, len, ".%06u", (unsigned int)(ns / 1000));
}

const char *label_date(struct label *l, uint64_t real_ns, bool utc)
{
	struct tm tm;

	broken_down(real_ns, utc, &tm);
	strftime(l->text, sizeof(l->text), "%m-%d", &tm);
	return l->text;
}

const char *label_clock(struct label *l, uint64_t real_ns, int digits, bool utc)
{
	char clock[16], sub[8];
	struct tm tm;

	broken_down(real_ns, utc, &tm);
	strftime(clock, sizeof(clock), digits < 0 ? "%H:%M" : "%H:%M:%S", &tm);
	label_fraction(sub, sizeof(sub), real_ns, digits);
	snprintf(l->text, sizeof(l->text), "%s%s", clock, sub);
	return l->text;
}
