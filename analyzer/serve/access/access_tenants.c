// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/access/access_tenants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/access/access.h"
#include "base/memory/array.h"

#define TENANT_LINE 1024

static int access_tenants_line(struct access_tenant *t, char *line, const char *where,
			       struct err *err)
{
	char hosts[TENANT_LINE], rest[2], *save = NULL;

	*t = (struct access_tenant){ .line = t->line };
	if (sscanf(line, "%63s %1023s %1s", t->name, hosts, rest) != 2 || !segment_word_ok(t->name))
		return err_set(err, EINVAL, "%s: expected TENANT HOST[,HOST...]", where);
	for (char *word = strtok_r(hosts, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (t->nr_hosts == TENANT_MAX_HOSTS)
			return err_set(err, EINVAL,
				       "%s: expected at most %d names; one that ends with * stands "
				       "for many hosts",
				       where, TENANT_MAX_HOSTS);
		if (!segment_hosts_ok(word))
			return err_set(err, EINVAL,
				       "%s: expected names of hosts, each possibly with * at its "
				       "end, and commas between them",
				       where);
		snprintf(t->hosts[t->nr_hosts++], SEGMENT_NAME_BYTES, "%s", word);
	}
	return t->nr_hosts ? 0 : err_set(err, EINVAL, "%s: expected a host", where);
}

/* Appends a tenant. Its name and its hosts get its number as their owner. */
static int access_tenants_append(struct access_tenants *tenants, const struct access_tenant *one)
{
	uint32_t number = (uint32_t)tenants->nr;
	int ret =
		array_grow(&tenants->list, &tenants->cap, tenants->nr + 1, sizeof(*tenants->list));

	for (size_t i = 0; i < one->nr_hosts && ret == 0; i++)
		ret = host_patterns_add(&tenants->hosts, one->hosts[i], number);
	if (ret == 0)
		ret = host_patterns_add(&tenants->names, one->name, number);
	if (ret == 0)
		tenants->list[tenants->nr++] = *one;
	return ret;
}

static int access_tenants_add(struct access_tenants *tenants, char *text, const char *where,
			      unsigned int line, struct err *err)
{
	struct access_tenant one = { .line = line };
	int ret = access_tenants_line(&one, text, where, err);

	if (ret < 0)
		return ret;
	if (tenants->nr == TENANT_MAX)
		return err_set(err, EINVAL, "%s: expected at most %d tenants", where, TENANT_MAX);
	if (access_tenants_find(tenants, one.name))
		return err_set(err, EINVAL, "%s: tenant %s stands in an earlier line too", where,
			       one.name);
	ret = access_tenants_append(tenants, &one);
	return ret < 0 ? err_set(err, ENOMEM, "%s: no memory", where) : 0;
}

/*
 * Finds a line with a host that an earlier line has too. If two patterns have a host in common, one
 * of them contains all hosts of the other. A tenant is the first owner of its own patterns unless
 * an earlier tenant has them too; if the owners are numbered backwards, it is the last owner.
 */
static int access_tenants_clash(const struct access_tenants *tenants, const char *path,
				struct err *err)
{
	const struct access_tenant *list = tenants->list;
	uint32_t nr = (uint32_t)tenants->nr, first = 0, second = UINT32_MAX;
	struct host_patterns backwards = { .nr = 0 };
	int ret = 0;

	for (uint32_t i = 0; i < nr; i++)
		for (size_t k = 0; k < list[i].nr_hosts && ret == 0; k++)
			ret = host_patterns_add(&backwards, list[i].hosts[k], nr - 1 - i);
	for (uint32_t i = 0; i < nr && ret == 0; i++)
		for (size_t k = 0; k < list[i].nr_hosts; k++) {
			uint32_t before = host_patterns_cover(&tenants->hosts, list[i].hosts[k]);
			uint32_t after = nr - 1 - host_patterns_cover(&backwards, list[i].hosts[k]);

			if (before < i && i < second) {
				first = before;
				second = i;
			}
			if (after > i && after < second) {
				first = i;
				second = after;
			}
		}
	host_patterns_release(&backwards);
	if (ret < 0)
		return err_set(err, ENOMEM, "%s: no memory", path);
	if (second == UINT32_MAX)
		return 0;
	return err_set(err, EINVAL, "%s:%u: a host could belong to %s and to %s", path,
		       list[second].line, list[first].name, list[second].name);
}

int access_tenants_read(const char *path, struct access_tenants *out, struct err *err)
{
	FILE *f = fopen(path, "re");
	char line[TENANT_LINE], where[ERR_LINE_BYTES / 2];
	unsigned int number = 0;
	int ret = f ? 0 : err_set(err, errno, "%s: %s", path, strerror(errno));

	while (ret == 0 && fgets(line, sizeof(line), f)) {
		snprintf(where, sizeof(where), "%s:%u", path, ++number);
		if (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1)
			ret = err_set(err, EINVAL, "%s: line too long", where);
		if (ret < 0 || line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
			continue;
		ret = access_tenants_add(out, line, where, number, err);
	}
	if (f)
		fclose(f);
	return ret < 0 ? ret : access_tenants_clash(out, path, err);
}

void access_tenants_release(struct access_tenants *tenants)
{
	free(tenants->list);
	host_patterns_release(&tenants->hosts);
	host_patterns_release(&tenants->names);
	*tenants = (struct access_tenants){ .nr = 0 };
}

const struct access_tenant *access_tenants_find(const struct access_tenants *tenants,
						const char *name)
{
	uint32_t number = host_patterns_find(&tenants->names, name);

	return number == HOST_PATTERNS_NONE ? NULL : &tenants->list[number];
}

const struct access_tenant *access_tenants_of(const struct access_tenants *tenants,
					      const char *host)
{
	uint32_t number = host_patterns_find(&tenants->hosts, host);

	return number == HOST_PATTERNS_NONE ? NULL : &tenants->list[number];
}

size_t access_tenants_expand(const struct access_tenants *tenants, const char *owner,
			     char (*hosts)[SEGMENT_NAME_BYTES], size_t cap)
{
	const struct access_tenant *t;
	size_t nr_hosts = 0;

	if (owner[0] != '@') {
		if (cap)
			snprintf(hosts[0], SEGMENT_NAME_BYTES, "%s", owner);
		return cap ? 1 : 0;
	}
	t = access_tenants_find(tenants, owner + 1);
	for (; t && nr_hosts < t->nr_hosts && nr_hosts < cap; nr_hosts++)
		snprintf(hosts[nr_hosts], SEGMENT_NAME_BYTES, "%s", t->hosts[nr_hosts]);
	return nr_hosts;
}

bool access_permits(const struct access_identity *who, const char *host)
{
	for (size_t i = 0; i < who->nr; i++)
		if (segment_hosts_match(who->hosts[i], host))
			return true;
	return false;
}
