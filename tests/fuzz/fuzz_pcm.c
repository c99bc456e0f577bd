/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the five files of a Palladio model, cut at lines that begin with %%, in the order
 * repository, system, resource environment, allocation, usage. What is refused has a reason; what
 * is taken can be simulated, or says why not.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/models/arch/arch_sim.h"
#include "analyzer/models/arch/pcm/pcm_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const endings[] = { "repository", "system", "resourceenvironment", "allocation",
				       "usagemodel" };

static char pcm_dir[96];
static int pcm_files[5];

static void remove_dir(void)
{
	char path[128];

	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/shop.%s", pcm_dir, endings[i]);
		unlink(path);
	}
	rmdir(pcm_dir);
}

/* One directory with five open files for all inputs. */
static void make_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char path[128];

	snprintf(pcm_dir, sizeof(pcm_dir), "%.60s/fuzz_pcm.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(pcm_dir) || atexit(remove_dir))
		abort();
	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/shop.%s", pcm_dir, endings[i]);
		pcm_files[i] = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (pcm_files[i] < 0)
			abort();
	}
}

/* Puts the next part into its file; what is left of the input. */
static size_t write_file(int fd, const uint8_t **data, size_t size)
{
	const uint8_t *end = memmem(*data, size, "\n%%", 3);
	size_t len = end ? (size_t)(end - *data) + 1 : size, skip = end ? len + 2 : size;

	if (ftruncate(fd, 0) || pwrite(fd, *data, len, 0) != (ssize_t)len)
		abort();
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
	struct arch_model m = { 0 };
	struct err err = { 0 };
	int error;

	if (!pcm_dir[0])
		make_dir();
	for (size_t i = 0; i < 5; i++)
		size = write_file(pcm_files[i], &data, size);
	error = pcm_import(&m, pcm_dir, NULL, &err);
	if (error && !err.line[0])
		abort();
	if (!error && is_small(&m))
		simulate(&m);
	arch_release(&m);
	return 0;
}
