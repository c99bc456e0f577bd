// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/table/row_order.h"

/* Digits of 11 bits need fewer passes, and tables of counts that only many rows are worth. */
#define LONG_DIGIT_BITS	 11
#define LONG_DIGIT_LOW	 31 /* the lowest bit of the third digit from above */
#define SHORT_DIGIT_BITS 8
#define SHORT_DIGIT_LOW	 32
#define MANY_ROWS	 4096
/* So many rows that the upper digits do not tell apart are put into order by insertion. */
#define MOST_INSERTED 32

struct keyed {
	uint64_t key;
	uint32_t row;
};

/* Two tables of rows, of which the first one holds them at present. */
struct row_tables {
	struct keyed *now, *next;
	size_t nr;
};

/* Maps doubles to integers of the same order; -0 becomes 0. */
static uint64_t row_key(double x)
{
	uint64_t bits;

	x += 0.0;
	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

/* Sorts stably by the digit of some bits from bit `low` on. */
static void row_pass(struct row_tables *t, unsigned int low, unsigned int bits)
{
	uint32_t first[(1 << LONG_DIGIT_BITS) + 1];
	size_t nr_values = (size_t)1 << bits, mask = nr_values - 1;
	struct keyed *from = t->now, *to = t->next;

	memset(first, 0, (nr_values + 1) * sizeof(*first));
	for (size_t i = 0; i < t->nr; i++)
		first[(from[i].key >> low & mask) + 1]++;
	if (first[(from[0].key >> low & mask) + 1] == t->nr)
		return; /* one digit for all */
	for (size_t k = 1; k <= nr_values; k++)
		first[k] += first[k - 1];
	for (size_t i = 0; i < t->nr; i++)
		to[first[from[i].key >> low & mask]++] = from[i];
	t->now = to;
	t->next = from;
}

static void row_passes(struct row_tables *t, unsigned int low, unsigned int bits)
{
	for (; low < 64; low += bits)
		row_pass(t, low, bits);
}

/* Sorts rows by insertion. Returns false if they are too many for that and not in order yet. */
static bool row_insert(struct keyed *rows, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct keyed moved = rows[i];
		size_t at = i;

		if (rows[i - 1].key <= moved.key)
			continue;
		if (nr > MOST_INSERTED)
			return false;
		for (; at && rows[at - 1].key > moved.key; at--)
			rows[at] = rows[at - 1];
		rows[at] = moved;
	}
	return true;
}

/* Sorts rows that are in order by their bits from `low` on. Returns false as row_insert() does. */
static bool row_finish(struct row_tables *t, unsigned int low)
{
	struct keyed *rows = t->now;

	for (size_t begin = 0, end; begin < t->nr; begin = end) {
		end = begin + 1;
		while (end < t->nr && rows[end].key >> low == rows[begin].key >> low)
			end++;
		if (!row_insert(rows + begin, end - begin))
			return false;
	}
	return true;
}

static void row_sort(struct row_tables *t)
{
	unsigned int low = t->nr < MANY_ROWS ? SHORT_DIGIT_LOW : LONG_DIGIT_LOW;

	if (!t->nr)
		return;
	row_passes(t, low, t->nr < MANY_ROWS ? SHORT_DIGIT_BITS : LONG_DIGIT_BITS);
	if (!row_finish(t, low))
		row_passes(t, 0, SHORT_DIGIT_BITS);
}

int row_order(const double *x, size_t nr_columns, size_t nr_rows, uint32_t *order)
{
	struct keyed *rows = reallocarray(NULL, 2 * nr_rows + 1, sizeof(*rows));
	struct row_tables t = { rows, rows + nr_rows, nr_rows };

	if (!rows)
		return -ENOMEM;
	for (size_t c = 0; c < nr_columns; c++) {
		for (size_t i = 0; i < nr_rows; i++)
			t.now[i] = (struct keyed){ row_key(x[c * nr_rows + i]), (uint32_t)i };
		row_sort(&t);
		for (size_t i = 0; i < nr_rows; i++)
			order[c * nr_rows + i] = t.now[i].row;
	}
	free(rows);
	return 0;
}
