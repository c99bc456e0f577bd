/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpe_import: nets of QPME (.qpe, the schema of version 2.1).
 *
 * Taken: colours, queues, ordinary and queueing places, immediate and timed transitions (a timed
 * one's modes become timed transitions of their own, "transition/mode"), connections, probes (one
 * per colour), capacities, priorities, the distributions Exponential, Deterministic, Gamma, Normal
 * and Uniform. Passed over: meta-attributes, which hold layout and the settings of another
 * simulator. Anything else is refused with its name and line: subnet places, rankings, and the
 * distributions that another library defines.
 */
#ifndef ANALYZER_QPE_IMPORT_H
#define ANALYZER_QPE_IMPORT_H

#include "analyzer/qpn/net.h"

/*
 * 0, -EINVAL with "FILE:LINE: what" for what is no such net, or -errno where it cannot be read.
 * Entities are not expanded and nothing is fetched. The caller frees the net.
 */
int qpe_import(struct net **out, const char *path, struct err *err);

#endif
