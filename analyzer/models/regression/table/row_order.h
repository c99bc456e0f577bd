/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order: sorts the rows of a table by each of its columns, for the techniques that look for
 * knots or cuts between neighbouring values. Equal values keep the order of their rows, and -0
 * equals 0.
 *
 * It is a radix sort by the upper half of the digits, which puts nearly all rows into order; what
 * is left is repaired by insertion, or by the lower half where that is much. Measured factors have
 * few distinct values, so that most of their digits are equal and are passed over.
 */
#ifndef ANALYZER_REGRESSION_ROW_ORDER_H
#define ANALYZER_REGRESSION_ROW_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * x has nr_columns columns of nr_rows finite values, one after the other; order becomes the
 * numbers of the rows by ascending value, likewise. nr_rows must fit into 32 bits. Returns 0 or
 * -ENOMEM.
 */
int row_order(const double *x, size_t nr_columns, size_t nr_rows, uint32_t *order);

#endif
