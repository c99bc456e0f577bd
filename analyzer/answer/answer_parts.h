/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_parts: holds what an answer consists of, for the files that build and render answers. All
 * others use answer.h.
 */
#ifndef ANALYZER_ANSWER_ANSWER_PARTS_H
#define ANALYZER_ANSWER_ANSWER_PARTS_H

#include "analyzer/answer/answer.h"

#define ANSWER_CELL_BYTES 64

enum answer_kind { ANSWER_FACT, ANSWER_MEMBER, ANSWER_TABLE, ANSWER_PICTURE };

struct answer_cell {
	char *words; /* owned; NULL: a number */
	double value, low, high;
};

struct answer_table {
	struct answer *answer;
	struct answer_column *columns; /* owned, as are their strings */
	size_t nr_columns;
	struct answer_cell *cells; /* row by row */
	size_t nr, cap;
};

/*
 * This struct is one thing that was added, in the order of adding. All strings are owned; any may
 * be NULL.
 */
struct answer_item {
	enum answer_kind kind;
	char *key, *title, *about;
	enum answer_unit unit;	    /* of a fact */
	struct answer_cell fact;    /* of a fact */
	json_t *member;		    /* of a member */
	struct answer_table *table; /* of a table */
	struct buf svg;		    /* of a picture */
};

struct answer {
	char *schema, *title, *conclusion;
	char **notes;
	size_t nr_notes, cap_notes;
	struct answer_item *items;
	size_t nr_items, cap_items;
	int error;
};

/*
 * Returns the value of a cell for people, in out, or the words of the cell. The text is "-" if the
 * number is unknown.
 */
const char *answer_cell_text(const struct answer_cell *c, enum answer_unit unit,
			     char out[ANSWER_CELL_BYTES]);
/*
 * Does what answer_cell_text() does for a cell of a table, and adds the spread if the column asks
 * for it.
 */
const char *answer_column_text(const struct answer_cell *c, const struct answer_column *column,
			       char out[ANSWER_CELL_BYTES]);
/* Tells whether people see the ends of the column's intervals in columns of their own. */
bool answer_shows_interval(const struct answer_column *column);
/* Writes one end of an interval in the same way. */
const char *answer_number_text(double value, enum answer_unit unit, char out[ANSWER_CELL_BYTES]);
/* Tells whether a column has numbers alone, which align right. */
bool answer_is_number(const struct answer_table *t, size_t column);
/*
 * Counts the columns that people see, at most GRID_COLUMNS. An interval counts as two more columns.
 */
unsigned int answer_shown_columns(const struct answer_table *t);
/* Tells whether the item is a table that has something to show to people. */
bool answer_is_shown(const struct answer_item *item);
/*
 * Returns 0, -EINVAL if some table has an incomplete row, or the failure that the answer kept while
 * it was filled.
 */
int answer_check(const struct answer *a);

int answer_print_text(const struct answer *a, FILE *out);
int answer_print_json(const struct answer *a, FILE *out);
int answer_print_csv(const struct answer *a, FILE *out);

#endif
