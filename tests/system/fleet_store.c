// SPDX-License-Identifier: Apache-2.0
/*
 * fleet_store DIR PROFILE HOSTS WINDOWS END_S [NAME [EACH]]: a store of that many hosts, each with
 * one device that has as many windows of a second, the last of which ends at END_S (seconds since
 * 1970). PROFILE is a file with the JSON of a profile, whose numbers each window has. The device of
 * the first host is named NAME, which may be any text. A segment has EACH windows (1 to 64), or 1.
 * The clock of a segment stands still after 4e9 s, the times of windows do not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile.h"
#include "tests/support/sample.h"

#define MOST_EACH 64

/* Writes one segment, whose nr windows begin at begin_s. */
static void fleet_store_segment(const char *dir, struct profile *p, uint64_t sequence,
				double begin_s, unsigned long nr)
{
	const char *profiles[MOST_EACH];
	struct sample s = {
		.host = p->host,
		.boot_id = "b1",
		.epoch = 5,
		.sequence = sequence,
		.real_offset_ns = (uint64_t)(begin_s < 4e9 ? begin_s : 4e9) * 1000000000ull,
		.end_ns = nr * 1000000000ull,
		.source = SOURCE_DISKSTATS,
		.profiles = profiles,
		.nr_profiles = nr,
	};
	struct buf json[MOST_EACH];

	p->source = SOURCE_DISKSTATS;
	for (unsigned long i = 0; i < nr; i++) {
		buf_init(&json[i]);
		p->begin_s = begin_s + (double)i;
		p->end_s = p->begin_s + 1;
		if (profile_to_json(p, PROFILE_JSON_LINE, &json[i]) < 0 ||
		    buf_put_u8(&json[i], 0) < 0)
			abort();
		profiles[i] = (const char *)json[i].data;
	}
	sample_store(dir, &s, NULL, 0);
	for (unsigned long i = 0; i < nr; i++)
		buf_release(&json[i]);
}

int main(int argc, char **argv)
{
	unsigned long nr_hosts = argc > 5 ? strtoul(argv[3], NULL, 10) : 0;
	unsigned long nr_windows = argc > 5 ? strtoul(argv[4], NULL, 10) : 0;
	unsigned long each = argc > 7 ? strtoul(argv[7], NULL, 10) : 1;
	static char text[1 << 20];
	struct err err = { 0 };
	struct profile p;
	FILE *f;
	size_t len;

	if (argc < 6 || argc > 8 || !each || each > MOST_EACH) {
		fprintf(stderr,
			"usage: fleet_store DIR PROFILE HOSTS WINDOWS END_S [NAME [EACH]]\n");
		return 2;
	}
	f = fopen(argv[2], "r");
	len = f ? fread(text, 1, sizeof(text), f) : 0;
	profile_init(&p);
	if (!f || fclose(f) || profile_from_json(text, len, &p, &err) < 0) {
		fprintf(stderr, "fleet_store: %s: %s\n", argv[2], err.line);
		return 2;
	}
	for (unsigned long h = 0; h < nr_hosts; h++) {
		snprintf(p.host, sizeof(p.host), "guest%05lu", h);
		snprintf(p.device_name, sizeof(p.device_name), "%s",
			 h == 0 && argc > 6 ? argv[6] : "sda");
		p.requests[OPERATION_READ] += h % 7;
		for (unsigned long i = 0; i < nr_windows; i += each)
			fleet_store_segment(argv[1], &p, i / each,
					    strtod(argv[5], NULL) - (double)(nr_windows - i),
					    nr_windows - i < each ? nr_windows - i : each);
	}
	profile_release(&p);
	return 0;
}
