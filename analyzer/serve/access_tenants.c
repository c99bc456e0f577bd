// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/access_tenants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/access.h"
#include "base/array.h"

#define TENANT_LINE 1024

bool access_stands_for(const char *pattern, const char *host)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return strncmp(pattern, host, len - 1) == 0;
	return strcmp(pattern, host) == 0;
}

bool access_pattern_ok(const char *text)
{
	char word[SEGMENT_NAME_BYTES];
	size_t len = strlen(text);

	if (strcmp(text, "*") == 0)
		return true;
	if (len == 0 || len >= sizeof(word))
		return false;
	memcpy(word, text, len + 1);
	if (word[len - 1] == '*')
		word[len - 1] = '\0';
	return segment_word_ok(word);
}

/*
 * Whether some host could belong to both. The star of one of them is taken as a letter that no host
 * has.
 */
static bool access_tenants_overlap(const char *a, const char *b)
{
	return access_stands_for(a, b) || access_stands_for(b, a);
}

/* Returns the tenant that has a host in common with t, or NULL. */
static const struct access_tenant *access_tenants_clash(const struct access_tenant *tenants,
							size_t nr, const struct access_tenant *t)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < tenants[i].nr_hosts; j++)
			for (size_t k = 0; k < t->nr_hosts; k++)
				if (access_tenants_overlap(tenants[i].hosts[j], t->hosts[k]))
					return &tenants[i];
	return NULL;
}

static int access_tenants_line(struct access_tenant *t, char *line, const char *where,
			       struct err *err)
{
	char hosts[TENANT_LINE], rest[2], *save = NULL;

	*t = (struct access_tenant){ .nr_hosts = 0 };
	if (sscanf(line, "%63s %1023s %1s", t->name, hosts, rest) != 2 || !segment_word_ok(t->name))
		return err_set(err, EINVAL, "%s: expected TENANT HOST[,HOST...]", where);
	for (char *word = strtok_r(hosts, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (t->nr_hosts == TENANT_MAX_HOSTS)
			return err_set(err, EINVAL,
				       "%s: expected at most %d names; one that ends with * stands "
				       "for many hosts",
				       where, TENANT_MAX_HOSTS);
		if (!access_pattern_ok(word))
			return err_set(err, EINVAL,
				       "%s: expected names of hosts, each possibly with * at its "
				       "end, and commas between them",
				       where);
		snprintf(t->hosts[t->nr_hosts++], SEGMENT_NAME_BYTES, "%s", word);
	}
	return t->nr_hosts ? 0 : err_set(err, EINVAL, "%s: expected a host", where);
}

static int access_tenants_add(struct access_tenant **tenants, size_t *cap, size_t *nr, char *line,
			      const char *where, struct err *err)
{
	const struct access_tenant *clash;
	struct access_tenant one;
	int ret = access_tenants_line(&one, line, where, err);

	if (ret < 0)
		return ret;
	if (*nr == TENANT_MAX)
		return err_set(err, EINVAL, "%s: expected at most %d tenants", where, TENANT_MAX);
	if (access_tenants_find(*tenants, *nr, one.name))
		return err_set(err, EINVAL, "%s: tenant %s stands in an earlier line too", where,
			       one.name);
	clash = access_tenants_clash(*tenants, *nr, &one);
	if (clash)
		return err_set(err, EINVAL, "%s: a host could belong to %s and to %s", where,
			       clash->name, one.name);
	if (array_grow(tenants, cap, *nr + 1, sizeof(**tenants)) < 0)
		return err_set(err, ENOMEM, "%s: no memory", where);
	(*tenants)[(*nr)++] = one;
	return 0;
}

int access_tenants_read(const char *path, struct access_tenant **out, size_t *nr_out,
			struct err *err)
{
	FILE *f = fopen(path, "re");
	struct access_tenant *tenants = NULL;
	char line[TENANT_LINE], where[ERR_LINE_BYTES / 2];
	unsigned int number = 0;
	size_t nr = 0, cap = 0;
	int ret = f ? 0 : err_set(err, errno, "%s: %s", path, strerror(errno));

	while (ret == 0 && fgets(line, sizeof(line), f)) {
		snprintf(where, sizeof(where), "%s:%u", path, ++number);
		if (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1)
			ret = err_set(err, EINVAL, "%s: line too long", where);
		if (ret < 0 || line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
			continue;
		ret = access_tenants_add(&tenants, &cap, &nr, line, where, err);
	}
	if (f)
		fclose(f);
	if (ret < 0) {
		free(tenants);
		return ret;
	}
	*out = tenants;
	*nr_out = nr;
	return 0;
}

const struct access_tenant *access_tenants_find(const struct access_tenant *tenants, size_t nr,
						const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(tenants[i].name, name) == 0)
			return &tenants[i];
	return NULL;
}

const struct access_tenant *access_tenants_of(const struct access_tenant *tenants, size_t nr,
					      const char *host)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < tenants[i].nr_hosts; j++)
			if (access_stands_for(tenants[i].hosts[j], host))
				return &tenants[i];
	return NULL;
}

size_t access_tenants_expand(const struct access_tenant *tenants, size_t nr, const char *owner,
			     char (*hosts)[SEGMENT_NAME_BYTES], size_t cap)
{
	const struct access_tenant *t;
	size_t nr_hosts = 0;

	if (owner[0] != '@') {
		if (cap)
			snprintf(hosts[0], SEGMENT_NAME_BYTES, "%s", owner);
		return cap ? 1 : 0;
	}
	t = access_tenants_find(tenants, nr, owner + 1);
	for (; t && nr_hosts < t->nr_hosts && nr_hosts < cap; nr_hosts++)
		snprintf(hosts[nr_hosts], SEGMENT_NAME_BYTES, "%s", t->hosts[nr_hosts]);
	return nr_hosts;
}

bool access_permits(const struct access_identity *who, const char *host)
{
	for (size_t i = 0; i < who->nr; i++)
		if (access_stands_for(who->hosts[i], host))
			return true;
	return false;
}
