/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_golden make [VERSION] writes the content of tests/support/golden.h as segments, of
 * version 1 segment_golden dump FILE prints every request of FILE, a JSON array a line, and before
 * those of
 *                               a segment its sequence, captured, losses, devices and profiles
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/segment/segment.h"
#include "tests/support/golden.h"

static int make(int version)
{
	static struct request r[GOLDEN_MAX];
	struct segment_writer *w = NULL;
	struct buf out = { 0 };
	int ret = segment_writer_new(&w);

	for (unsigned int i = 0; i < NR_GOLDEN_SEGMENTS && !ret; i++) {
		struct segment_header h = golden_header(i);
		size_t nr = golden_requests(i, r);
		struct ledger ledger = { 0 };

		if (version > 1)
			golden_forget_operations(r, nr);
		if (version > 2)
			golden_pause_requests(r, nr);
		if (version > 4)
			golden_file_systems(&h);
		golden_losses(i, &ledger);
		if (version > 2)
			golden_pauses(i, &ledger);
		h.ledger = &ledger;
		for (size_t k = 0; k < nr && !ret; k++)
			ret = segment_writer_add(w, &r[k]);
		if (!ret)
			ret = segment_writer_finish(w, &h, &out);
		ledger_release(&ledger);
	}
	if (!ret && fwrite(out.data, 1, out.len, stdout) != out.len)
		ret = -1;
	segment_writer_free(w);
	buf_release(&out);
	return ret;
}

static void print_header(const struct segment_header *h)
{
	bool has_file_systems = false;

	for (size_t i = 0; i < h->nr_devices; i++)
		has_file_systems |= h->devices[i].file_system[0] != 0;
	printf("{\"sequence\": %llu, \"captured\": %llu, \"losses\": [",
	       (unsigned long long)h->sequence, (unsigned long long)h->nr_captured);
	for (size_t i = 0; i < h->ledger->nr; i++) {
		const struct loss *loss = &h->ledger->losses[i];

		printf("%s[\"%s\", %llu, %u]", i ? ", " : "", loss_cause_name(loss->cause),
		       (unsigned long long)loss->count, loss->device);
	}
	printf("], \"devices\": [");
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct segment_device *d = &h->devices[i];

		printf("%s[%u, %llu, \"%s\"", i ? ", " : "", d->device,
		       (unsigned long long)d->size_bytes, d->name);
		if (has_file_systems)
			printf(", \"%s\"", d->file_system);
		printf("]");
	}
	printf("], \"profiles\": [");
	for (size_t i = 0; i < h->nr_profiles; i++)
		printf("%s%s", i ? ", " : "", h->profiles[i]);
	printf("]}\n");
}

static void print_request(const struct request *r)
{
	printf("[%llu, %llu, %llu, %llu, %u, %u, %u, %u, %llu, %u, %u, %u, %u, %u, %u, %u]\n",
	       (unsigned long long)r->arrival_ns, (unsigned long long)r->dispatch_ns,
	       (unsigned long long)r->completion_ns, (unsigned long long)r->sector, r->bytes,
	       r->device, r->tid, r->pid, (unsigned long long)r->cgroup_id, r->flags,
	       r->queue_depth, r->error, r->requeues, r->operation, r->source, r->layer);
}

static int dump_one(const uint8_t *data, size_t len)
{
	struct segment_reader *s;
	struct request r[100];
	struct err err;
	int64_t nr;

	if (segment_reader_new(&s, data, len, &err)) {
		fprintf(stderr, "segment_golden: %s\n", err.line);
		return 1;
	}
	print_header(segment_reader_header(s));
	while ((nr = segment_reader_next(s, r, 100)) > 0)
		for (int64_t i = 0; i < nr; i++)
			print_request(&r[i]);
	segment_reader_free(s);
	return nr < 0;
}

static int dump(const char *path)
{
	static uint8_t data[SEGMENT_MAX_BYTES];
	FILE *f = fopen(path, "rb");
	size_t len = f ? fread(data, 1, sizeof(data), f) : 0;
	int ret = f ? 0 : 1;

	for (size_t at = 0; at < len && !ret;) {
		int64_t length = segment_length(data + at, len - at);

		if (length < 0 || (size_t)length > len - at)
			ret = 1;
		else
			ret = dump_one(data + at, (size_t)length);
		at += ret ? 0 : (size_t)length;
	}
	if (f)
		fclose(f);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "make"))
		return make(1) ? 1 : 0;
	if (argc == 3 && !strcmp(argv[1], "make") && strlen(argv[2]) == 1 && argv[2][0] >= '1' &&
	    argv[2][0] <= '0' + SEGMENT_VERSION)
		return make(argv[2][0] - '0') ? 1 : 0;
	if (argc == 3 && !strcmp(argv[1], "dump"))
		return dump(argv[2]);
	fprintf(stderr, "usage: segment_golden make [VERSION] | dump FILE\n");
	return 2;
}
