/* SPDX-License-Identifier: Apache-2.0 */
/* The golden segments of every version: written once, readable for ever, on any machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/segment/segment.h"
#include "tests/support/golden.h"
#include "tests/support/tap.h"

#define MAX_FILE (1u << 20)

/* The whole file, to be freed; skips where it is not there. */
static uint8_t *load(const char *path, size_t *len)
{
	uint8_t *data = malloc(MAX_FILE);
	FILE *f = fopen(path, "rb");

	if (!f)
		tap_skip("tree", "the golden files are not here: run from the top of the tree");
	*len = fread(data, 1, MAX_FILE, f);
	fclose(f);
	return data;
}

static void same_header(const struct segment_header *got, unsigned int version,
			unsigned int segment)
{
	struct segment_header want = golden_header(segment);
	struct ledger ledger = { 0 };

	golden_losses(segment, &ledger);
	if (version > 2)
		golden_pauses(segment, &ledger);
	ok_str(got->host, want.host);
	ok_str(got->boot_id, want.boot_id);
	ok_str(got->agent_version, want.agent_version);
	ok(got->epoch == want.epoch && got->sequence == want.sequence);
	ok(got->source == want.source && got->layer == want.layer);
	ok(!memcmp(&got->begin, &want.begin, sizeof(want.begin)));
	ok(!memcmp(&got->end, &want.end, sizeof(want.end)));
	ok_eq(got->nr_captured, want.nr_captured);
	if (ok_eq(got->nr_devices, want.nr_devices) && want.nr_devices)
		ok(!memcmp(got->devices, want.devices, want.nr_devices * sizeof(*want.devices)));
	if (ok_eq(got->nr_processes, want.nr_processes))
		for (size_t i = 0; i < want.nr_processes; i++)
			ok_str(got->processes[i].comm, want.processes[i].comm);
	if (ok_eq(got->nr_cgroups, want.nr_cgroups))
		for (size_t i = 0; i < want.nr_cgroups; i++)
			ok_str(got->cgroups[i].path, want.cgroups[i].path);
	if (ok_eq(got->nr_profiles, want.nr_profiles))
		for (size_t i = 0; i < want.nr_profiles; i++)
			ok_str(got->profiles[i], want.profiles[i]);
	ok_eq(got->ledger->nr, ledger.nr);
	for (unsigned int i = 0; i < NR_LOSS_CAUSES; i++)
		ok_eq(got->ledger->total[i], ledger.total[i]);
	for (size_t i = 0; i < ledger.nr && i < got->ledger->nr; i++)
		ok(got->ledger->losses[i].cause == ledger.losses[i].cause &&
		   got->ledger->losses[i].begin_real_ns == ledger.losses[i].begin_real_ns &&
		   got->ledger->losses[i].end_real_ns == ledger.losses[i].end_real_ns);
	ledger_release(&ledger);
}

static void same_requests(struct segment_reader *s, unsigned int version, unsigned int segment)
{
	static struct request got[GOLDEN_MAX], want[GOLDEN_MAX];
	size_t nr = golden_requests(segment, want);

	if (version > 1)
		golden_forget_operations(want, nr);
	if (version > 2)
		golden_pause_requests(want, nr);
	ok_eq(segment_reader_count(s), nr);
	ok_int(segment_reader_next(s, got, GOLDEN_MAX), (int64_t)nr);
	ok(!memcmp(got, want, nr * sizeof(*want)));
	ok_int(segment_reader_next(s, got, GOLDEN_MAX), 0);
}

static void read_file(const char *path, unsigned int version)
{
	size_t len, at = 0;
	uint8_t *data = load(path, &len);
	struct err err = { 0 };

	for (unsigned int i = 0; i < NR_GOLDEN_SEGMENTS; i++) {
		int64_t length = segment_length(data + at, len - at);
		struct segment_reader *s = NULL;

		if (!ok(length > 0 && at + (size_t)length <= len))
			break;
		if (!ok_int(segment_reader_new(&s, data + at, (size_t)length, &err), 0)) {
			tap_note("%s", err.line);
			break;
		}
		same_header(segment_reader_header(s), version, i);
		same_requests(s, version, i);
		segment_reader_free(s);
		at += (size_t)length;
	}
	ok_eq(at, len);
	free(data);
}

static void version_1(void)
{
	read_file("tests/golden/segment-v1.bin", 1);
}

static void version_2(void)
{
	read_file("tests/golden/segment-v2.bin", 2);
}

static void version_4(void)
{
	read_file("tests/golden/segment-v4.bin", 4);
}

/* Whatever says that it is of version 2 has nothing that came with version 4. */
static void version_4_in_version_2(void)
{
	size_t len, at;
	uint8_t *data = load("tests/golden/segment-v4.bin", &len);
	struct segment_reader *s = NULL;
	unsigned int nr[2] = { 0 };
	struct err err;

	for (at = 0; at < len; at += (size_t)segment_length(data + at, len - at)) {
		int ret;

		if (data[at + 8] != 4)
			continue;
		data[at + 8] = 2;
		ret = segment_reader_new(&s, data + at, (size_t)segment_length(data + at, len - at),
					 &err);
		ok(ret == -EBADMSG || ret == -EPROTONOSUPPORT);
		nr[ret == -EPROTONOSUPPORT]++;
	}
	ok(nr[0] > 0);
	ok_eq(nr[1], 1); /* the one with the ledger */
	free(data);
}

/* Whatever says that it is of version 1 has nothing that came with version 2. */
static void version_2_in_version_1(void)
{
	size_t len, at;
	uint8_t *data = load("tests/golden/segment-v2.bin", &len);
	struct segment_reader *s = NULL;
	unsigned int nr = 0;
	struct err err;

	for (at = 0; at < len; at += (size_t)segment_length(data + at, len - at)) {
		if (data[at + 8] != 2)
			continue;
		data[at + 8] = 1;
		ok_int(segment_reader_new(&s, data + at,
					  (size_t)segment_length(data + at, len - at), &err),
		       -EBADMSG);
		nr++;
	}
	ok(nr > 0);
	free(data);
}

/* What is written today reads as the golden file does: same content, whatever zstd's release. */
static void written_again(void)
{
	static struct request r[GOLDEN_MAX];
	struct segment_writer *w = NULL;

	ok_int(segment_writer_new(&w), 0);
	for (unsigned int i = 0; i < NR_GOLDEN_SEGMENTS; i++) {
		struct segment_header h = golden_header(i);
		size_t nr = golden_requests(i, r);
		struct segment_reader *s = NULL;
		struct ledger ledger = { 0 };
		struct buf out = { 0 };

		golden_losses(i, &ledger);
		h.ledger = &ledger;
		for (size_t k = 0; k < nr; k++)
			segment_writer_add(w, &r[k]);
		ok_int(segment_writer_finish(w, &h, &out), 0);
		ok_int(segment_reader_new(&s, out.data, out.len, NULL), 0);
		same_header(segment_reader_header(s), 1, i);
		same_requests(s, 1, i);
		ok_eq(out.data[8], 1);
		segment_reader_free(s);
		buf_release(&out);
		ledger_release(&ledger);
	}
	segment_writer_free(w);
}

static const struct tap_test tests[] = {
	{ "segments of version 1 are read as they were written", version_1 },
	{ "segments of version 2 likewise", version_2 },
	{ "segments of version 4 likewise", version_4 },
	{ "segments of version 2 have no pauses", version_4_in_version_2 },
	{ "segments of version 1 have no unknown operations", version_2_in_version_1 },
	{ "one writer used again and again writes the same content", written_again },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
