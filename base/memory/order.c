// SPDX-License-Identifier: Apache-2.0
#include "base/memory/order.h"

#include <stdint.h>
#include <string.h>

int order_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int order_u32_falling(const void *a, const void *b)
{
	return order_u32(b, a);
}

int order_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int order_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int order_double_falling(const void *a, const void *b)
{
	return order_double(b, a);
}

int order_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
