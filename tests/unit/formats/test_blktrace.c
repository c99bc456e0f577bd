/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/foreign/blktrace.h"
#include "formats/pairing.h"
#include "tests/support/blktrace_make.h"
#include "tests/support/tap.h"

#define NR_READS 963

/* A record of every field, in each version and byte order. */
static void fields(uint32_t version, bool be)
{
	struct made_record made = { .version = version,
				    .is_big_endian = be,
				    .sequence = 0x01020304,
				    .bytes = 0x00011000,
				    .tid = 4711,
				    .device = device_make(259, 3),
				    .cpu = 17,
				    .time_ns = 0x1122334455667788,
				    .sector = 0x0000004455667788,
				    .error = (uint16_t)-EIO };
	struct blktrace_reader reader = { 0 };
	struct blktrace_record got;
	uint8_t bytes[64];
	bool found;
	size_t nr;

	/* complete, write, sync, meta, fua, filesystem */
	made.action = 8 | (1ull << 1 | 1 << 3 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 15) << 16;
	nr = blktrace_make(&made, bytes);
	ok_eq(nr, version == 8 ? 64 : 48);
	ok(blktrace_is(bytes, nr));
	ok_eq(blktrace_next(&reader, bytes, nr, &got, &found), nr);
	ok(found);
	ok_eq(got.type, BLKTRACE_EVENT);
	ok_eq(got.version, version);
	ok_eq(got.sequence, made.sequence);
	ok_eq(got.event.kind, BLOCK_COMPLETE);
	ok_eq(got.event.time_ns, made.time_ns);
	ok_eq(got.event.sector, made.sector);
	ok_eq(got.event.bytes, made.bytes);
	ok_eq(got.event.tid, 4711);
	ok_eq(got.event.device, made.device);
	ok_eq(got.event.cpu, 17);
	ok_eq(got.event.error, EIO);
	ok_eq(got.event.operation, OPERATION_WRITE);
	ok_eq(got.event.flags, REQUEST_SYNC | REQUEST_META | REQUEST_FUA);
	for (size_t cut = 0; cut < nr; cut++)
		ok_eq(blktrace_next(&reader, bytes, cut, &got, &found), 0);
}

static void all_fields(void)
{
	fields(7, false);
	fields(7, true);
	fields(8, false);
	fields(8, true);
}

static void operations(void)
{
	static const struct {
		uint32_t version, bytes;
		uint64_t action; /* without the 16 bits below */
		uint8_t operation;
		uint32_t flags;
	} cases[] = {
		{ 7, 4096, 1 << 0, OPERATION_READ, 0 },
		{ 7, 4096, 1 << 0 | 1 << 11, OPERATION_READ, REQUEST_READAHEAD },
		{ 7, 4096, 1 << 1, OPERATION_WRITE, 0 },
		{ 7, 4096, 1 << 1 | 1 << 2, OPERATION_WRITE, REQUEST_PREFLUSH },
		{ 7, 0, 1 << 1 | 1 << 2 | 1 << 3, OPERATION_WRITE,
		  REQUEST_PREFLUSH | REQUEST_SYNC },
		{ 7, 0, 1 << 0 | 1 << 2, OPERATION_FLUSH, 0 },
		{ 7, 8192, 1 << 1 | 1 << 13, OPERATION_DISCARD, 0 },
		{ 7, 36, 1 << 0 | 1 << 9, OPERATION_OTHER, REQUEST_PASSTHROUGH },
		{ 8, 8192, 1 << 1 | 1 << 22, OPERATION_OTHER, 0 },
		{ 8, 8192, 1 << 1 | 1 << 16, OPERATION_WRITE, REQUEST_ZONE_APPEND },
		{ 8, 0, 1 << 1 | 1 << 17, OPERATION_OTHER, 0 },
	};

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		struct made_record made = { .version = cases[i].version,
					    .bytes = cases[i].bytes,
					    .action = 7 | cases[i].action << 16 };
		struct blktrace_reader reader = { 0 };
		struct blktrace_record got;
		uint8_t bytes[64];
		bool found;

		blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &got, &found);
		ok(found);
		ok_eq(got.event.kind, BLOCK_ISSUE);
		ok_eq(got.event.operation, cases[i].operation);
		ok_eq(got.event.flags, cases[i].flags);
	}
}

