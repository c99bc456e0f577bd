/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/foreign/foreign_text.h"

#include <strings.h>

#include "formats/request.h"

#define MAX_DIGITS   19	 /* a mantissa of this many digits fits 64 bits */
#define MAX_EXPONENT 400 /* beyond this exponent a number is 0 or too large in any unit */

bool text_hex(struct text t, uint64_t *out)
{
	uint64_t value = 0;

	if (text_len(t) > 2 && t.at[0] == '0' && (t.at[1] == 'x' || t.at[1] == 'X'))
		t.at += 2;
	if (t.at >= t.end || t.end - t.at > 16)
		return false;
	for (; t.at < t.end; t.at++) {
		char c = *t.at;
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned int)((c | 0x20) - 'a') + 10;
		else
			return false;
		value = value << 4 | digit;
	}
	*out = value;
	return true;
}

/* A decimal number: the mantissa times ten to the exponent. */
struct decimal {
	uint64_t mantissa;
	int exponent;
};

static bool take_digits(struct text *t, struct decimal *d)
{
	unsigned int nr = 0, significant = 0;
	bool point = false;

	*d = (struct decimal){ 0, 0 };
	for (; t->at < t->end; t->at++) {
		unsigned int digit = (unsigned int)*t->at - '0';

		if (*t->at == '.' && !point) {
			point = true;
			continue;
		}
		if (digit > 9)
			break;
		nr++;
		significant += significant || digit;
		if (significant <= MAX_DIGITS) {
			d->mantissa = d->mantissa * 10 + digit;
			d->exponent -= point;
		} else {
			d->exponent += !point;
		}
	}
	return nr > 0;
}

static bool take_exponent(struct text *t, struct decimal *d)
{
	bool negative = false;
	uint64_t value;

	if (t->at == t->end)
		return true;
	if (*t->at != 'e' && *t->at != 'E')
		return false;
	t->at++;
	if (t->at < t->end && (*t->at == '-' || *t->at == '+'))
		negative = *t->at++ == '-';
	if (!text_u64(*t, &value) || value > MAX_EXPONENT)
		return false;
	d->exponent += negative ? -(int)value : (int)value;
	return true;
}

static bool foreign_text_scale(const struct decimal *d, uint64_t unit_ns, uint64_t *out)
{
	unsigned __int128 value = (unsigned __int128)d->mantissa * unit_ns;
	int exponent = d->exponent;
	unsigned int last = 0;

	for (; exponent > 0 && value; exponent--) {
		value *= 10;
		if (value > UINT64_MAX)
			return false;
	}
	for (; exponent < 0 && value; exponent++) {
		last = (unsigned int)(value % 10);
		value /= 10;
	}
	value += exponent == 0 && last >= 5;
	if (value > UINT64_MAX)
		return false;
	*out = (uint64_t)value;
	return true;
}

bool text_ns(struct text t, uint64_t unit_ns, uint64_t *out)
{
	static const uint64_t power[] = { 1,	  10,	   100,	     1000,	10000,
					  100000, 1000000, 10000000, 100000000, 1000000000 };
	struct decimal d;
	uint64_t ns;

	if (!take_digits(&t, &d))
		return false;
	/*
	 * The usual case: the number has no more digits after the point than the unit has
	 * nanoseconds.
	 */
	if (t.at == t.end && d.exponent <= 0 && d.exponent >= -9 &&
	    unit_ns % power[-d.exponent] == 0) {
		if (__builtin_mul_overflow(d.mantissa, unit_ns / power[-d.exponent], &ns))
			return false;
		*out = ns;
		return true;
	}
	return take_exponent(&t, &d) && foreign_text_scale(&d, unit_ns, out);
}

bool text_is(struct text t, const char *word)
{
	size_t len = strlen(word);

	return text_len(t) == len && strncasecmp(t.at, word, len) == 0;
}

bool text_direction(struct text t, uint8_t *operation)
{
	static const struct {
		const char *word;
		uint8_t operation;
	} words[] = {
		{ "R", OPERATION_READ },	{ "W", OPERATION_WRITE },
		{ "Read", OPERATION_READ },	{ "Write", OPERATION_WRITE },
		{ "RS", OPERATION_READ },	{ "WS", OPERATION_WRITE },
		{ "DiskRead", OPERATION_READ }, { "DiskWrite", OPERATION_WRITE },
		{ "D", OPERATION_DISCARD },	{ "Discard", OPERATION_DISCARD },
		{ "Trim", OPERATION_DISCARD },	{ "F", OPERATION_FLUSH },
		{ "Flush", OPERATION_FLUSH },	{ "Sync", OPERATION_FLUSH },
		{ "other", OPERATION_OTHER },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!text_is(t, words[i].word))
			continue;
		*operation = words[i].operation;
		return true;
	}
	return false;
}
