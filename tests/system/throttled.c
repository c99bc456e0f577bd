// SPDX-License-Identifier: Apache-2.0
/*
 * throttled STORE: prints how the kernel throttled write-back when a store was recorded, as
 * causal_make() finds it: "on" or "off", requests that it held back, requests beyond its law, and
 * all requests.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/replay/causal_load.h"

int main(int argc, char **argv)
{
	struct store *store = NULL;
	struct scan *scan = NULL;
	struct causal_plan plan = { 0 };
	struct err err;
	int ret;

	if (argc != 2)
		return 2;
	ret = store_open(&store, argv[1], false, &err);
	if (!ret)
		ret = scan_open_store(&scan, store, NULL, NULL, &err);
	if (!ret)
		ret = causal_load(&plan, scan, 0, &err);
	if (ret)
		fprintf(stderr, "throttled: %s\n", err.line);
	else
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", plan.throttle.on ? "on" : "off",
		       plan.throttle.nr_waits, plan.throttle.nr_over, plan.nr);
	causal_release(&plan);
	scan_close(scan);
	store_close(store);
	return ret != 0;
}
