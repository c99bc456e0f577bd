// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/net/net_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/expr.h"
#include "analyzer/models/net/qpe_import.h"

int net_settings_add(struct net_settings *s, const char *name, double value)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (strcmp(s->names[i], name) != 0)
			continue;
		s->items[i].value = value;
		return 0;
	}
	s->names[s->nr] = strdup(name);
	if (!s->names[s->nr])
		return -ENOMEM;
	s->items[s->nr] = (struct net_setting){ s->names[s->nr], value };
	s->nr++;
	return 0;
}

/* A value is an expression without parameters. */
int net_settings_read(struct net_settings *s, const struct word_list *set, struct err *err)
{
	struct expr_scope none = { .nr = 0 };
	int ret = 0;

	*s = (struct net_settings){ .nr = 0 };
	for (size_t i = 0; i < set->nr && !ret; i++) {
		const char *equals = strchr(set->items[i], '=');
		struct err why = { 0 };
		double value;
		char *name;

		if (!equals || equals == set->items[i])
			return err_set(err, EINVAL, "expected NAME=VALUE, got '%s'", set->items[i]);
		name = strndup(set->items[i], (size_t)(equals - set->items[i]));
		if (!name)
			return -ENOMEM;
		if (expr_value(&none, equals + 1, &value, &why))
			ret = err_set(err, EINVAL, "%s: %s", name, why.line);
		else
			ret = net_settings_add(s, name, value);
		free(name);
	}
	return ret;
}

void net_settings_release(struct net_settings *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->names[i]);
	s->nr = 0;
}

int net_open(struct net **out, const char *path, const struct net_settings *settings,
	     struct err *err)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".qpe")
		       ? qpe_import(out, path, settings->items, settings->nr, err)
		       : net_read(out, path, settings->items, settings->nr, err);
}
