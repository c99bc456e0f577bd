/* SPDX-License-Identifier: Apache-2.0 */
/* The golden segments of every version: written once, readable for ever, on any machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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

	if (version > 4)
		golden_file_systems(&want);
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

static void version_8(void)
{
	read_file("tests/golden/segment-v8.bin", 8);
}

/* A device has four values in version 8 and three before. */
static void version_8_in_version_4(void)
{
	size_t len, at;
	uint8_t *data = load("tests/golden/segment-v8.bin", &len);
	struct segment_reader *s = NULL;
	unsigned int nr = 0;
	struct err err;

	for (at = 0; at < len; at += (size_t)segment_length(data + at, len - at)) {
		if (data[at + 8] != 8)
			continue;
		data[at + 8] = 4;
		ok_int(segment_reader_new(&s, data + at,
					  (size_t)segment_length(data + at, len - at), &err),
		       -EBADMSG);
		nr++;
	}
	ok_eq(nr, 1); /* the one with devices */
	free(data);
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

/*
 * A reader refuses a file system of other characters or without a name, and a writer never writes
 * one.
 */
static void file_systems_are_plain_words(void)
{
	static const char *const bad[] = { "ext4\n", "<b>",    "a b",	"fuse.x", "\xc3\xa9",
					   ",",	     ",,ext4", ",ext4", "ext4,",  "vfat,,ext4" };
	/* What stands in the place of the comma of "vfat,ext4" or of a letter of it. */
	static const struct {
		size_t at;
		char by;
	} wrong[] = { { 4, '<' }, { 0, ',' }, { 3, ',' }, { 5, ',' }, { 8, ',' } };
	struct segment_device device = { 7 << 20, 1 << 30, "loop0", "" };
	struct segment_header h = { .devices = &device, .nr_devices = 1 };
	struct segment_writer *w = NULL;
	struct segment_reader *r = NULL;
	struct buf out = { 0 };
	struct err err = { 0 };
	uint64_t sum;
	uint8_t *at;

	ok_int(segment_writer_new(&w), 0);
	for (size_t i = 0; i < TAP_NR(bad); i++) {
		snprintf(device.file_system, sizeof(device.file_system), "%s", bad[i]);
		ok_int(segment_writer_finish(w, &h, &out), -EINVAL);
		buf_clear(&out);
	}
	snprintf(device.file_system, sizeof(device.file_system), "vfat,ext4");
	ok_int(segment_writer_finish(w, &h, &out), 0);
	ok_eq(out.data[8], SEGMENT_VERSION);
	ok_int(segment_reader_new(&r, out.data, out.len, &err), 0);
	ok_str(segment_reader_header(r)->devices[0].file_system, "vfat,ext4");
	segment_reader_free(r);
	r = NULL;
	at = memmem(out.data, out.len, "vfat,ext4", 9);
	for (size_t i = 0; i < TAP_NR(wrong); i++) {
		memcpy(at, "vfat,ext4", 9);
		at[wrong[i].at] = (uint8_t)wrong[i].by;
		sum = XXH3_64bits(out.data + 24, out.len - 24);
		for (int k = 0; k < 8; k++)
			out.data[16 + k] = (uint8_t)(sum >> 8 * k);
		ok_int(segment_reader_new(&r, out.data, out.len, &err), -EBADMSG);
		ok_str(err.line, "segment header: devices: expected names of file systems of "
				 "letters and digits");
		segment_reader_free(r);
		r = NULL;
	}
	buf_release(&out);
	segment_writer_free(w);
}

static const struct tap_test tests[] = {
	{ "segments of version 1 are read as they were written", version_1 },
	{ "segments of version 2 likewise", version_2 },
	{ "segments of version 4 likewise", version_4 },
	{ "segments of version 8 likewise", version_8 },
	{ "file systems are plain words", file_systems_are_plain_words },
	{ "file systems are refused before version 8", version_8_in_version_4 },
	{ "segments of version 2 have no pauses", version_4_in_version_2 },
	{ "segments of version 1 have no unknown operations", version_2_in_version_1 },
	{ "one writer used again and again writes the same content", written_again },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
