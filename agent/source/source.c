/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/source/source.h"
#include "base/memory/buf.h"

const struct source_ops *const source_table[] = { &source_bpf, &source_blktrace, &source_tracefs,
						  &source_diskstats, NULL };

static int choose_auto(const struct source_ops **out, struct err *err)
{
	struct buf reasons = { 0 };
	struct err why = { 0 };
	int ret = -ENODEV;

	for (size_t i = 0; source_table[i]; i++) {
		ret = source_table[i]->probe(NULL, 0, &why);
		if (!ret) {
			*out = source_table[i];
			break;
		}
		buf_printf(&reasons, "%s%s", i ? "; " : "", why.line);
	}
	if (ret)
		err_set(err, -ret, "no source works on this machine: %s",
			reasons.data ? (char *)reasons.data : "");
	buf_release(&reasons);
	return ret;
}

int source_choose(const struct source_ops **out, const char *name, struct err *err)
{
	char known[128] = "auto";
	size_t len = strlen(known);

	if (!strcmp(name, "auto"))
		return choose_auto(out, err);
	for (size_t i = 0; source_table[i]; i++) {
		if (!strcmp(name, source_table[i]->name)) {
			*out = source_table[i];
			return 0;
		}
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, ", %s",
						source_table[i]->name);
	}
	return err_set(err, EINVAL, "source: %s is not known, expected one of %s", name, known);
}

int source_choose_open(const struct source_ops **out, struct source **opened, const char *name,
		       const struct source_config *config, struct err *err)
{
	const struct source_ops *first = source_table[0];
	struct err why = { 0 };

	*opened = NULL;
	/*
	 * A trial costs as much as the real start: it loads the kernel's types and the programs. So
	 * the opened source is kept.
	 */
	if (!strcmp(name, "auto") && first->begin && !first->open(opened, config, &why)) {
		*out = first;
		return 0;
	}
	return source_choose(out, name, err);
}
