// SPDX-License-Identifier: Apache-2.0
/*
 * make_hostile KIND HOST OUT [SEQUENCE]: writes a valid segment of host HOST that costs its readers as much
 * as the format lets it, and prints its hash as the header Blkcast-Hash has it. KIND: devices (512 devices), sizes (65 536 reads of 2 GiB), times (a request each day from 1970
 * to 2100), places (all over the largest disk), plain (one of an honest agent, to compare with).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/segment_facts.h"
#include "formats/segment/segment.h"

#define NR_DAYS 47000u
#define DAY_NS	86400000000000ull
#define REAL_NS 1767225600000000000ull

static struct request request_of(const char *kind, uint64_t i)
{
	struct request r = { .device = 8u << 20,
			     .bytes = 4096,
			     .sector = i * 8,
			     .tid = 1,
			     .pid = 1,
			     .source = SOURCE_BPF,
			     .arrival_ns = i * 1000 };

	if (!strcmp(kind, "devices"))
		r.device = (uint32_t)(i % SEGMENT_MAX_DEVICES) << 20;
	else if (!strcmp(kind, "sizes"))
		r.bytes = REQUEST_MAX_DATA_BYTES;
	else if (!strcmp(kind, "times"))
		r.arrival_ns = i * DAY_NS;
	else if (!strcmp(kind, "places"))
		r.sector = (i * 0x9e3779b97f4a7c15ull) % (REQUEST_END_SECTOR_MAX - 8);
	r.dispatch_ns = r.arrival_ns;
	r.completion_ns = r.arrival_ns + 500;
	return r;
}

static int write_segment(const char *kind, const char *host, uint64_t sequence, FILE *out)
{
	uint64_t nr = strcmp(kind, "times") ? SEGMENT_MAX_REQUESTS : NR_DAYS;
	uint64_t begin = strcmp(kind, "times") ? REAL_NS : 0;
	struct segment_header h = {
		.boot_id = "b", .epoch = 1, .sequence = sequence, .source = SOURCE_BPF
	};
	char hash[SEGMENT_HASH_TEXT];
	struct segment_hash of_data;
	struct segment_writer *w = NULL;
	struct buf data = { 0 };
	int ret = segment_writer_new(&w);

	snprintf(h.host, sizeof(h.host), "%s", host);
	h.nr_captured = nr;
	h.begin.realtime_ns = begin;
	for (uint64_t i = 0; i < nr && !ret; i++) {
		struct request r = request_of(kind, i);

		h.end.monotonic_ns = r.completion_ns;
		ret = segment_writer_add(w, &r);
	}
	h.end.boottime_ns = h.end.monotonic_ns;
	h.end.realtime_ns = begin + h.end.monotonic_ns;
	if (!ret)
		ret = segment_writer_finish(w, &h, &data);
	if (!ret && fwrite(data.data, 1, data.len, out) != data.len)
		ret = -1;
	of_data = segment_hash_of(data.data, data.len);
	segment_hash_text(&of_data, hash);
	puts(hash);
	segment_writer_free(w);
	buf_release(&data);
	return ret;
}

int main(int argc, char **argv)
{
	FILE *out = argc == 4 || argc == 5 ? fopen(argv[3], "w") : NULL;
	int ret;

	if (!out) {
		fprintf(stderr, "usage: make_hostile KIND HOST OUT [SEQUENCE]\n");
		return 2;
	}
	ret = write_segment(argv[1], argv[2], argc == 5 ? strtoull(argv[4], NULL, 10) : 0, out);
	return fclose(out) == 0 && ret == 0 ? 0 : 1;
}
