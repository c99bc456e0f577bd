/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_told: reads tables that a person names or writes, and remarks on what the person may
 * overlook.
 */
#ifndef ANALYZER_MEASURE_TABLE_TOLD_H
#define ANALYZER_MEASURE_TABLE_TOLD_H

#include "analyzer/answer/teller.h"
#include "base/data/table.h"
#include "base/text/word_list.h"

/*
 * Makes a table of one row from words NAME=VALUE; errors name source. Returns 0, -ENOMEM, or
 * -EINVAL where a word has another form. The caller releases the table.
 */
int table_of_settings(struct table *t, const char *source, const struct word_list *set,
		      struct err *err);
/*
 * Reads a table by table_read() and returns what that returns. Where the cells or the lines of the
 * file are separated in another way than in usual CSV, a remark says so. The caller releases it.
 */
int table_read_told(struct table *t, const char *path, const struct teller *teller,
		    struct err *err);

#endif
