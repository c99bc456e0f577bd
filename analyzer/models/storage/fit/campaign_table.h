/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign_table: converts the runs of a campaign into the table from which storage models are
 * calibrated (docs/qpn-tables.md), so that users need not write that table by hand.
 *
 * Each target of the campaign is a VM. Each class of requests is of one type. A run has classes if
 * the campaign has the columns readers and writers (with read_size and write_size; a campaign of
 * several targets has readers_1, writers_1 and so on), or if its clients only read or only write.
 * A client that keeps several requests under way counts as that many clients. The table cannot
 * describe runs whose clients mix reads and writes, think, flush or force their writes. Such runs
 * are left out and counted.
 */
#ifndef ANALYZER_STORAGE_CAMPAIGN_TABLE_H
#define ANALYZER_STORAGE_CAMPAIGN_TABLE_H

#include "base/data/table.h"

struct campaign_setting {
	const char *name,
		/*
		 * the value of a quantity that is no factor but the same in all runs: "file_set",
		 * "1g"
		 */
		*value;
};

/*
 * campaign is a table as results_table() reads it. out becomes a table of the runs that it can
 * describe; the caller releases it whatever this function returns. *nr_left_out becomes the number
 * of the other runs. Returns 0, -EINVAL if no run can be described or a column or a setting is
 * missing, or -ENOMEM.
 */
int campaign_table_make(struct table *out, const struct table *campaign,
			const struct campaign_setting *settings, size_t nr_settings,
			size_t *nr_left_out, struct err *err);

#endif
