/* SPDX-License-Identifier: Apache-2.0 */
/* capacity_text: prints the result of `blkcast capacity`. */
#ifndef ANALYZER_CAPACITY_TEXT_H
#define ANALYZER_CAPACITY_TEXT_H

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/whatif/capacity.h"

struct capacity_result {
	struct capacity capacity;
	struct capacity_part *parts; /* all members are owned */
	size_t nr_parts;
	/* each part has the whole capacity, so there is one total per part; otherwise one in all */
	bool alone;
	bool of_requests;
	struct capacity_value *totals;
	struct capacity_check *checks;
	size_t nr_checks;
	double bound;
	struct profile_set *sets;
	size_t nr_sets;
	/* one entry per group, followed by one for all together where there are several */
	struct capacity_use *uses;
	size_t nr_uses;
};

/* Prints tables for people, or JSON of schema blkcast.capacity/1. Returns 0, -ENOMEM or -EIO. */
int capacity_print(const struct capacity_result *r);
int capacity_json(const struct capacity_result *r);
/* Notes what was interpolated, and where C is not constant. */
void capacity_warn(const struct cli *cli, const struct capacity_result *r);

#endif
