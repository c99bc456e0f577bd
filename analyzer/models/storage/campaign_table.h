/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign_table: the runs of a campaign as the table that storage models are calibrated from
 * (docs/qpn-tables.md), so that nobody has to write that table by hand.
 *
 * Each target of the campaign is a VM. Requests of one run are of one class if the campaign has readers and writers (with
 * read_size and write_size; of several targets readers_1, writers_1 and so on), or if its clients only
 * read or only write; clients that keep several requests under way count as many clients. Runs whose
 * clients mix reads and writes, think, flush or force their writes have no place in such a table, and are
 * left out and counted.
 */
#ifndef ANALYZER_STORAGE_CAMPAIGN_TABLE_H
#define ANALYZER_STORAGE_CAMPAIGN_TABLE_H

#include "base/table.h"

struct campaign_setting {
	const char *name,
		*value; /* of what is no factor, but the same in all runs: "file_set", "1g" */
};

/*
 * campaign: as results_table() reads it. out is a table of the runs that have a place, to be released by the
 * caller whatever this returns; *nr_left_out counts the others. -EINVAL where no run has one, or a column
 * or setting is missing; -ENOMEM.
 */
int campaign_table_make(struct table *out, const struct table *campaign,
			const struct campaign_setting *settings, size_t nr_settings,
			size_t *nr_left_out, struct err *err);

#endif
