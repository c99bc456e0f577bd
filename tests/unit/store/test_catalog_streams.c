/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/store/index/catalog_state.h"
#include "tests/support/tap.h"

#define NR_STREAMS  30
#define NR_SEGMENTS 300 /* of each */

static void put(struct catalog *c, const char *host, const char *boot_id, uint64_t epoch,
		uint64_t sequence)
{
	struct segment_facts f;

	segment_facts_init(&f);
	snprintf(f.name.host, sizeof(f.name.host), "%s", host);
	snprintf(f.name.boot_id, sizeof(f.name.boot_id), "%s", boot_id);
	f.name.epoch = epoch;
	f.name.sequence = sequence;
	if (catalog_put(c, &f, NULL) < 0)
		tap_note("the catalog does not take %s/%s", host, boot_id);
}

/* Streams "web" b0..b29, epochs 0 and 7, between those of two other hosts. */
static struct catalog *fill(void)
{
	struct catalog *c;
	char boot_id[8];

	if (!ok_int(catalog_open(&c, NULL, NULL), 0))
		tap_skip(NULL, "no catalog");
	catalog_begin(c, NULL);
	for (int i = 0; i < NR_STREAMS; i++)
		for (uint64_t sequence = 0; sequence < NR_SEGMENTS; sequence++) {
			snprintf(boot_id, sizeof(boot_id), "b%02d", i / 2);
			put(c, "web", boot_id, i % 2 ? 7 : 0, sequence + (uint64_t)i);
		}
	put(c, "aaa", "b00", 0, 9);
	put(c, "zzz", "b00", 0, 9);
	catalog_commit(c, NULL);
	return c;
}

static void streams_come_in_order(void)
{
	struct segment_name n = { .host = "web" };
	struct catalog *c = fill();
	char want[8];
	int nr = 0;

	while (catalog_next_stream(c, &n, NULL) == 1 && nr < 2 * NR_STREAMS) {
		snprintf(want, sizeof(want), "b%02d", nr / 2);
		ok_str(n.boot_id, want);
		ok_eq(n.epoch, nr % 2 ? 7 : 0);
		ok_eq(n.sequence, (uint64_t)(NR_SEGMENTS - 1 + nr));
		n.epoch++;
		nr++;
	}
	ok_int(nr, NR_STREAMS);
	n = (struct segment_name){ .host = "web", .boot_id = "b03", .epoch = 7 };
	ok_int(catalog_stream(c, &n, NULL), 1);
	ok_eq(n.sequence, NR_SEGMENTS - 1 + 7);
	n.epoch = 6;
	ok_int(catalog_stream(c, &n, NULL), 0);
	n = (struct segment_name){ .host = "none" };
	ok_int(catalog_next_stream(c, &n, NULL), 0);
	catalog_close(c);
}

/* A guest says its epoch. The last one must neither begin the walk anew nor hide what follows. */
static void the_last_epoch_is_passed(void)
{
	struct segment_name n = { .host = "web" };
	struct catalog *c = NULL;
	char boots[16] = "";
	int nr = 0;

	ok_int(catalog_open(&c, NULL, NULL), 0);
	catalog_begin(c, NULL);
	put(c, "web", "a", 3, 1);
	put(c, "web", "a", SEGMENT_EPOCH_MAX, 1);
	put(c, "web", "a0", 0, 1);
	put(c, "web", "b", SEGMENT_EPOCH_MAX, 1);
	catalog_commit(c, NULL);
	for (; nr < 8 && catalog_next_stream(c, &n, NULL) == 1; nr++) {
		size_t len = strlen(boots);

		snprintf(boots + len, sizeof(boots) - len, "%s ", n.boot_id);
		catalog_pass_stream(&n);
	}
	ok_int(nr, 4);
	ok_str(boots, "a a a0 b ");
	catalog_close(c);
}

static void is_host(struct catalog *c, const char *name, uint64_t nr_inodes, uint64_t day,
		    uint64_t nr_segments)
{
	struct catalog_host host;

	ok_int(catalog_host(c, name, &host, NULL), 0);
	ok_eq(host.nr_inodes, nr_inodes);
	ok_eq(host.bytes, 100 * nr_segments);
	ok_eq(host.day, day);
	ok_eq(host.nr_segments, nr_segments);
}

static void put_received(struct catalog *c, const char *boot_id, uint64_t epoch, uint64_t sequence,
			 uint64_t day)
{
	struct segment_facts f;

	segment_facts_init(&f);
	f.name = (struct segment_name){ .host = "web", .epoch = epoch, .sequence = sequence };
	snprintf(f.name.boot_id, sizeof(f.name.boot_id), "%s", boot_id);
	f.file_bytes = 100;
	f.received_real_ns = day * CATALOG_DAY_NS + 1;
	ok_int(catalog_put(c, &f, NULL), 0);
}

static void what_a_host_has_is_counted(void)
{
	struct segment_name first = { .host = "web", .boot_id = "b" };
	struct catalog_host host;
	struct catalog *c;

	if (!ok_int(catalog_open(&c, NULL, NULL), 0))
		return;
	is_host(c, "web", 0, 0, 0);
	put_received(c, "b", 0, 0, 20000);
	is_host(c, "web", 3, 20000, 1);
	put_received(c, "b", 0, 1, 20000);
	put_received(c, "b", 0, 1, 20000); /* again: it replaces its row and counts as a receipt */
	ok_int(catalog_host(c, "web", &host, NULL), 0);
	ok_eq(host.nr_inodes, 4);
	ok_eq(host.bytes, 200);
	put_received(c, "b", 1, 0, 20000); /* a folder of an epoch */
	put_received(c, "c", 0, 0, 19999); /* two folders; found later, received the day before */
	ok_int(catalog_host(c, "web", &host, NULL), 0);
	ok_eq(host.nr_inodes, 9);
	ok_eq(host.day, 20000);
	ok_eq(host.nr_segments, 4);
	put_received(c, "c", 0, 1, 20001);
	ok_int(catalog_host(c, "web", &host, NULL), 0);
	ok_eq(host.nr_segments, 1);
	ok_eq(host.bytes, 500);
	ok_int(catalog_remove_range(c, &first, 9, NULL), 0);
	ok_int(catalog_host(c, "web", &host, NULL), 0);
	ok_eq(host.nr_inodes, 7); /* the folder of the boot has another epoch */
	ok_eq(host.bytes, 300);
	is_host(c, "db", 0, 0, 0);
	catalog_close(c);
}

/* Instructions of SQLite's machine: a scan of a stream's rows takes thousands. */
static void neither_question_scans(void)
{
	struct segment_name n = { .host = "web", .boot_id = "b07", .epoch = 3 };
	struct catalog *c = fill();

	ok_int(catalog_next_stream(c, &n, NULL), 1);
	for (enum statement i = NEXT_STREAM; i <= HIGHEST_OF_STREAM; i++) {
		int steps = sqlite3_stmt_status(c->prepared[i], SQLITE_STMTSTATUS_VM_STEP, 0);

		tap_note("%d steps", steps);
		ok(steps > 0 && steps < 200);
		ok_int(sqlite3_stmt_status(c->prepared[i], SQLITE_STMTSTATUS_SORT, 0), 0);
	}
	catalog_close(c);
}

static const struct tap_test tests[] = {
	{ "the streams of a host come in order, each with its highest sequence",
	  streams_come_in_order },
	{ "the last epoch of a stream is passed", the_last_epoch_is_passed },
	{ "what a host has in the store is counted at each change", what_a_host_has_is_counted },
	{ "neither question reads more than some rows", neither_question_scans },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
