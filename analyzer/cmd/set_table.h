/* SPDX-License-Identifier: Apache-2.0 */
/* set_table: `--set NAME=VALUE ...` as a table of one row. */
#ifndef ANALYZER_CMD_SET_TABLE_H
#define ANALYZER_CMD_SET_TABLE_H

#include "analyzer/cmd/cli.h"
#include "base/table.h"

/* 0, -EINVAL, -ENOMEM. The caller releases the table. */
int set_table(struct table *t, const struct word_list *set, struct err *err);
/* table_read(), and a remark where cells or lines are not parted as in other CSV. */
int table_read_said(struct table *t, const char *path, const struct cli *cli, struct err *err);

#endif
