/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "tests/support/tap.h"
#include "workload/fileset.h"

static void file_sets(void)
{
	struct fileset a = { 0 };

	ok(isnan(fileset_count_mean(&a)) && isnan(fileset_size_mean_bytes(&a)));
	fileset_add(&a, 10, 1000);
	fileset_add(&a, 0, 0);
	fileset_add(&a, 20, 6000);
	ok_near(fileset_count_mean(&a), 10, 1e-12);
	ok_near(fileset_total_mean_bytes(&a), 7000.0 / 3, 1e-9);
	/* eq. 5.17: the mean of the samples' means, of those that had files. */
	ok_near(fileset_size_mean_bytes(&a), 200, 1e-12);
	fileset_clear(&a);
	ok(isnan(fileset_total_mean_bytes(&a)));
}

static const struct tap_test tests[] = {
	{ "file set averages are those of the samples", file_sets },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
