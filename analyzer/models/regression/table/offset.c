// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/table/offset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/table/dataset.h"

static long offset_find(const struct schema *s, const char *name, size_t len)
{
	for (size_t v = 0; v < s->nr; v++)
		if (!strncmp(s->variables[v].name, name, len) && !s->variables[v].name[len])
			return (long)v;
	return -1;
}

static int offset_put(struct offset *o, const char *name, size_t len, bool rest, double from,
		      const struct schema *s, struct err *err)
{
	long v = offset_find(s, name, len);

	if (v < 0 || s->variables[v].factor)
		return err_set(err, EINVAL,
			       "offset: expected predictors that are numbers, '%.*s' is none",
			       (int)(len < 60 ? len : 60), name);
	if (o->nr == OFFSET_PARTS_MAX)
		return err_set(err, EINVAL, "offset: expected up to %d variables",
			       OFFSET_PARTS_MAX);
	o->parts[o->nr++] = (struct offset_part){ (size_t)v, rest, from };
	return 0;
}

/* Reads "(100-read)" from the parenthesis on. *end becomes the position after it. */
static int read_rest(struct offset *o, const char *text, const char **end, const struct schema *s,
		     struct err *err)
{
	const char *close = strchr(text, ')');
	char *minus;
	double from = strtod(text + 1, &minus);

	if (!close || minus == text + 1 || *minus != '-' || minus > close || !isfinite(from))
		return err_set(err, EINVAL, "offset: expected (NUMBER-VARIABLE), got '%.60s'",
			       text);
	*end = close + 1;
	return offset_put(o, minus + 1, (size_t)(close - minus - 1), true, from, s, err);
}

int offset_read(struct offset *o, const char *text, const struct schema *s, struct err *err)
{
	struct offset read = { 0 };
	int ret;

	for (const char *at = text, *end;; at = end + 1) {
		end = at + strcspn(at, "*");
		if (*at == '(')
			ret = read_rest(&read, at, &end, s, err);
		else
			ret = offset_put(&read, at, (size_t)(end - at), false, 0, s, err);
		if (ret)
			return ret;
		if (!*end)
			break;
		if (*end != '*')
			return err_set(err, EINVAL, "offset: expected * before '%.60s'", end);
	}
	*o = read;
	return 0;
}

void offset_print(const struct offset *o, const struct schema *s, struct buf *out)
{
	for (size_t i = 0; i < o->nr; i++) {
		const struct offset_part *p = &o->parts[i];
		const char *name = s->variables[p->variable].name;

		if (p->rest)
			buf_printf(out, "%s(%.17g-%s)", i ? "*" : "", p->from, name);
		else
			buf_printf(out, "%s%s", i ? "*" : "", name);
	}
}

void offset_export(const struct offset *o, struct buf *out)
{
	for (size_t i = 0; i < o->nr; i++) {
		const struct offset_part *p = &o->parts[i];

		if (p->rest)
			buf_printf(out, "%s(%.17g - x[%zu])", i ? " * " : "", p->from, p->variable);
		else
			buf_printf(out, "%sx[%zu]", i ? " * " : "", p->variable);
	}
}

double offset_of(const struct offset *o, const double *row)
{
	double product = 1;

	for (size_t i = 0; i < o->nr; i++) {
		const struct offset_part *p = &o->parts[i];
		double x = row[p->variable];

		product *= p->rest ? p->from - x : x;
	}
	return product;
}