/* Notes, data, and the id of a cgroup before it. */
static void notes_of(bool be)
{
	struct made_record made = { .version = 7, .is_big_endian = be, .tid = 99 };
	uint8_t bytes[256], stamp[8], remap[24];
	struct blktrace_reader reader = { 0 };
	struct blktrace_record got;
	bool found;

	made.action = 0 | 1ull << 26;
	made.data = "kworker/1:0 [x]";
	made.data_bytes = 16;
	ok_eq(blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &got, &found), 64);
	ok_eq(got.type, BLKTRACE_PROCESS);
	ok_eq(got.event.tid, 99);
	ok_str(got.comm, "kworker/1:0 [x]");

	blktrace_make_number(stamp, 4, 1700000000, be);
	blktrace_make_number(stamp + 4, 4, 123456789, be);
	made.action = 1 | 1ull << 26;
	made.data = stamp;
	made.data_bytes = 8;
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &got, &found);
	ok_eq(got.type, BLKTRACE_TIMESTAMP);
	ok_eq(got.real_ns, 1700000000123456789ull);

	made.action = 15 | 1 << 8 | 1ull << 20;
	blktrace_make_number(remap, 8, 4242, be);
	blktrace_make_number(remap + 8, 4, device_make(253, 1), true);
	blktrace_make_number(remap + 12, 4, device_make(8, 0), true);
	blktrace_make_number(remap + 16, 8, 2048, true);
	made.data = remap;
	made.data_bytes = sizeof(remap);
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &got, &found);
	ok_eq(got.event.kind, BLOCK_REMAP);
	ok_eq(got.cgroup_id, 4242);
	ok_eq(got.from_device, device_make(253, 1));
	ok_eq(got.to_device, device_make(8, 0));
	ok_eq(got.from_sector, 2048);

	made.action = 2 | 1ull << 26;
	made.data = "a message";
	made.data_bytes = 9;
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &got, &found);
	ok_eq(got.type, BLKTRACE_MESSAGE);
	ok_eq(got.data_bytes, 9);
	ok(!memcmp(got.data, "a message", 9));
	made.action = 7 | 1ull << 26;
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &got, &found);
	ok_eq(got.type, BLKTRACE_UNKNOWN);
	made.action = 77;
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &got, &found);
	ok_eq(got.type, BLKTRACE_UNKNOWN);
	ok_eq(reader.unknown, 2);
	ok_eq(reader.records, 6);
}

static void notes(void)
{
	notes_of(false);
	notes_of(true);
}

static void zfcp_of(bool be)
{
	struct made_record made = { .version = 7, .is_big_endian = be, .action = 17 | 1ull << 30 };
	struct blktrace_reader reader = { 0 };
	struct blktrace_record record;
	struct blktrace_zfcp got;
	uint8_t bytes[256], data[24];
	bool found;

	blktrace_make_number(data, 4, 1, be);
	blktrace_make_number(data + 4, 2, 1, be);
	data[6] = 3;
	data[7] = 120;
	blktrace_make_number(data + 8, 8, 12345, be);
	blktrace_make_number(data + 16, 8, 678901234567, be);
	made.data = data;
	made.data_bytes = sizeof(data);
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &record, &found);
	ok_eq(record.event.kind, BLOCK_DRIVER_DATA);
	ok_int(blktrace_zfcp(&reader, &record, &got), 0);
	ok(got.has_latency && !got.is_error);
	ok_eq(got.inb_usage, 3);
	ok_eq(got.outb_usage, 120);
	ok_eq(got.channel_ns, 12345);
	ok_eq(got.fabric_ns, 678901234567);

	blktrace_make_number(data + 4, 2, 2, be);
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &record, &found);
	ok_int(blktrace_zfcp(&reader, &record, &got), 0);
	ok(!got.has_latency && got.is_error);
	ok_eq(got.channel_ns, 0);
	blktrace_make_number(data, 4, 2, be);
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &record, &found);
	ok_int(blktrace_zfcp(&reader, &record, &got), -EBADMSG);
	made.data_bytes = 23;
	blktrace_next(&reader, bytes, blktrace_make(&made, bytes), &record, &found);
	ok_int(blktrace_zfcp(&reader, &record, &got), -EBADMSG);
}

