/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check: finds errors of a net that can be seen without running it.
 *
 * It finds: places and modes that no token ever reaches; places that tokens never leave; immediate
 * transitions that can keep each other firing without any time passing; queues of an open net that
 * get more work than they can do, and pools of tokens too small for what they are held for, as far
 * as the structure determines the flows (check_flows.h); closed nets whose tokens are not conserved
 * under any weights. Errors that need a run (a deadlock that depends on the marking, growth of a
 * net with other flows) are found by the simulation.
 */
#ifndef ANALYZER_CHECK_H
#define ANALYZER_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyzer/models/net/net.h"

enum finding_kind {
	FINDING_UNREACHABLE,
	FINDING_DEAD_MODE,
	FINDING_TRAP,
	FINDING_LOOP,
	FINDING_UNSTABLE,
	FINDING_UNCONSERVED,
};

struct finding {
	enum finding_kind kind;
	unsigned line;
	const char *text; /* without file and line; valid during the call */
};

/*
 * Calls say() for each finding, in the order of the kinds. Returns 0 or -ENOMEM. O(modes * slots),
 * and a dense system of the slots for open nets.
 */
int net_check(const struct net *n, void (*say)(void *ctx, const struct finding *f), void *ctx);
/*
 * The first prints each finding as "FILE:LINE: text". The second makes "blkcast.qpn-check/1", which
 * the caller owns. *nr becomes the number of findings. Both return 0 or -ENOMEM.
 */
int net_check_print(const struct net *n, FILE *out, size_t *nr);
int net_check_json(const struct net *n, json_t **json, size_t *nr);

#endif
