// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/expr.h"

#define NAME_MAX_LEN 63
#define DEPTH_MAX    100

static const char *const functions[] = { "min",	  "max",  "sqrt",  "exp", "ln",
					 "floor", "ceil", "round", "abs" };

/*
 * The state of a recursive-descent parser. The first error stays in err, and later ones are
 * ignored.
 */
struct reader {
	const char *text, *at;
	struct expr_scope *scope;
	struct err *err;
	int error;
	unsigned depth;
};

void expr_scope_release(struct expr_scope *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->items[i].name);
	*s = (struct expr_scope){ 0 };
}

struct expr_parameter *expr_find(struct expr_scope *s, const char *name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->items[i].name, name))
			return &s->items[i];
	return NULL;
}

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > NAME_MAX_LEN || !(isalpha((unsigned char)*name) || *name == '_'))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(name, functions[i]))
			return false;
	return true;
}

int expr_set(struct expr_scope *s, const char *name, double value)
{
	struct expr_parameter *p = expr_find(s, name);

	if (!is_name(name))
		return -EINVAL;
	if (!p) {
		if (s->nr == EXPR_MAX_PARAMETERS)
			return -E2BIG;
		p = &s->items[s->nr];
		*p = (struct expr_parameter){ .name = strdup(name) };
		if (!p->name)
			return -ENOMEM;
		s->nr++;
	}
	p->value = value;
	return 0;
}

static double expr_fail(struct reader *r, const char *what)
{
	if (!r->error)
		r->error = err_set(r->err, EINVAL, "\"%.100s\": %s at \"%.30s\"", r->text, what,
				   r->at);
	return NAN;
}

static void expr_skip(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

static bool expr_take(struct reader *r, char c)
{
	expr_skip(r);
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static double expr_sum(struct reader *r);

static size_t read_word(struct reader *r, char word[NAME_MAX_LEN + 1])
{
	size_t len = 0;

	while ((isalnum((unsigned char)r->at[len]) || r->at[len] == '_') && len < NAME_MAX_LEN)
		len++;
	memcpy(word, r->at, len);
	word[len] = 0;
	return len;
}

static double with_unit(struct reader *r, double value)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {
		{ "", 1 },	  { "ns", 1e-9 },      { "us", 1e-6 }, { "ms", 1e-3 },
		{ "s", 1 },	  { "min", 60 },       { "h", 3600 },  { "k", 1024 },
		{ "M", 1048576 }, { "G", 1073741824 },
	};
	char word[NAME_MAX_LEN + 1];
	size_t len = read_word(r, word);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!strcmp(word, units[i].name)) {
			r->at += len;
			return value * units[i].factor;
		}
	}
	return expr_fail(r, "expected a unit (ns us ms s min h k M G) or nothing");
}

static double expr_number(struct reader *r)
{
	char *end;
	double value = strtod(r->at, &end);

	if (end == r->at || r->at[0] == '+' || r->at[1] == 'x' || r->at[1] == 'X')
		return expr_fail(r, "expected a number");
	r->at = end;
	return with_unit(r, value);
}

static double expr_call(struct reader *r, const char *name)
{
	double a = expr_sum(r), b = NAN;

	if (!strcmp(name, "min") || !strcmp(name, "max")) {
		if (!expr_take(r, ','))
			return expr_fail(r, "expected a comma");
		b = expr_sum(r);
	}
	if (!expr_take(r, ')'))
		return expr_fail(r, "expected )");
	switch (name[0]) {
	case 'm':
		return name[1] == 'i' ? fmin(a, b) : fmax(a, b);
	case 's':
		return sqrt(a);
	case 'e':
		return exp(a);
	case 'l':
		return log(a);
	case 'f':
		return floor(a);
	case 'c':
		return ceil(a);
	case 'r':
		return round(a);
	default:
		return fabs(a);
	}
}

static double word_value(struct reader *r)
{
	struct expr_parameter *p;
	char word[NAME_MAX_LEN + 1];
	const char *start = r->at;
	size_t len = read_word(r, word);

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strcmp(word, functions[i]))
			continue;
		r->at += len;
		return expr_take(r, '(') ? expr_call(r, word) : expr_fail(r, "expected (");
	}
	p = expr_find(r->scope, word);
	if (!p) {
		r->at = start;
		return expr_fail(r, "no parameter of this name");
	}
	r->at += len;
	p->used = true;
	return p->value;
}

static double expr_primary(struct reader *r)
{
	double value;

	expr_skip(r);
	if (r->depth >= DEPTH_MAX)
		return expr_fail(r, "nested too deeply");
	if (expr_take(r, '(')) {
		r->depth++;
		value = expr_sum(r);
		r->depth--;
		return expr_take(r, ')') ? value : expr_fail(r, "expected )");
	}
	if (isalpha((unsigned char)*r->at) || *r->at == '_') {
		r->depth++;
		value = word_value(r);
		r->depth--;
		return value;
	}
	return expr_number(r);
}

static double expr_power(struct reader *r)
{
	double value;

	if (r->depth >= DEPTH_MAX)
		return expr_fail(r, "nested too deeply");
	r->depth++;
	if (expr_take(r, '-')) {
		value = -expr_power(r);
	} else {
		value = expr_primary(r);
		if (!r->error && expr_take(r, '^'))
			value = pow(value, expr_power(r));
	}
	r->depth--;
	return value;
}

static double expr_product(struct reader *r)
{
	double value = expr_power(r);

	while (!r->error) {
		if (expr_take(r, '*'))
			value *= expr_power(r);
		else if (expr_take(r, '/'))
			value /= expr_power(r);
		else
			break;
	}
	return value;
}

static double expr_sum(struct reader *r)
{
	double value = expr_product(r);

	while (!r->error) {
		if (expr_take(r, '+'))
			value += expr_product(r);
		else if (expr_take(r, '-'))
			value -= expr_product(r);
		else
			break;
	}
	return value;
}

int expr_value(struct expr_scope *s, const char *text, double *value, struct err *err)
{
	struct reader r = { .text = text, .at = text, .scope = s, .err = err };
	double result = expr_sum(&r);

	expr_skip(&r);
	if (!r.error && *r.at)
		expr_fail(&r, "expected the end");
	if (!r.error && !isfinite(result))
		r.error = err_set(err, EINVAL, "\"%.100s\": the value is not finite", text);
	if (!r.error)
		*value = result;
	return r.error;
}
