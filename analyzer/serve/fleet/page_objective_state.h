/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_objective_state: the state that page_objective.c and page_objective_rules.c share. No other
 * file includes it.
 */
#ifndef ANALYZER_SERVE_FLEET_PAGE_OBJECTIVE_STATE_H
#define ANALYZER_SERVE_FLEET_PAGE_OBJECTIVE_STATE_H

#include <pthread.h>

#include "analyzer/characterize/time_objective.h"
#include "analyzer/serve/fleet/page_objective.h"
#include "analyzer/store/index/segment_name.h"
#include "base/memory/u64map.h"

#define PAGE_OBJECTIVE_MINUTES 60

struct page_state_minute {
	uint64_t minute; /* since 1970; an entry of another minute is out of date */
	float requests, slow;
};

/* An objective of one device in the last hour. */
struct page_state {
	const struct time_objective *objective;
	uint64_t hash; /* hash of host and device */
	char host[SEGMENT_NAME_BYTES], device[PROFILE_NAME_BYTES], name[PROFILE_NAME_BYTES];
	struct page_state_minute minutes[PAGE_OBJECTIVE_MINUTES];
	double requests, slow, spent; /* sums of the hour, when they were last added up */
};

struct page_objectives {
	struct time_objectives given;
	pthread_mutex_t lock;	    /* guards the members below */
	struct page_state **states; /* owned; those of one device follow one another */
	size_t nr_states, cap_states;
	struct u64map by_device; /* hash of host and device: position of its first state */
	size_t nr_refused;	 /* pairs beyond PAGE_OBJECTIVE_STATES */
	double newest_s;
};

#endif
