/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_where: keeps the rows of a table for which a condition holds, such as "threads <= 8 &&
 * pattern == random".
 *
 * A condition is one comparison (< <= > >= == !=) or several that are joined by &&. Each side is
 * arithmetic over the table's columns as in models/net/expr.h, with units (request_size >= 64k). In
 * == and != the left side may also be a column of text, and the right side is then the text itself.
 */
#ifndef ANALYZER_CMD_TABLE_WHERE_H
#define ANALYZER_CMD_TABLE_WHERE_H

#include "base/err.h"
#include "base/table.h"
#include "analyzer/cmd/cli.h"

struct table_where_facts {
	size_t nr_kept, nr_rows; /* rows that are kept, and rows before */
	size_t nr_missing;	 /* rows not kept because a column of the condition has no value */
};

/*
 * Removes the rows of t for which the condition does not hold. Returns 0, -ENOMEM, or -EINVAL where
 * the condition cannot be read, names no column, or leaves no row.
 */
int table_where(struct table *t, const char *condition, struct table_where_facts *facts,
		struct err *err);

/*
 * Makes a table of one row from the values of --set, each NAME=VALUE. Returns 0, -ENOMEM, or
 * -EINVAL where a value has another form. The caller releases the table.
 */
int set_table(struct table *t, const struct word_list *set, struct err *err);
/*
 * Reads a table by table_read() and returns what that returns. Where the cells or the lines of the
 * file are separated in another way than in usual CSV, a note on standard error says so. The caller
 * releases the table.
 */
int table_read_said(struct table *t, const char *path, const struct cli *cli, struct err *err);

#endif
