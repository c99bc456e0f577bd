// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/stoex_lex.h"

uint32_t stoex_find_name(const struct stoex_names *n, const char *name, size_t len)
{
	for (uint32_t i = 0; i < n->nr; i++)
		if (!strncmp(n->items[i], name, len) && !n->items[i][len])
			return i;
	return NONE;
}

uint32_t stoex_name(struct stoex_names *n, const char *name, size_t len)
{
	uint32_t found = stoex_find_name(n, name, len);

	if (found != NONE)
		return found;
	if (n->nr == n->cap) {
		uint32_t cap = n->cap ? 2 * n->cap : 16;
		char **more = reallocarray(n->items, cap, sizeof(*more));

		if (!more)
			return NONE;
		n->items = more;
		more = reallocarray(n->bound, cap, sizeof(*more));
		if (!more)
			return NONE;
		n->bound = more;
		n->cap = cap;
	}
	n->bound[n->nr] = NULL;
	n->items[n->nr] = strndup(name, len);
	return n->items[n->nr] ? n->nr++ : NONE;
}

int stoex_bind(struct stoex_names *n, const char *name, const char *text)
{
	uint32_t i = stoex_name(n, name, strlen(name));
	char *copy = i == NONE ? NULL : strdup(text);

	if (!copy)
		return -ENOMEM;
	free(n->bound[i]);
	n->bound[i] = copy;
	return 0;
}

void stoex_names_release(struct stoex_names *n)
{
	for (uint32_t i = 0; i < n->nr; i++) {
		free(n->items[i]);
		free(n->bound[i]);
	}
	free(n->items);
	free(n->bound);
	*n = (struct stoex_names){ 0 };
}

uint32_t lex_fail(struct reader *r, const char *what)
{
	if (!r->error)
		r->error = *r->at ? err_set(r->err, EINVAL, "\"%.100s\": %s at \"%.30s\"", r->text,
					    what, r->at)
				  : err_set(r->err, EINVAL, "\"%.100s\": %s at its end", r->text,
					    what);
	return NONE;
}

uint32_t lex_no_memory(struct reader *r)
{
	if (!r->error)
		r->error = err_set(r->err, ENOMEM, "out of memory");
	return NONE;
}

void lex_skip(struct reader *r)
{
	for (;;) {
		const char *end = NULL;

		while (isspace((unsigned char)*r->at))
			r->at++;
		if (r->e->dialect == STOEX_ARITHMETIC)
			return;
		if (r->at[0] == '/' && r->at[1] == '*') {
			end = strstr(r->at + 2, "*/");
			end = end ? end + 2 : r->at + strlen(r->at);
		} else if (r->at[0] == '/' && r->at[1] == '/') {
			end = r->at + strcspn(r->at, "\n");
		}
		if (!end)
			return;
		r->at = end;
	}
}

bool lex_take(struct reader *r, const char *mark)
{
	size_t len = strlen(mark);

	lex_skip(r);
	if (strncmp(r->at, mark, len))
		return false;
	r->at += len;
	return true;
}

bool lex_take_word(struct reader *r, const char *word)
{
	size_t len = strlen(word);

	lex_skip(r);
	if (strncmp(r->at, word, len) || lex_is_word(r->at[len]))
		return false;
	r->at += len;
	return true;
}

void lex_expect(struct reader *r, const char *mark)
{
	char what[32] = "expected ";

	if (lex_take(r, mark))
		return;
	lex_fail(r, strncat(what, mark, sizeof(what) - 12));
}

/* The arithmetic of expr.h has only the units before B, and no blank in front of them. */
static double unit_factor(struct reader *r)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {
		{ "ns", 1e-9 },	   { "us", 1e-6 },    { "ms", 1e-3 }, { "s", 1 },
		{ "min", 60 },	   { "h", 3600 },     { "k", 1024 },  { "M", 1048576 },
		{ "G", 0x1p30 },   { "B", 1 },	      { "K", 1024 },  { "KiB", 1024 },
		{ "MiB", 0x1p20 }, { "GiB", 0x1p30 },
	};
	bool attached = lex_is_word(*r->at), arithmetic = r->e->dialect == STOEX_ARITHMETIC;

	if (arithmetic && !attached)
		return 1;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (arithmetic && !strcmp(units[i].name, "B"))
			break;
		if (lex_take_word(r, units[i].name))
			return units[i].factor;
	}
	if (attached)
		lex_fail(r, arithmetic ? "expected a unit (ns us ms s min h k M G) or nothing"
				       : "expected a unit (ns us ms s min h B k M G KiB MiB GiB) "
					 "or nothing");
	return 1;
}

/*
 * Returns the length of a number with digits, fraction and exponent. Signs, hexadecimal numbers
 * and "inf" are not numbers here.
 */
static size_t number_length(const char *s, bool *whole)
{
	size_t n = strspn(s, "0123456789"), e;

	*whole = true;
	if (s[n] == '.' && (n || isdigit((unsigned char)s[1]))) {
		n += 1 + strspn(s + n + 1, "0123456789");
		*whole = false;
	}
	if (n && (s[n] == 'e' || s[n] == 'E')) {
		e = n + 1 + (s[n + 1] == '-' || s[n + 1] == '+');
		if (isdigit((unsigned char)s[e])) {
			n = e + strspn(s + e, "0123456789");
			*whole = false;
		}
	}
	return n;
}

struct stoex_value lex_number(struct reader *r)
{
	struct stoex_value v = { .type = STOEX_DOUBLE };
	bool whole;
	size_t len;

	lex_skip(r);
	len = number_length(r->at, &whole);
	if (!len) {
		lex_fail(r, "expected a number");
		return v;
	}
	/*
	 * strtod() reads more than len bytes only of a hexadecimal number. Its "x" comes next then,
	 * and is refused as a unit or as the end of the expression.
	 */
	v.d = strtod(r->at, NULL);
	if (whole && r->e->dialect == STOEX_PALLADIO) {
		v.type = STOEX_INT;
		errno = 0;
		v.i = strtoll(r->at, NULL, 10);
		r->at += len;
		if (errno)
			lex_fail(r, "a whole number out of range");
		return v;
	}
	r->at += len;
	if (r->e->dialect != STOEX_PALLADIO)
		v.d *= unit_factor(r);
	if (!isfinite(v.d) && r->e->dialect != STOEX_ARITHMETIC)
		lex_fail(r, "a number out of range");
	return v;
}

struct stoex_value lex_text(struct reader *r)
{
	struct stoex_value v = { .type = STOEX_TEXT };
	char quote = *r->at;
	const char *end = strchr(r->at + 1, quote);

	if (!end || memchr(r->at, '\\', (size_t)(end - r->at))) {
		lex_fail(r, "expected a text in quotes, without a backslash");
		return v;
	}
	v.text = stoex_name(r->names, r->at + 1, (size_t)(end - r->at) - 1);
	if (v.text == NONE)
		lex_no_memory(r);
	r->at = end + 1;
	return v;
}
