/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_where: keeps the rows of a table for which a condition holds, such as "threads <= 8 &&
 * pattern == random".
 *
 * A condition is one comparison (< <= > >= == !=) or several that are joined by &&. Each side is
 * arithmetic over the table's columns as in models/net/expr.h, with units (request_size >= 64k). In
 * == and != the left side may also be a column of text, and the right side is then the text itself.
 */
#ifndef ANALYZER_MEASURE_TABLE_WHERE_H
#define ANALYZER_MEASURE_TABLE_WHERE_H

#include "base/data/table.h"
#include "base/text/err.h"

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

#endif
