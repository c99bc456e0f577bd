/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpe_import: nets of QPME (.qpe, the schema of version 2.1).
 *
 * Taken: colours, queues, places of the three types (a subnet is unfolded, its places become
 * "subnet/place"), immediate and timed transitions (a timed one's modes become timed transitions of
 * their own, "transition/mode"), connections, probes (one per colour), capacities, priorities, the
 * fifteen distributions of the schema; of those that reach below 0, what falls there counts as 0,
 * as in QPME's simulator. Passed over: meta-attributes, which hold layout and the settings of that
 * simulator, and the lines between places and transitions, which the connections of modes repeat.
 * Refused with name and line: rankings; tokens and capacities of a subnet as such; distributions
 * without a finite variance; whatever the schema has not.
 */
#ifndef ANALYZER_QPE_IMPORT_H
#define ANALYZER_QPE_IMPORT_H

#include "analyzer/models/net/net.h"

/*
 * 0, -EINVAL with "FILE:LINE: what" for what is no such net, or -errno where it cannot be read.
 * Entities are not expanded and nothing is fetched. The caller frees the net.
 */
int qpe_import(struct net **out, const char *path, struct err *err);

#endif
