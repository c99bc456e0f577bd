/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a scenario in YAML. The scenario lies in a folder of its own beside a scenario to
 * stand on (today.yaml), two models (read.json, write.json) and stored requests (demo.seg), as
 * those of docs/examples. A scenario that is accepted must be solved, or refused with a reason. An
 * input with a slash is left out, because its paths could name any file of this machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/scenario/scenario.h"
#include "base/memory/buf.h"
#include "base/system/file.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario_today[] = "scenario: today\n"
				     "storages:\n"
				     "  disks: {models: [read.json, write.json]}\n"
				     "vms:\n"
				     "  web: {profile: demo.seg, storage: disks, count: 3}\n";

static void scenario_copy(const char *folder, const char *name, const char *from)
{
	struct buf file = { 0 };

	if (file_read(from, 1 << 20, &file, NULL))
		abort(); /* started elsewhere than at the top of the tree */
	fuzz_put(folder, name, file.data, file.len);
	buf_release(&file);
}

/*
 * What the scenario stands on is read once: the predictors and profiles are shared by all inputs.
 */
static const char *scenario_folder(struct scenario_files **files)
{
	static char folder[FUZZ_PATH_MAX + 16];
	static struct scenario_files *shared;

	if (!folder[0]) {
		snprintf(folder, sizeof(folder), "%s/scenario", fuzz_folder());
		if (mkdir(folder, 0700))
			abort();
		scenario_copy(folder, "read.json", "docs/examples/scenarios/disks-read.json");
		scenario_copy(folder, "write.json", "docs/examples/scenarios/disks-write.json");
		scenario_copy(folder, "demo.seg", "docs/examples/demo.seg");
		fuzz_put(folder, "today.yaml", scenario_today, sizeof(scenario_today) - 1);
		shared = scenario_files_new();
		if (!shared)
			abort();
	}
	*files = shared;
	return folder;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario_files *files;
	struct scenario *s = malloc(sizeof(*s));
	struct err err = { 0 };
	char path[FUZZ_PATH_MAX + 64];
	const char *folder = scenario_folder(&files);

	if (!s)
		abort();
	if (memchr(data, '/', size)) {
		free(s);
		return 0;
	}
	fuzz_put(folder, "fuzz.yaml", data, size);
	snprintf(path, sizeof(path), "%s/fuzz.yaml", folder);
	if (scenario_read(s, files, path, &err)) {
		if (!err.line[0])
			abort();
	} else if (s->nr_vms > SCENARIO_VMS_MAX || s->nr_storages > SCENARIO_STORAGES_MAX) {
		abort();
	} else if (scenario_solve(s, &err) && !err.line[0]) {
		abort();
	}
	free(s);
	return 0;
}
