/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/err.h"
#include "base/text/shown.h"

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -code;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->line, sizeof(e->line), fmt, ap);
	va_end(ap);
	shown_in_place(e->line, sizeof(e->line));
	return -code;
}

void err_prefix(struct err *e, const char *fmt, ...)
{
	char prefix[ERR_LINE_BYTES / 2];
	size_t len, rest;
	va_list ap;

	if (!e || !e->line[0])
		return;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	shown_in_place(prefix, sizeof(prefix));
	len = strlen(prefix);
	rest = strnlen(e->line, sizeof(e->line) - len - 3);
	memmove(e->line + len + 2, e->line, rest);
	memcpy(e->line, prefix, len);
	memcpy(e->line + len, ": ", 2);
	e->line[len + 2 + rest] = 0;
}

void err_suffix(struct err *e, const char *fmt, ...)
{
	size_t len;
	va_list ap;

	if (!e || !e->line[0])
		return;
	len = strlen(e->line);
	va_start(ap, fmt);
	vsnprintf(e->line + len, sizeof(e->line) - len, fmt, ap);
	va_end(ap);
	shown_in_place(e->line + len, sizeof(e->line) - len);
}
