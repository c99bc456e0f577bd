/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_flows: computes what the sources of an open net require of its servers and of its pools of
 * tokens.
 */
#ifndef ANALYZER_CHECK_FLOWS_H
#define ANALYZER_CHECK_FLOWS_H

#include <stdbool.h>

#include "analyzer/models/net/net.h"

/*
 * Reports a queue whose first slot is `slot` and that needs `needed` of its `there` servers; or
 * (pool) an invariant of `there` tokens, some of them in `slot`, of which at least `needed` are in
 * service.
 */
typedef void (*flow_finding)(void *ctx, uint32_t slot, double needed, double there, bool pool);

/*
 * modes and of are the nr_modes modes that can fire and their transitions. Nets are skipped that
 * have capacities, no sources, more than 300 slots or modes, or flows that the structure does not
 * determine. Returns 0 or -ENOMEM. O((slots + modes)^3).
 */
int check_flows(const struct net *n, const struct net_mode *const *modes,
		const struct net_transition *const *of, uint32_t nr_modes, flow_finding say,
		void *ctx);

#endif
