/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpe_import: reads nets of QPME (.qpe, schema version 2.1).
 *
 * Read: colours, queues, places of the three types (a subnet is unfolded, and its places become
 * "subnet/place"), immediate and timed transitions (the modes of a timed transition become timed
 * transitions of their own, "transition/mode"), connections, probes (one per colour), capacities,
 * priorities, and the fifteen distributions of the schema. A distribution that reaches below 0
 * counts as 0 there, as in QPME's simulator. Ignored: meta-attributes, which hold the layout and
 * the settings of that simulator, and the lines between places and transitions, which the
 * connections of modes repeat. Refused with name and line: rankings; tokens and capacities of a
 * subnet as such; distributions without a finite variance; everything that the schema does not
 * have.
 *
 * Settings change numbers as if the file had been edited. A number is named by its path:
 *
 *	queue.QUEUE.servers
 *	place.PLACE.color.COLOR.tokens, .capacity, .priority, and the distribution's attributes
 *		(lambda, mean, stdDev, ...); mean also where it is Exponential or Deterministic
 *	transition.TRANSITION.weight, .priority
 *	transition.TRANSITION.mode.MODE.weight, and of a timed transition .delay
 */
#ifndef ANALYZER_QPE_IMPORT_H
#define ANALYZER_QPE_IMPORT_H

#include "analyzer/models/net/net.h"

/*
 * Returns 0; -EINVAL with "FILE:LINE: what" for a file that is not such a net, or with a list of
 * names for a setting of a number that the file does not have; or -errno where the file
 * cannot be read. Entities are not expanded and nothing is fetched. The caller frees the net.
 */
int qpe_import(struct net **out, const char *path, const struct net_setting *settings,
	       size_t nr_settings, struct err *err);

#endif
