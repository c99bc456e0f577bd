/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_tenants: this module reads the file of tenants, which says whose hosts are whose:
 *
 *	# TENANT HOST[,HOST...]; a name that ends with * stands for all hosts that begin so
 *	acme web*,db1
 *
 * A host belongs to at most one tenant: lists that overlap are refused. Only access.c uses it.
 */
#ifndef ANALYZER_ACCESS_TENANTS_H
#define ANALYZER_ACCESS_TENANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/store/segment_name.h"
#include "base/err.h"

#define TENANT_MAX_HOSTS 8    /* names or beginnings of names of one tenant */
#define TENANT_MAX	 4096 /* lines of the file */

struct access_tenant {
	char name[SEGMENT_NAME_BYTES];
	size_t nr_hosts;
	char hosts[TENANT_MAX_HOSTS][SEGMENT_NAME_BYTES];
};

/* Whether the name of a host, or a beginning with *, stands for the host. */
bool access_stands_for(const char *pattern, const char *host);
/* Whether the text is the name of a host, possibly with a * at its end. */
bool access_pattern_ok(const char *text);

/* Reads all lines into an array that the caller frees. Returns 0, or -errno with the file, the line
 * and what was expected. */
int access_tenants_read(const char *path, struct access_tenant **out, size_t *nr_out,
			struct err *err);
/* The tenant of that name, or NULL. */
const struct access_tenant *access_tenants_find(const struct access_tenant *tenants, size_t nr,
						const char *name);
/* The tenant whose host it is, or NULL. */
const struct access_tenant *access_tenants_of(const struct access_tenant *tenants, size_t nr,
					      const char *host);
/*
 * Gives the hosts that a token of the owner stands for, at most cap: the owner itself, a name or a
 * beginning with *, or those of @TENANT. Returns how many.
 */
size_t access_tenants_expand(const struct access_tenant *tenants, size_t nr, const char *owner,
			     char (*hosts)[SEGMENT_NAME_BYTES], size_t cap);

#endif
