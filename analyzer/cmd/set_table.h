/* SPDX-License-Identifier: Apache-2.0 */
/* set_table: makes a table of one row from `--set NAME=VALUE ...`. */
#ifndef ANALYZER_CMD_SET_TABLE_H
#define ANALYZER_CMD_SET_TABLE_H

#include "analyzer/cmd/cli.h"
#include "base/table.h"

/* Returns 0, -EINVAL or -ENOMEM. The caller releases the table. */
int set_table(struct table *t, const struct word_list *set, struct err *err);
/*
 * Calls table_read(), and notes it where cells or lines are separated in another way than in usual
 * CSV.
 */
int table_read_said(struct table *t, const char *path, const struct cli *cli, struct err *err);

#endif
