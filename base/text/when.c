// SPDX-License-Identifier: Apache-2.0
#include "base/text/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000ull

/* Parses ".25" as nanoseconds and moves *at behind it. Digits beyond the ninth are ignored. */
static uint64_t parse_fraction(const char **at)
{
	uint64_t ns = 0, unit = NS_PER_S / 10;

	if (**at != '.')
		return 0;
	for ((*at)++; isdigit((unsigned char)**at); (*at)++, unit /= 10)
		ns += (uint64_t)(**at - '0') * unit;
	return ns;
}

/* Parses "Z", "+01:00" or "-0230". Sets *local where there is no zone. */
static int parse_zone(const char *at, long *offset_s, bool *local)
{
	int hours, minutes, used = 0;
	long sign = *at == '-' ? -1 : 1;

	*local = *at == '\0';
	*offset_s = 0;
	if (*local || strcmp(at, "Z") == 0)
		return 0;
	if (*at != '+' && *at != '-')
		return -EINVAL;
	if ((sscanf(at + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 &&
	     sscanf(at + 1, "%2d%2d%n", &hours, &minutes, &used) != 2) ||
	    at[1 + used] || hours > 14 || minutes > 59 || hours < 0 || minutes < 0)
		return -EINVAL;
	*offset_s = sign * (hours * 3600L + minutes * 60L);
	return 0;
}

/*
 * Returns whether the calendar has the day and the minute has the second. timegm() counts a 30th of
 * February on into March; it serves local time as well, because it knows no daylight saving.
 */
static bool when_exists(const struct tm *tm)
{
	struct tm counted = *tm;

	timegm(&counted);
	return counted.tm_mday == tm->tm_mday && counted.tm_sec == tm->tm_sec;
}

int when_parse(const char *text, uint64_t *real_ns)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d" };
	const char *at = NULL;
	struct tm tm;
	uint64_t fraction_ns;
	long offset_s;
	bool local;
	time_t seconds;
	char *end;

	if (*text == '@') {
		if (!isdigit((unsigned char)text[1]))
			return -EINVAL;
		errno = 0;
		seconds = (time_t)strtoll(text + 1, &end, 10);
		at = end;
		fraction_ns = parse_fraction(&at);
		if (errno || *at || (uint64_t)seconds >= UINT64_MAX / NS_PER_S)
			return -EINVAL;
		*real_ns = (uint64_t)seconds * NS_PER_S + fraction_ns;
		return 0;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms) && !at; i++) {
		memset(&tm, 0, sizeof(tm));
		at = strptime(text, forms[i], &tm);
	}
	if (!at || !when_exists(&tm))
		return -EINVAL;
	fraction_ns = parse_fraction(&at);
	if (parse_zone(at, &offset_s, &local) < 0)
		return -EINVAL;
	tm.tm_isdst = -1;
	seconds = local ? mktime(&tm) : timegm(&tm) - offset_s;
	if (seconds < 0)
		return -EINVAL;
	*real_ns = (uint64_t)seconds * NS_PER_S + fraction_ns;
	return 0;
}
