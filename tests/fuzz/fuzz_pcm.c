/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the five files of a Palladio model, cut at lines that begin with %%, in the order
 * repository, system, resource environment, allocation, usage. What is refused has a reason; what
 * is taken can be simulated, or says why not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/arch/arch_sim.h"
#include "analyzer/arch/pcm_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const endings[] = { "repository", "system", "resourceenvironment", "allocation",
				       "usagemodel" };

/* Puts the next file into the directory; what is left of the input. */
static size_t write_file(const char *dir, const char *ending, const uint8_t **data, size_t size)
{
	const uint8_t *end = memmem(*data, size, "\n%%", 3);
	size_t len = end ? (size_t)(end - *data) + 1 : size, skip = end ? len + 2 : size;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/shop.%s", dir, ending);
	f = fopen(path, "we");
	if (f) {
		fwrite(*data, 1, len, f);
		fclose(f);
	}
	*data += skip;
	return size - skip;
}

static void simulate(const struct arch_model *m)
{
	struct err err = { 0 };
	struct arch_sim *s = NULL;
	int error = arch_sim_new(&s, m, 1, &err);

	if (!error)
		error = arch_sim_run(s, 1e9, 200, &err);
	if (error && !err.line[0])
		abort();
	arch_sim_free(s);
}

/* Small enough to be simulated in a moment. */
static bool is_small(const struct arch_model *m)
{
	bool small = m->nr_instances < 100;
	double population;

	for (uint32_t i = 0; i < m->nr_scenarios; i++)
		if (!m->scenarios[i].open &&
		    !(stoex_is_constant(m->scenarios[i].population, &population) &&
		      population < 1000))
			small = false;
	for (uint32_t i = 0; i < m->nr_behaviours; i++)
		for (uint32_t k = 0; k < m->behaviours[i].nr; k++)
			if (m->behaviours[i].actions[k].kind == ARCH_LOOP)
				small = false;
	return small;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	char dir[96], path[128];
	struct arch_model m = { 0 };
	struct err err = { 0 };
	int error;

	snprintf(dir, sizeof(dir), "%.60s/fuzz_pcm.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 0;
	for (size_t i = 0; i < 5; i++)
		size = write_file(dir, endings[i], &data, size);
	error = pcm_import(&m, dir, NULL, &err);
	if (error && !err.line[0])
		abort();
	if (!error && is_small(&m))
		simulate(&m);
	arch_release(&m);
	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/shop.%s", dir, endings[i]);
		unlink(path);
	}
	rmdir(dir);
	return 0;
}
