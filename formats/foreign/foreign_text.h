/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_text: parses the fields of a line, with the same result in every locale. A text is a part
 * of the line, in place, without a final 0. Every parser takes the whole text or returns false.
 */
#ifndef FORMATS_FOREIGN_TEXT_H
#define FORMATS_FOREIGN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	const char *at, *end;
};

static inline struct text text_make(const char *at, size_t len)
{
	return (struct text){ at, at + len };
}

static inline size_t text_len(struct text t)
{
	return (size_t)(t.end - t.at);
}

static inline struct text text_trim(struct text t)
{
	while (t.at < t.end && (*t.at == ' ' || *t.at == '\t'))
		t.at++;
	while (t.at < t.end && (t.end[-1] == ' ' || t.end[-1] == '\t'))
		t.end--;
	return t;
}

/*
 * Takes the text up to the next delimiter (or all that is left) off the line. Returns false where
 * nothing is left. An empty text before a delimiter is a field too.
 */
static inline bool text_field(struct text *line, char delimiter, struct text *field)
{
	const char *end;

	if (line->at > line->end)
		return false;
	end = memchr(line->at, delimiter, text_len(*line));
	field->at = line->at;
	field->end = end ? end : line->end;
	line->at = field->end + 1; /* one beyond the end, after the last field */
	return true;
}

/* Takes the next word. Words are separated by blanks and tabs. */
static inline bool text_word(struct text *line, struct text *word)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	word->at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	word->end = line->at;
	return word->at < word->end;
}

static inline bool text_u64(struct text t, uint64_t *out)
{
	uint64_t value = 0;

	if (t.at >= t.end)
		return false;
	if (t.end - t.at <= 19) { /* this many digits cannot overflow */
		for (; t.at < t.end; t.at++) {
			unsigned int digit = (unsigned int)*t.at - '0';

			if (digit > 9)
				return false;
			value = value * 10 + digit;
		}
		*out = value;
		return true;
	}
	for (; t.at < t.end; t.at++) {
		unsigned int digit = (unsigned int)*t.at - '0';

		if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*out = value;
	return true;
}

/* Parses a hexadecimal number, with or without 0x. */
bool text_hex(struct text t, uint64_t *out);
/*
 * Parses a number of units of unit_ns nanoseconds each: digits, a fraction, an exponent
 * ("1.25e-3"). The result in nanoseconds is rounded to the nearest; 19 digits count. Returns false
 * also for a negative number and from 2^64 ns on.
 */
bool text_ns(struct text t, uint64_t unit_ns, uint64_t *out);
/* Returns whether the text is this word, in upper or lower case. */
bool text_is(struct text t, const char *word);
/*
 * Parses an operation by the names that trace formats use, in upper or lower case: R, W, Read,
 * Write, RS, WS, D, Discard, Trim, F, Flush, ...
 */
bool text_direction(struct text t, uint8_t *operation);

#endif
