// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/params.h"

#define LIST_MAX 400 /* These many names fit into one line of a fio job. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

void params_release(struct params *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free(p->items[i].name);
		free(p->items[i].text);
	}
	free(p->items);
	expr_scope_release(&p->scope);
	memset(p, 0, sizeof(*p));
}

struct param *params_find(const struct params *p, const char *name)
{
	for (size_t i = 0; i < p->nr; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	return NULL;
}

bool param_number(const char *text, double *value)
{
	struct expr_scope none = { 0 };
	bool number = expr_value(&none, text, value, NULL) == 0;
	uint64_t bytes;

	expr_scope_release(&none);
	/* Texts such as "64m" or "16 MiB" come here because expressions know fewer units. */
	if (!number && text[0] >= '0' && text[0] <= '9' &&
	    units_parse_bytes(text, &bytes, NULL) == 0) {
		*value = (double)bytes;
		number = true;
	}
	return number;
}

void param_print(struct buf *out, double value)
{
	char text[40];

	if (value == floor(value) && fabs(value) < 1e15) {
		buf_printf(out, "%.0f", value);
		return;
	}
	/* Fifteen digits are enough for what people write, 17 for every double. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_printf(out, "%s", text);
}

static struct param *params_add(struct params *p, const char *name)
{
	struct param *grown = reallocarray(p->items, p->nr + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	p->items = grown;
	grown += p->nr;
	*grown = (struct param){ .name = strdup(name) };
	if (!grown->name)
		return NULL;
	p->nr++;
	return grown;
}

int params_set(struct params *p, const char *name, const char *text, bool word, struct err *err)
{
	struct param *at = params_find(p, name);
	double value = 0;
	bool number = !word && param_number(text, &value);
	char *copy = strdup(text);
	/*
	 * A word also gets an entry among the numbers, so that its misuse in arithmetic is told
	 * apart from an unknown name.
	 */
	int status = copy ? expr_set(&p->scope, name, number ? value : 0) : -ENOMEM;

	if (!status && !at)
		at = params_add(p, name);
	if (status || !at) {
		free(copy);
		if (status == -EINVAL)
			return err_set(err, EINVAL, "'%.60s' is no name for a value", name);
		if (status == -E2BIG)
			return err_set(err, E2BIG, "more than %d named values",
				       EXPR_MAX_PARAMETERS);
		return err_set(err, ENOMEM, "out of memory");
	}
	free(at->text);
	at->text = copy;
	at->number = number;
	return 0;
}

int params_set_number(struct params *p, const char *name, double value, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	param_print(&text, value);
	buf_put_u8(&text, 0);
	ret = text.error ? err_set(err, ENOMEM, "out of memory")
			 : params_set(p, name, (char *)text.data, false, err);
	buf_release(&text);
	return ret;
}

static void list_names(const struct params *p, char *out, size_t size)
{
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; i < p->nr && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
					 p->items[i].name);
}

static int expand_one(struct params *p, const char *expression, struct buf *out, struct err *err);

/* Expands a text into a new one, which the caller frees. */
static int expand_text(int (*expand)(struct params *, const char *, struct buf *, struct err *),
		       struct params *p, const char *text, char **out, struct err *err)
{
	struct buf b;
	int ret;

	buf_init(&b);
	ret = expand(p, text, &b, err);
	if (ret)
		goto out;
	if (buf_put_u8(&b, 0)) {
		ret = err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	*out = (char *)b.data;
	return 0;
out:
	buf_release(&b);
	return ret;
}

/*
 * Expands "list EXPRESSION PREFIX" to PREFIX0:PREFIX1:..., with as many names as the expression's
 * value.
 */
static int expand_list(struct params *p, const char *words, struct buf *out, struct err *err)
{
	const char *prefix = strrchr(words, ' ');
	char expression[PARAM_TEXT_MAX], *end, *number = NULL;
	double nr;
	int ret;

	if (!prefix || !prefix[1])
		return err_set(err, EINVAL, "{list %.60s}: expected a number and a name", words);
	snprintf(expression, sizeof(expression), "%.*s", (int)(prefix - words), words);
	ret = expand_text(expand_one, p, expression, &number, err);
	if (ret)
		return ret;
	nr = strtod(number, &end);
	free(number);
	if (!(nr >= 1 && nr <= LIST_MAX))
		return err_set(err, EINVAL, "{list %.60s}: %g names: expected 1 to %d", words, nr,
			       LIST_MAX);
	for (int i = 0; i < (int)nr; i++)
		buf_printf(out, "%s%s%d", i ? ":" : "", prefix + 1, i);
	return out->error;
}

static int expand_one(struct params *p, const char *expression, struct buf *out, struct err *err)
{
	struct param *word = params_find(p, expression);
	double value;
	char names[200];
	struct err why = { 0 };

	if (!strncmp(expression, "list ", 5))
		return expand_list(p, expression + 5, out, err);
	if (word && !word->number) {
		word->used = true;
		return buf_put(out, word->text, strlen(word->text));
	}
	for (size_t i = 0; i < p->scope.nr; i++)
		p->scope.items[i].used = false;
	if (expr_value(&p->scope, expression, &value, &why)) {
		list_names(p, names, sizeof(names));
		return err_set(err, EINVAL, "{%.60s}: %.150s; there are %s", expression, why.line,
			       names);
	}
	for (size_t i = 0; i < p->nr; i++) {
		const struct expr_parameter *used = expr_find(&p->scope, p->items[i].name);

		if (!used || !used->used)
			continue;
		p->items[i].used = true;
		if (!p->items[i].number)
			return err_set(err, EINVAL, "{%.60s}: '%s' is '%.40s', no number",
				       expression, p->items[i].name, p->items[i].text);
	}
	param_print(out, value);
	return out->error;
}

int params_expand(struct params *p, const char *text, struct buf *out, struct err *err)
{
	char expression[PARAM_TEXT_MAX];
	int ret = 0;

	for (const char *at = text; *at; at++) {
		const char *end = NULL;

		if (at[0] == '{' && at[1] == '{') {
			at++;
		} else if (at[0] == '$' && at[1] == '{') {
			buf_put_u8(out, '$');
			at++;
		} else if (at[0] == '{') {
			end = strchr(at, '}');
			if (!end || (size_t)(end - at) > sizeof(expression) - 1)
				return err_set(err, EINVAL,
					       "a { without its }: write {{ for a brace");
		}
		if (end) {
			snprintf(expression, sizeof(expression), "%.*s", (int)(end - at - 1),
				 at + 1);
			ret = expand_one(p, expression, out, err);
			at = end;
		} else {
			ret = buf_put_u8(out, (uint8_t)*at);
		}
		if (ret)
			return ret == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : ret;
	}
	return 0;
}

int params_expand_text(struct params *p, const char *text, char **out, struct err *err)
{
	return expand_text(params_expand, p, text, out, err);
}
