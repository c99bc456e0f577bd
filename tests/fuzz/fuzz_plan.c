/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a plan of a measurement campaign. A plan that is accepted must yield its
 * configurations, the candidates of a sequential design and the parameters of the first
 * configuration on each target, or a reason. Nothing is measured. A plan that names a job file is
 * left out, because its path could name any file of this machine.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/driver.h"
#include "analyzer/measure/plan.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLAN_FUZZ_CONFIGURATIONS 2000

/* Designs stay small: what a large one costs is bounded by CONFIGURATIONS_MAX, and tested there. */
static bool plan_is_small(const struct plan *p)
{
	double nr = 1;

	for (size_t i = 0; i < p->factors.nr; i++)
		nr *= p->factors.items[i].nr_levels ? (double)p->factors.items[i].nr_levels : 1;
	return nr <= PLAN_FUZZ_CONFIGURATIONS &&
	       p->random_configurations <= PLAN_FUZZ_CONFIGURATIONS &&
	       p->sequential.start <= PLAN_FUZZ_CONFIGURATIONS &&
	       p->sequential.candidates <= PLAN_FUZZ_CONFIGURATIONS;
}

static void plan_use(const struct plan *p)
{
	struct configurations list = { 0 }, candidates = { 0 };
	struct err err = { 0 };
	int ret = plan_configurations(p, &list, &err);

	if (ret && !err.line[0])
		abort();
	if (!ret && list.nr_factors && list.nr_factors != p->factors.nr)
		abort();
	err = (struct err){ 0 };
	if (p->design == DESIGN_SEQUENTIAL && plan_candidates(p, &candidates, &err) && !err.line[0])
		abort();
	for (size_t i = 0; !ret && list.nr && i < p->nr_targets; i++) {
		struct params params = { 0 };

		err = (struct err){ 0 };
		if (plan_params(p, &p->targets[i], list.cells, "/tmp", &params, &err) &&
		    !err.line[0])
			abort();
		params_release(&params);
	}
	configurations_release(&list);
	configurations_release(&candidates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan p = { 0 };
	struct err err = { 0 };

	if (memmem(data, size, "profile", 7))
		return 0;
	if (!plan_read(&p, fuzz_file("plan", data, size), NULL, 0, &err)) {
		if (plan_is_small(&p))
			plan_use(&p);
		plan_release(&p);
	} else if (!err.line[0]) {
		abort();
	}
	return 0;
}
