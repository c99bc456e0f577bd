/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a YAML model of a software system. What is read must be drawn and run for a while,
 * or stop with a line that says why; what is refused must say why too. A model whose storages could
 * name a file elsewhere is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_draw.h"
#include "analyzer/models/arch/arch_read.h"
#include "analyzer/models/arch/arch_sim.h"

#define EVENTS 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fuzzing is no load test: populations and arrivals stay small. */
static bool modest(const struct arch_model *m)
{
	for (uint32_t i = 0; i < m->nr_scenarios; i++) {
		double v;

		if (m->scenarios[i].population &&
		    (!stoex_is_constant(m->scenarios[i].population, &v) || v > 1000))
			return false;
	}
	return m->nr_instances < 1000;
}

static void run(const struct arch_model *m)
{
	struct err err = { 0 };
	struct arch_sim *s = NULL;
	int error = arch_sim_new(&s, m, 1, &err);

	/* Each step of at most so many, so that what loops in one instant ends soon. */
	if (!error)
		error = arch_sim_run(s, 1e6, EVENTS, &err);
	if (error && !err.line[0])
		abort();
	arch_sim_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arch_model m;
	struct err err = { 0 };
	static FILE *null; /* opened once */

	if (size > 65536 || (memchr(data, '/', size) && memmem(data, size, "storages", 8)))
		return 0;
	if (arch_parse(&m, "fuzz", data, size, NULL, 0, &err)) {
		if (!err.line[0])
			abort();
		return 0;
	}
	if (!null)
		null = fopen("/dev/null", "we");
	if (!null)
		abort();
	arch_draw(&m, null);
	if (modest(&m))
		run(&m);
	arch_release(&m);
	return 0;
}
