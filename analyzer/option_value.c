// SPDX-License-Identifier: Apache-2.0
#include "analyzer/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/when.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit time_units[] = {
	{ "", 1 },   { "s", 1 },    { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 },
	{ "m", 60 }, { "min", 60 }, { "h", 3600 },  { "d", 86400 },
};

static const struct unit size_units[] = {
	{ "", 1 },	    { "k", 1024 },	 { "kib", 1024 },	{ "m", 1048576 },
	{ "mib", 1048576 }, { "g", 1073741824 }, { "gib", 1073741824 }, { "b", 1 },
};

static bool parse_u64(const char *text, uint64_t *out)
{
	char *end;
	unsigned long long value;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*out = value;
	return true;
}

static bool parse_with_unit(const char *text, const struct unit *units, size_t nr, double *out)
{
	char *end;
	double value;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	value = strtod(text, &end);
	if (end == text || !isfinite(value))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		*out = value * units[i].factor;
		return isfinite(*out);
	}
	return false;
}

static bool parse_double(const char *text, double *out)
{
	char *end;
	double value;

	value = strtod(text, &end);
	if (end == text || *end || !isfinite(value))
		return false;
	*out = value;
	return true;
}

static bool parse_size(const char *text, uint64_t *out)
{
	double value;

	if (!parse_with_unit(text, size_units, sizeof(size_units) / sizeof(*size_units), &value) ||
	    value >= 0x1p63)
		return false;
	*out = (uint64_t)value;
	return true;
}

const char *option_value_parse(enum cli_kind kind, const char *text, void *out)
{
	switch (kind) {
	case CLI_KIND_U64:
		return parse_u64(text, out) ? NULL : "a whole number";
	case CLI_KIND_DOUBLE:
		return parse_double(text, out) ? NULL : "a number";
	case CLI_KIND_SIZE:
		return parse_size(text, out) ? NULL : "a size such as 4k or 16MiB";
	case CLI_KIND_DURATION:
		return parse_with_unit(text, time_units, sizeof(time_units) / sizeof(*time_units),
				       out)
			       ? NULL
			       : "a time such as 10ms, 1s or 5m";
	case CLI_KIND_TIME:
		return when_parse(text, out) == 0 ? NULL
						  : "a time such as 2026-01-31T14:05:00+01:00 or "
						    "@1769864700";
	default:
		return "another kind of option";
	}
}
