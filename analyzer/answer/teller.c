// SPDX-License-Identifier: Apache-2.0
#include "analyzer/answer/teller.h"

#include <stdarg.h>
#include <stdio.h>

void teller_note(const struct teller *t, const char *fmt, ...)
{
	char line[4096];
	va_list args;

	if (t->quiet || !t->note)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	t->note(t->ctx, line);
}
