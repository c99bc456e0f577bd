// SPDX-License-Identifier: Apache-2.0
/*
 * sample_store DIR [hostile [PROFILE]]: a small store for command tests, the same everywhere: hosts
 * web1 and db1, four seconds of 750 requests a second on sda and sdb each; db1 lacks its third
 * segment. hostile: the devices, processes and cgroups are named to deceive a terminal or a page.
 * PROFILE is a file with the JSON of a profile of web1, and the store has a segment with this
 * profile alone, of a source that only counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sample.h"

#define NR_SEGMENTS 4
#define NR	    1500

static int sample_store_counted(const char *dir, const char *path)
{
	char profile[65536];
	FILE *f = fopen(path, "r");
	size_t len = f ? fread(profile, 1, sizeof(profile) - 1, f) : 0;
	struct sample s = {
		.host = "web1",
		.boot_id = "counted",
		.epoch = 5,
		.real_offset_ns = SAMPLE_REAL_NS,
		.end_ns = 4000000000,
		.is_hostile = true,
		.source = SOURCE_DISKSTATS,
		.profile = profile,
	};

	if (!f || fclose(f) || !len)
		return 2;
	profile[len] = '\0';
	sample_store(dir, &s, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const hosts[] = { "web1", "db1" };
	struct request *r = calloc(NR, sizeof(*r));
	bool is_hostile = argc > 2 && !strcmp(argv[2], "hostile");
	int ret = 0;

	if (argc < 2 || argc > 4 || (argc > 2 && !is_hostile) || !r) {
		fprintf(stderr, "usage: sample_store DIR [hostile [PROFILE]]\n");
		return 2;
	}
	for (unsigned int h = 0; h < 2; h++) {
		for (uint64_t i = 0; i < NR_SEGMENTS; i++) {
			struct sample s = {
				.host = hosts[h],
				.boot_id = "b1",
				.epoch = 5,
				.sequence = i,
				.real_offset_ns = SAMPLE_REAL_NS,
				.begin_ns = i * 1000000000,
				.end_ns = (i + 1) * 1000000000,
				.is_hostile = is_hostile,
			};

			if (h == 1 && i == 2)
				continue;
			sample_requests(i + 1 + h * 10, s.begin_ns, s.end_ns, r, NR);
			sample_store(argv[1], &s, r, NR);
		}
	}
	if (argc == 4)
		ret = sample_store_counted(argv[1], argv[3]);
	free(r);
	return ret;
}
