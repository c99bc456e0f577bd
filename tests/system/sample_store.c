// SPDX-License-Identifier: Apache-2.0
/*
 * sample_store DIR: a small store for command tests, the same everywhere: hosts web1 and db1, four
 * seconds of 750 requests a second on sda and sdb each; db1 lacks its third segment.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/sample.h"

#define NR_SEGMENTS 4
#define NR	    1500

int main(int argc, char **argv)
{
	static const char *const hosts[] = { "web1", "db1" };
	struct request *r = calloc(NR, sizeof(*r));

	if (argc != 2 || !r) {
		fprintf(stderr, "usage: sample_store DIR\n");
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
			};

			if (h == 1 && i == 2)
				continue;
			sample_requests(i + 1 + h * 10, s.begin_ns, s.end_ns, r, NR);
			sample_store(argv[1], &s, r, NR);
		}
	}
	free(r);
	return 0;
}