static void zfcp(void)
{
	zfcp_of(false);
	zfcp_of(true);
}

static void rubbish_is_passed_over(void)
{
	struct made_record made = { .version = 7, .action = 1 | 1ull << 16 };
	struct blktrace_reader reader = { 0 };
	struct blktrace_record got;
	uint8_t bytes[512];
	size_t len = 0, at = 0, nr, records = 0;
	bool found;

	len += blktrace_make(&made, bytes + len);
	memset(bytes + len, 0xee, 21);
	len += 21;
	len += blktrace_make(&made, bytes + len);
	made.is_big_endian = true; /* another byte order in one stream is no record */
	len += blktrace_make(&made, bytes + len);
	made.is_big_endian = false;
	made.version = 8;
	len += blktrace_make(&made, bytes + len);
	while ((nr = blktrace_next(&reader, bytes + at, len - at, &got, &found))) {
		at += nr;
		records += found;
	}
	ok_eq(at, len);
	ok_eq(records, 3);
	ok_eq(reader.skipped, 2);
	ok_eq(reader.skipped_bytes, 21 + 48);
	memset(bytes, 0, sizeof(bytes));
	ok_eq(blktrace_next(&reader, bytes, sizeof(bytes), &got, &found), sizeof(bytes) - 3);
	ok(!found);
	ok(!blktrace_is(bytes, sizeof(bytes)));
}

static void sequence_gaps(void)
{
	uint32_t last = 0;

	ok_eq(blktrace_missing(&last, 1), 0);
	ok_eq(blktrace_missing(&last, 2), 0);
	ok_eq(blktrace_missing(&last, 10), 7);
	ok_eq(blktrace_missing(&last, 10), 0);
	ok_eq(blktrace_missing(&last, 3), 0);
	ok_eq(blktrace_missing(&last, 4), 0);
	last = UINT32_MAX;
	ok_eq(blktrace_missing(&last, 1), 1); /* the kernel's counter went round through 0 */
}

/* ---- a real trace ---- */

struct real {
	struct request r[NR_READS + 1];
	size_t nr;
};

static void keep(void *ctx, const struct request *r, unsigned int begun_by)
{
	struct real *real = ctx;

	ok_eq(begun_by, BLOCK_GETRQ);
	if (real->nr <= NR_READS)
		real->r[real->nr++] = *r;
}

static uint8_t *load(size_t *len)
{
	const char *dir = tap_data_dir();
	char path[512];
	uint8_t *data = malloc(1 << 20);
	FILE *f;

	snprintf(path, sizeof(path), "%s/nvme-reads.blktrace.0", dir ? dir : "");
	f = dir ? fopen(path, "rb") : NULL;
	if (!f || !data)
		tap_skip("data", "no data: nvme-reads.blktrace.0");
	*len = fread(data, 1, 1 << 20, f);
	fclose(f);
	return data;
}

static void pair_real(struct real *real, struct pairing_counts *counts)
{
	const struct pairing_config config = { .source = SOURCE_IMPORT };
	struct pairing_sink sink = { keep, real };
	struct blktrace_reader reader = { 0 };
	struct blktrace_record record;
	struct pairing *pairing = NULL;
	size_t len, at = 0, nr;
	uint8_t *data = load(&len);
	uint32_t last = 0, missing = 0;
	bool found;

	ok_int(pairing_new(&pairing, &config, &sink), 0);
	while ((nr = blktrace_next(&reader, data + at, len - at, &record, &found))) {
		at += nr;
		if (!found || record.type != BLKTRACE_EVENT)
			continue;
		missing += blktrace_missing(&last, record.sequence);
		ok_eq(record.event.cpu, 1);
		pairing_add(pairing, &record.event);
	}
	ok_eq(at, len);
	ok_eq(missing, 0);
	ok_eq(reader.skipped, 0);
	pairing_counts(pairing, counts);
	pairing_free(pairing);
	free(data);
}

