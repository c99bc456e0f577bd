// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "base/text/when.h"

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

static const char *parse_duration(const char *text, double *out)
{
	const char *expected = NULL;
	uint64_t ns;

	if (units_parse_time(text, &ns, &expected) < 0)
		return expected ? expected : "a time such as 10ms, 1s or 5min";
	*out = (double)ns / 1e9;
	return NULL;
}

static const char *parse_size(const char *text, uint64_t *out)
{
	const char *expected = NULL;

	if (units_parse_bytes(text, out, &expected) < 0)
		return expected ? expected : "a size such as 4k or 16MiB";
	return NULL;
}

const char *option_value_parse(enum cli_kind kind, const char *text, void *out)
{
	switch (kind) {
	case CLI_KIND_U64:
		return parse_u64(text, out) ? NULL : "a whole number";
	case CLI_KIND_DOUBLE:
		return parse_double(text, out) ? NULL : "a number";
	case CLI_KIND_SIZE:
		return parse_size(text, out);
	case CLI_KIND_DURATION:
		return parse_duration(text, out);
	case CLI_KIND_TIME:
		return when_parse(text, out) == 0 ? NULL
						  : "a time such as 2026-01-31T14:05:00+01:00 or "
						    "@1769864700";
	default:
		return "another kind of option";
	}
}
