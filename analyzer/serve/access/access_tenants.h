/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_tenants: this module reads the file of tenants, which assigns hosts to tenants:
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
	unsigned int line; /* line of the file */
	size_t nr_hosts;
	char hosts[TENANT_MAX_HOSTS][SEGMENT_NAME_BYTES];
};

/* A zeroed struct has no tenant. */
struct access_tenants {
	struct access_tenant *list; /* owned */
	size_t nr, cap;
	struct host_patterns hosts; /* hosts of all tenants; the owner is the index in list */
	struct host_patterns names; /* names of the tenants; the owner is the index in list */
};

/*
 * Reads all lines into a zeroed struct. Returns 0, or -errno with the file, the line and what was
 * expected. The caller releases it in every case.
 */
int access_tenants_read(const char *path, struct access_tenants *out, struct err *err);
void access_tenants_release(struct access_tenants *tenants);
/*
 * The first returns the tenant of that name, the second the tenant of that host; each returns NULL
 * if there is none. Their cost does not depend on the number of tenants.
 */
const struct access_tenant *access_tenants_find(const struct access_tenants *tenants,
						const char *name);
const struct access_tenant *access_tenants_of(const struct access_tenants *tenants,
					      const char *host);
/*
 * Gives at most cap hosts that a token of the owner stands for: the owner itself, if it is a host's
 * name or a beginning with *, or the hosts of @TENANT. Returns how many.
 */
size_t access_tenants_expand(const struct access_tenants *tenants, const char *owner,
			     char (*hosts)[SEGMENT_NAME_BYTES], size_t cap);

#endif
