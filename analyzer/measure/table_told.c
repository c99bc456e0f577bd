// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/table_told.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/buf.h"

int table_of_settings(struct table *t, const char *source, const struct word_list *set,
		      struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	for (int line = 0; line < 2; line++) {
		for (size_t i = 0; i < set->nr; i++) {
			const char *item = set->items[i], *equals = strchr(item, '=');
			char name[256];

			if (!equals || (size_t)(equals - item) >= sizeof(name)) {
				buf_release(&text);
				return err_set(err, EINVAL, "expected NAME=VALUE, got '%.80s'",
					       item);
			}
			snprintf(name, sizeof(name), "%.*s", (int)(equals - item), item);
			if (i)
				buf_put_u8(&text, ',');
			table_put_cell(&text, line ? equals + 1 : name);
		}
		buf_put_u8(&text, '\n');
	}
	ret = text.error ? text.error
			 : table_parse(t, source, (const char *)text.data, text.len, err);
	buf_release(&text);
	return ret;
}

int table_read_told(struct table *t, const char *path, const struct teller *teller, struct err *err)
{
	int ret = table_read(t, path, err);

	if (ret)
		return ret;
	if (t->separator != ',')
		teller_note(
			teller,
			"%s: cells are parted by %s: the header has no comma; write commas where "
			"these are not meant",
			t->source, t->separator == ';' ? "semicolons" : "tabs");
	if (t->cr_lines)
		teller_note(teller, "%s: lines end with a carriage return alone", t->source);
	return 0;
}
