/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_where: the rows of a table for which a condition holds, "threads <= 8 && pattern == random".
 *
 * A condition is one comparison (< <= > >= == !=) or several that are joined by &&. A side is arithmetic over
 * the table's columns as in models/net/expr.h, with units (request_size >= 64k); in == and != it may be a column of
 * text on the left, and the text itself on the right.
 */
#ifndef ANALYZER_CMD_TABLE_WHERE_H
#define ANALYZER_CMD_TABLE_WHERE_H

#include "base/err.h"
#include "base/table.h"

struct table_where_facts {
	size_t nr_kept, nr_rows; /* of so many before */
	size_t nr_missing;	 /* not kept, as a column of the condition has no value there */
};

/*
 * Takes the rows out of t for which the condition does not hold. -EINVAL: the condition cannot be read, it names
 * no column, or no row is left. -ENOMEM.
 */
int table_where(struct table *t, const char *condition, struct table_where_facts *facts,
		struct err *err);

#endif
