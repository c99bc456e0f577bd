/* SPDX-License-Identifier: Apache-2.0 */
/* capacity_options: the values of `blkcast capacity`'s options. Each: 0, -ENOMEM, or -EINVAL. */
#ifndef ANALYZER_CAPACITY_OPTIONS_H
#define ANALYZER_CAPACITY_OPTIONS_H

#include "analyzer/cmd/cli.h"
#include "analyzer/whatif/capacity.h"

/* "4k:read=20000", "write=5000", "70=12000", ...: what has no size of its own belongs to the last. */
int capacity_measured(struct capacity *c, const struct word_list *list, struct err *err);
/* "read=70", "write=30": in percent; out keeps its value where the list is empty. */
int capacity_read_share(const struct word_list *list, double *read_ratio, struct err *err);
/* "4k=0.6", "64k=0.4:30" (30 % reads, else read_ratio): parts[] has room; shares sum to 1. */
int capacity_sizes(const struct word_list *list, double read_ratio, struct capacity_part *parts,
		   struct err *err);

#endif
