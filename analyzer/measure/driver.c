// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/shell_word.h"

const struct driver *const drivers[] = {
	&driver_fio, &driver_command, &driver_none, &driver_filebench, &driver_ffsb, NULL,
};

const struct driver *driver_find(const char *name)
{
	for (size_t i = 0; drivers[i]; i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}

int driver_put_file(const struct drive *d, const char *file, const char *text, struct buf *shell,
		    struct err *err)
{
	char *expanded;
	int ret = params_expand_text(d->params, text, &expanded, err);

	if (ret)
		return ret;
	buf_printf(shell, "printf '%%s\\n' ");
	shell_word_quote(shell, expanded);
	buf_printf(shell, " >%s || exit 1\n", file);
	free(expanded);
	return shell->error;
}
