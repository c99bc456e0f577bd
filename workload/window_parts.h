/* SPDX-License-Identifier: Apache-2.0 */
/* window_parts: the parts of a window. Only window.c and window_profile.c include this header. */
#ifndef WORKLOAD_WINDOW_PARTS_H
#define WORKLOAD_WINDOW_PARTS_H

#include "workload/arrivals.h"
#include "workload/clock_tick.h"
#include "workload/closed.h"
#include "workload/durability.h"
#include "workload/fileset.h"
#include "workload/footprint.h"
#include "workload/hotspot.h"
#include "workload/idc.h"
#include "workload/latency.h"
#include "workload/open.h"
#include "workload/reuse.h"
#include "workload/sequential.h"
#include "workload/size_mix.h"
#include "workload/window.h"

/*
 * The lists of requests whose access pattern is examined: reads, writes (as enum operation), and
 * all.
 */
#define LIST_ALL 2
#define NR_LISTS 3

struct window {
	struct window_config config; /* defaults filled in */
	uint64_t begin_ns;
	uint64_t own_requests;
	uint64_t nr_undivided;	       /* data requests of unknown operation */
	bool incomplete[WINDOW_LANES]; /* Memory ran out: the lane's estimators lack requests. */

	struct closed closed;
	struct open open;
	struct arrivals arrivals;
	struct clock_tick tick; /* since the last reset */
	struct idc idc;
	struct size_mix sizes;
	struct latency latency;
	struct durability durability;
	struct sequential lists[NR_LISTS];
	struct footprint footprint; /* footprint of the period */
	struct hotspot hotspot;
	struct reuse reuse;
	struct fileset fileset;

	/*
	 * Blocks that may still be examined one by one, where no room is shared; see
	 * allowed_blocks().
	 */
	struct window_budget blocks;
	bool blocks_cut; /* some were left out: this period's footprint is unknown */
	bool reuse_cut;	 /* Some were left out since the beginning. */

	bool salted; /* The hash's salt belongs to salt_device. */
	uint32_t salt_device;
	uint64_t salt;
};

#endif
