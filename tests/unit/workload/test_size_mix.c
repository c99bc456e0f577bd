/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/size_mix.h"

#define NR 20000

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sizes of one operation sorted and counted. */
static void same_as_sorted(const struct size_mix *m, const struct request *r, size_t nr,
			   enum operation operation)
{
	uint32_t *sorted = malloc(nr * sizeof(*sorted));
	struct size_count *sizes;
	size_t nr_sorted = 0, nr_sizes, at = 0;
	double sum = 0;

	if (!sorted || !ok_int(size_mix_sizes(m, operation, &sizes, &nr_sizes), 0))
		abort();
	for (size_t i = 0; i < nr; i++)
		if (r[i].operation == operation)
			sorted[nr_sorted++] = r[i].bytes;
	qsort(sorted, nr_sorted, sizeof(*sorted), by_value);
	for (size_t i = 0; i < nr_sizes; i++) {
		for (uint64_t k = 0; k < sizes[i].count; k++, at++)
			if (at >= nr_sorted || sorted[at] != sizes[i].bytes)
				ok(!"the same size");
		sum += (double)sizes[i].bytes * (double)sizes[i].count;
	}
	ok_eq(at, nr_sorted);
	ok_eq(m->requests[operation], nr_sorted);
	ok_ratio(size_mix_mean_bytes(m, operation), sum / (double)nr_sorted, 1e-12);
	free(sizes);
	free(sorted);
}

static void against_sorted(void)
{
	static struct request r[NR];
	struct size_mix m = { 0 };

	slow_mixed(r, NR, 1, 0, 1000);
	for (size_t i = 0; i < NR; i++) {
		r[i].bytes = i % 5 ? r[i].bytes : (uint32_t)(i * 7 % 3000);
	}
	ok_int(size_mix_add_many(&m, r, NR), 0);
	same_as_sorted(&m, r, NR, OPERATION_READ);
	ok_eq(m.direction[0].beyond, 0);
	size_mix_release(&m);
}

static void bound_on_sizes(void)
{
	struct size_mix m = { 0 };
	struct size_count *sizes;
	uint64_t counted = 0, bytes = 0;
	size_t nr;

	for (uint32_t i = 1; i <= 10000; i++) {
		struct request r = slow_request(0, 0);

		r.bytes = i * 511;
		bytes += r.bytes;
		ok_int(size_mix_add_many(&m, &r, 1), 0);
	}
	ok_int(size_mix_sizes(&m, OPERATION_READ, &sizes, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		counted += sizes[i].count;
	ok(nr <= 4096 && m.direction[0].beyond > 0);
	ok_eq(counted + m.direction[0].beyond, 10000);
	ok_near(size_mix_mean_bytes(&m, OPERATION_READ), (double)bytes / 10000, 1e-6);
	ok(size_mix_memory(&m) < 256 << 10);
	free(sizes);
	ok_int(size_mix_sizes(&m, OPERATION_WRITE, &sizes, &nr), 0);
	ok(!sizes && !nr);
	size_mix_release(&m);
}

static const struct tap_test tests[] = {
	{ "every distinct size is counted exactly", against_sorted },
	{ "sizes past the bound are counted together and kept in the mean", bound_on_sizes },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
