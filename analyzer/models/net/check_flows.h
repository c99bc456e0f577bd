/* SPDX-License-Identifier: Apache-2.0 */
/* check_flows: what the sources of an open net ask of its servers and of its pools of tokens. */
#ifndef ANALYZER_CHECK_FLOWS_H
#define ANALYZER_CHECK_FLOWS_H

#include <stdbool.h>

#include "analyzer/models/net/net.h"

/*
 * A queue whose first slot is `slot` and that needs `needed` of its `there` servers; or (pool) an
 * invariant of `there` tokens, some of them in `slot`, of which `needed` are in service at least.
 */
typedef void (*flow_finding)(void *ctx, uint32_t slot, double needed, double there, bool pool);

/*
 * modes, of: nr_modes modes that can fire and their transitions. Nets with capacities, without
 * sources, of more than 300 slots or modes, or whose flows the structure leaves open are passed
 * over. 0 or -ENOMEM. O((slots + modes)^3).
 */
int check_flows(const struct net *n, const struct net_mode *const *modes,
		const struct net_transition *const *of, uint32_t nr_modes, flow_finding say,
		void *ctx);

#endif
