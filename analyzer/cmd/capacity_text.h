/* SPDX-License-Identifier: Apache-2.0 */
/* capacity_text: what `blkcast capacity` prints. */
#ifndef ANALYZER_CAPACITY_TEXT_H
#define ANALYZER_CAPACITY_TEXT_H

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/whatif/capacity.h"

struct capacity_result {
	struct capacity capacity;
	struct capacity_part *parts; /* all owned */
	size_t nr_parts;
	bool alone; /* each part has the capacity to itself: a total each, else one */
	bool of_requests;
	struct capacity_value *totals;
	struct capacity_check *checks;
	size_t nr_checks;
	double bound;
	struct profile_set *sets;
	size_t nr_sets;
	struct capacity_use *uses; /* a group each, then all together where there are several */
	size_t nr_uses;
};

/* Tables for people; a blkcast.capacity/1. 0, or -ENOMEM, -EIO. */
int capacity_print(const struct capacity_result *r);
int capacity_json(const struct capacity_result *r);
/* Words on what was interpolated and on a C that is not constant. */
void capacity_warn(const struct cli *cli, const struct capacity_result *r);

#endif
