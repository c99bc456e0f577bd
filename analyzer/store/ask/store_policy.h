/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_policy: says from which hosts a store wants the requests themselves, and how long it keeps
 * them.
 *
 * A file of policies (docs/policy.schema.json) has an entry for each tenant, with its hosts. The
 * first entry that contains a host is the policy of that host. A host that no entry contains sends
 * everything, and its requests are never removed by a policy. A pattern of hosts is refused if an
 * earlier entry contains all of its hosts, because the later entry would never apply to them.
 * Profiles are always sent and are not the subject of a policy.
 *
 * The file is put into the store: DIR/policies.yaml of a folder, table policy of a cluster. So all
 * serves of a cluster tell the agents the same and need no file of their own, and retention knows
 * it wherever it runs. Who may write to the folder, or has the credentials of the cluster, may
 * state policies, and nobody else. They are told to agents as formats/policy.md says.
 */
#ifndef ANALYZER_STORE_POLICY_H
#define ANALYZER_STORE_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/ask/host_patterns.h"
#include "analyzer/store/ask/store_ask.h"
#include "analyzer/store/index/segment_name.h"
#include "base/data/fields.h"
#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/policy.h"

#define STORE_POLICY_MAX       16384 /* entries of one file */
#define STORE_POLICY_HOSTS     8     /* names or beginnings of names of one entry */
#define STORE_POLICY_MAX_BYTES (4u << 20)

struct store_policy {
	char tenant[SEGMENT_NAME_BYTES];
	char hosts[STORE_POLICY_HOSTS][SEGMENT_NAME_BYTES]; /* one may end with * */
	size_t nr_hosts;
	uint64_t keep_ns; /* age at which the store gives up requests; 0: never; 1: at once */
	struct policy told;
};

struct store_policies {
	struct store_policy *list; /* owned */
	size_t nr, cap;
	struct host_patterns hosts; /* hosts of all entries; the owner is the index in list */
	struct host_patterns names; /* names of the tenants; the owner is the index in list */
};

/* The table of the file, from which docs/policy.schema.json is written. */
extern const struct fields store_policies_table;

/*
 * Reads the text of a file, whose name is used in errors, into a zeroed p. Returns 0, or -errno
 * with the file, the line and what was expected. The caller releases p in every case.
 */
int store_policies_parse(struct store_policies *p, const char *name, const struct buf *text,
			 struct err *err);
void store_policies_release(struct store_policies *p);
/* Returns the policy of the host, or NULL. The cost does not depend on the number of policies. */
const struct store_policy *store_policies_find(const struct store_policies *p, const char *host);
/*
 * The first appends one line for people; the second returns the policies as JSON (NULL: no memory).
 */
void store_policy_words(const struct store_policy *one, struct buf *out);
json_t *store_policies_json(const struct store_policies *p);
/* Returns whether any policy removes requests at some age. */
bool store_policies_retire(const struct store_policies *p);

/*
 * Checks the text and puts it in the place of the previous one. The new text is durable when the
 * function has returned 0.
 */
int store_policies_put(struct store_asks *a, const char *name, const struct buf *text,
		       struct err *err);
/* Appends the text of the policies in force; appends nothing if there are none. */
int store_policies_text(struct store_asks *a, struct buf *text, struct err *err);
/* Reads the policies that are in force into a zeroed p; the caller releases it in every case. */
int store_policies_read(struct store_asks *a, struct store_policies *p, struct err *err);
/* Does so for the store of that name, which is opened and closed. Returns 0 or -errno. */
int store_policies_of(const char *store, struct store_policies *p, struct err *err);

#endif