static void real_reads(void)
{
	struct real *real = calloc(1, sizeof(*real));
	struct pairing_counts counts;

	pair_real(real, &counts);
	ok_eq(real->nr, NR_READS);
	ok_eq(counts.requests, NR_READS);
	ok_eq(counts.events[BLOCK_ISSUE], NR_READS);
	ok_eq(counts.events[BLOCK_COMPLETE], NR_READS);
	ok_eq(counts.events[BLOCK_GETRQ], NR_READS);
	ok_eq(counts.events[BLOCK_QUEUE], NR_READS);
	ok_eq(counts.events[BLOCK_REMAP], NR_READS);
	ok_eq(counts.events[BLOCK_OTHER], 2 * NR_READS); /* plug and unplug */
	ok_eq(counts.held, 0);
	for (size_t i = 0; i < real->nr; i++) {
		ok(!request_check(&real->r[i]));
		ok_eq(real->r[i].operation, OPERATION_READ);
		ok_eq(real->r[i].flags, REQUEST_READAHEAD | REQUEST_NO_CGROUP);
		ok_eq(real->r[i].tid, 21279);
		ok_eq(real->r[i].source, SOURCE_IMPORT);
	}
	free(real);
}

/* One read after another: blkparse's lines D and C of a sector are those of one request. */
static void like_blkparse(void)
{
	static const char script[] =
		"d=$(mktemp -d) && cp %s/nvme-reads.blktrace.0 $d/n.blktrace.1 && : >$d/n.blktrace.0 && "
		"blkparse -q -i $d/n -f '%%a %%S %%N %%T %%t\\n' 2>/dev/null; rm -rf $d";
	struct real *real = calloc(1, sizeof(*real));
	unsigned long long sector, bytes, s, ns, issue_ns[2] = { 0 };
	struct pairing_counts counts;
	char command[1024], line[256], action;
	size_t nr = 0;
	FILE *f;

	if (!tap_data_dir())
		tap_skip("data", "no data: nvme-reads.blktrace.0");
	if (system("command -v blkparse >/dev/null 2>&1"))
		tap_skip("blkparse", "blkparse is not installed");
	pair_real(real, &counts);
	snprintf(command, sizeof(command), script, tap_data_dir());
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%c %llu %llu %llu %llu", &action, &sector, &bytes, &s, &ns) != 5)
			continue;
		if (action == 'D') {
			issue_ns[0] = sector;
			issue_ns[1] = s * 1000000000 + ns;
		} else if (action == 'C' && nr < real->nr) {
			ok_eq(issue_ns[0], sector);
			ok_eq(real->r[nr].sector, sector);
			ok_eq(real->r[nr].bytes, bytes);
			ok_eq(real->r[nr].completion_ns - real->r[nr].dispatch_ns,
			      s * 1000000000 + ns - issue_ns[1]);
			nr++;
		}
	}
	if (f)
		pclose(f);
	ok_eq(nr, NR_READS);
	free(real);
}

static const struct tap_test tests[] = {
	{ "both versions in both byte orders give every field", all_fields },
	{ "categories become operations and flags", operations },
	{ "notes, messages, remaps and cgroup ids are read", notes },
	{ "zfcp's channel and fabric latency is read, another driver's data is not", zfcp },
	{ "what is no record is passed over and counted", rubbish_is_passed_over },
	{ "a step in the sequence tells how many events are missing", sequence_gaps },
	{ "a real trace gives 963 reads of seven events", real_reads },
	{ "dispatch to completion is what blkparse prints", like_blkparse },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
