/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_replay: runs a fuzz target over every committed input of its corpus. A test that uses it is
 * started at the top of the tree.
 */
#ifndef TESTS_SUPPORT_FUZZ_REPLAY_H
#define TESTS_SUPPORT_FUZZ_REPLAY_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/tap.h"

#define MAX_FUZZ_INPUT (1u << 20)

static void fuzz_replay(const char *dir, int (*fuzz)(const uint8_t *data, size_t size))
{
	uint8_t *data = malloc(MAX_FUZZ_INPUT);
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[512];

	if (!d)
		tap_skip("tree", "the corpus is not here: run from the top of the tree");
	while ((e = readdir(d))) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
		if (f) {
			size_t nr = fread(data, 1, MAX_FUZZ_INPUT, f);

			if (nr)
				ok_int(fuzz(data, nr), 0);
			fclose(f);
		}
	}
	closedir(d);
	free(data);
}

#endif
