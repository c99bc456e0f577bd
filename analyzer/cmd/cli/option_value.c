// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/buf.h"
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

static bool has_unit(const char *text)
{
	size_t len = strlen(text);

	return len && (text[len - 1] < '0' || text[len - 1] > '9') && text[len - 1] != '.';
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
	case CLI_KIND_UINT:
	case CLI_KIND_U64:
		return parse_u64(text, out) ? NULL : "a whole number";
	case CLI_KIND_DOUBLE:
		return parse_double(text, out) ? NULL : "a number";
	case CLI_KIND_SIZE:
		return parse_size(text, out);
	case CLI_KIND_DURATION:
		return parse_duration(text, out);
	case CLI_KIND_AGE:
		return has_unit(text) ? parse_duration(text, out)
				      : "a time with its unit, such as 12h or 30d";
	case CLI_KIND_TIME:
		return when_parse(text, out) == 0 ? NULL
						  : "a time such as 2026-01-31T14:05:00+01:00 or "
						    "@1769864700";
	default:
		return "another kind of option";
	}
}

/* Returns -1, 0 or 1 as the value of the option is less than a bound, equal to it or above it. */
static int option_value_compare(const struct cli_option *o, const void *value, const char *bound)
{
	bool real = o->kind == CLI_KIND_DOUBLE || o->kind == CLI_KIND_DURATION ||
		    o->kind == CLI_KIND_AGE;
	uint64_t count = 0;
	double number = 0;

	if (option_value_parse(o->kind, bound, real ? (void *)&number : (void *)&count))
		return 0; /* a bound that is no value of this kind is a defect of the table */
	if (real)
		return (*(const double *)value > number) - (*(const double *)value < number);
	return (*(const uint64_t *)value > count) - (*(const uint64_t *)value < count);
}

static bool option_value_fits(const struct cli_option *o, const void *value)
{
	if (o->kind == CLI_KIND_UINT && *(const uint64_t *)value > UINT32_MAX)
		return false;
	return (!o->from || option_value_compare(o, value, o->from) >= 0) &&
	       (!o->to || option_value_compare(o, value, o->to) <= 0) &&
	       (!o->above || option_value_compare(o, value, o->above) > 0) &&
	       (!o->below || option_value_compare(o, value, o->below) < 0);
}

void option_value_bounds(const struct cli_option *o, struct buf *words)
{
	const char *low = o->from ? o->from : o->above, *high = o->to ? o->to : o->below;

	if (o->from && o->to)
		buf_printf(words, " %s to %s", low, high);
	else if (low)
		buf_printf(words, " %s %s", o->from ? "from" : "above", low);
	if (high && !(o->from && o->to))
		buf_printf(words, "%s %s %s", low ? " and" : "", o->to ? "up to" : "below", high);
}

static bool option_value_word(const struct cli_option *o, const char *text, struct buf *expected)
{
	unsigned int i;

	for (i = 0; o->words[i]; i++)
		if (strcmp(o->words[i], text) == 0) {
			*(unsigned int *)o->out = i;
			return true;
		}
	for (i = 0; o->words[i]; i++)
		buf_printf(expected, "%s%s",
			   !i		     ? ""
			   : o->words[i + 1] ? ", "
					     : " or ",
			   o->words[i]);
	return false;
}

bool option_value_store(const struct cli_option *o, const char *text, struct buf *expected)
{
	union {
		uint64_t count;
		double number;
	} value = { .count = 0 };
	const char *wrong;

	if (o->kind == CLI_KIND_WORD)
		return option_value_word(o, text, expected);
	wrong = option_value_parse(o->kind, text, &value);
	if (!wrong && option_value_fits(o, &value)) {
		/* Other numbers have eight bytes. */
		if (o->kind == CLI_KIND_UINT)
			*(unsigned int *)o->out = (unsigned int)value.count;
		else
			memcpy(o->out, &value, sizeof(value));
		return true;
	}
	if (!wrong)
		wrong = o->kind == CLI_KIND_U64 || o->kind == CLI_KIND_UINT ? "a whole number"
			: o->kind == CLI_KIND_SIZE			    ? "a size"
			: o->kind == CLI_KIND_DOUBLE			    ? "a number"
									    : "a time";
	if (o->from && o->to) { /* two bounds say enough */
		buf_printf(expected, "%s to %s", o->from, o->to);
	} else {
		buf_printf(expected, "%s", wrong);
		option_value_bounds(o, expected);
	}
	return false;
}
