/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order: compares two plain values for qsort() and bsearch(). Each function has the type that
 * qsort() and bsearch() require; a and b point to the values, none of which may be NaN.
 */
#ifndef BASE_MEMORY_ORDER_H
#define BASE_MEMORY_ORDER_H

int order_u32(const void *a, const void *b);
int order_u32_falling(const void *a, const void *b);
int order_u64(const void *a, const void *b);
int order_double(const void *a, const void *b);
int order_double_falling(const void *a, const void *b);
/* The values are pointers to texts. */
int order_text(const void *a, const void *b);

#endif
