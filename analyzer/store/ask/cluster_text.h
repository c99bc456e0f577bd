/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_text: describes the state of a cluster and its policies, for people or as JSON. */
#ifndef ANALYZER_STORE_ASK_CLUSTER_TEXT_H
#define ANALYZER_STORE_ASK_CLUSTER_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/store/ask/store_policy.h"
#include "analyzer/store/cluster/cluster_admin.h"

/* Writes some lines, and one for each policy. */
void cluster_print(const struct cluster_state *s, const struct store_policies *policies, FILE *out);
/* Returns "blkcast.cluster-status/1", or NULL where memory ran out. */
json_t *cluster_json(const struct cluster_state *s, const struct store_policies *policies);

#endif
