// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/net/expr.h"

#define NAME_MAX_LEN 63

void expr_scope_release(struct expr_scope *s)
{
	stoex_names_release(&s->names);
	*s = (struct expr_scope){ 0 };
}

struct expr_parameter *expr_find(struct expr_scope *s, const char *name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->names.items[i], name))
			return &s->items[i];
	return NULL;
}

static bool expr_is_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > NAME_MAX_LEN || isdigit((unsigned char)*name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return !stoex_is_function(STOEX_ARITHMETIC, name);
}

int expr_set(struct expr_scope *s, const char *name, double value)
{
	struct expr_parameter *p = expr_find(s, name);

	if (!expr_is_name(name))
		return -EINVAL;
	if (!p) {
		if (s->nr == EXPR_MAX_PARAMETERS)
			return -E2BIG;
		if (stoex_name(&s->names, name, strlen(name)) == UINT32_MAX)
			return -ENOMEM;
		p = &s->items[s->nr++];
	}
	p->value = value;
	return 0;
}

static int expr_get(void *ctx, uint32_t name, struct stoex_value *v, struct err *err)
{
	struct expr_scope *s = ctx;

	(void)err;
	s->items[name].used = true;
	*v = (struct stoex_value){ .type = STOEX_DOUBLE, .d = s->items[name].value };
	return 0;
}

int expr_value(struct expr_scope *s, const char *text, double *value, struct err *err)
{
	const struct stoex_scope scope = { .get = expr_get, .ctx = s };
	struct stoex *e;
	double result;
	int ret = stoex_parse(&e, text, STOEX_ARITHMETIC, &s->names, err);

	if (ret)
		return ret;
	ret = stoex_eval_number(e, &scope, &result, err);
	stoex_free(e);
	if (ret)
		return ret;
	if (!isfinite(result))
		return err_set(err, EINVAL, "\"%.100s\": the value is not finite", text);
	*value = result;
	return 0;
}
