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

#include "analyzer/store/ask/host_patterns.h"
#include "analyzer/store/index/segment_name.h"
#include "base/text/err.h"

#define TENANT_MAX_HOSTS 8     /* names or beginnings of names of one tenant */
#define TENANT_MAX	 16384 /* lines of the file */

struct access_tenant {
	char name[SEGMENT_NAME_BYTES];
	unsigned int line; /* of the file */
	size_t nr_hosts;
	char hosts[TENANT_MAX_HOSTS][SEGMENT_NAME_BYTES];
};

/* A zeroed struct has no tenant. */
struct access_tenants {
	struct access_tenant *list; /* owned */
	size_t nr, cap;
	struct host_patterns hosts; /* of all tenants, which own them by their numbers */
	struct host_patterns names; /* of the tenants */
};

/*
 * Reads all lines into a zeroed struct. Returns 0, or -errno with the file, the line and what was
 * expected. The caller releases it in every case.
 */
int access_tenants_read(const char *path, struct access_tenants *out, struct err *err);
void access_tenants_release(struct access_tenants *tenants);
/*
 * Return the tenant of that name, and the tenant whose host it is, or NULL. Their cost does not
 * depend on the number of tenants.
 */
const struct access_tenant *access_tenants_find(const struct access_tenants *tenants,
						const char *name);
const struct access_tenant *access_tenants_of(const struct access_tenants *tenants,
					      const char *host);
/*
 * Gives the hosts that a token of the owner stands for, at most cap: the owner itself, a name or a
 * beginning with *, or those of @TENANT. Returns how many.
 */
size_t access_tenants_expand(const struct access_tenants *tenants, const char *owner,
			     char (*hosts)[SEGMENT_NAME_BYTES], size_t cap);

#endif
