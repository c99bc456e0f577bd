/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_options: parses the values of the options of `blkcast capacity`. Each function returns
 * 0, -ENOMEM or -EINVAL.
 */
#ifndef ANALYZER_CAPACITY_OPTIONS_H
#define ANALYZER_CAPACITY_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/whatif/capacity/capacity.h"

/*
 * Parses "4k:read=20000", "write=5000", "70=12000", ...; a value without a size belongs to the last
 * size.
 */
int capacity_measured(struct capacity *c, const struct word_list *list, struct err *err);
/* Parses "read=70" and "write=30", in percent. out keeps its value where the list is empty. */
int capacity_read_share(const struct word_list *list, double *read_ratio, struct err *err);
/*
 * Parses "4k=0.6" and "64k=0.4:30" (30 % reads, otherwise read_ratio). parts[] has room, and the
 * shares sum to 1.
 */
int capacity_sizes(const struct word_list *list, double read_ratio, struct capacity_part *parts,
		   struct err *err);

#endif
