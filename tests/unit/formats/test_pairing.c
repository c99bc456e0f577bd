/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pairing.h"
#include "tests/support/pairing_out.h"
#include "tests/support/tap.h"

static void simple(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_QUEUE, "WS", 800, 8);
	event(&out, 11, BLOCK_GETRQ, "WS", 800, 8);
	event(&out, 13, BLOCK_INSERT, "WS", 800, 8);
	event(&out, 17, BLOCK_ISSUE, "WS", 800, 8);
	ok_eq(pairing_held(out.p, DISK), 1);
	ok_eq(pairing_held(out.p, OTHER), 0);
	event(&out, 29, BLOCK_COMPLETE, "WS", 800, 8);
	ok_eq(out.nr, 1);
	ok_eq(out.begun_by[0], BLOCK_GETRQ);
	ok_eq(out.r[0].arrival_ns, 11);
	ok_eq(out.r[0].dispatch_ns, 17);
	ok_eq(out.r[0].completion_ns, 29);
	ok_eq(out.r[0].sector, 800);
	ok_eq(out.r[0].bytes, 4096);
	ok_eq(out.r[0].device, DISK);
	ok_eq(out.r[0].tid, 100);
	ok_eq(out.r[0].pid, 100);
	ok_eq(out.r[0].operation, OPERATION_WRITE);
	ok_eq(out.r[0].flags, REQUEST_SYNC | REQUEST_NO_CGROUP);
	ok_eq(out.r[0].source, SOURCE_BLKTRACE);
	stop(&out);
	ok_eq(out.nr, 1);
}

static void beginnings_not_seen(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_INSERT, "R", 0, 8); /* no event told that it was made */
	event(&out, 20, BLOCK_ISSUE, "R", 0, 8);
	event(&out, 30, BLOCK_COMPLETE, "R", 0, 8);
	event(&out, 40, BLOCK_ISSUE, "R", 8, 8);
	event(&out, 50, BLOCK_COMPLETE, "R", 8, 8);
	event(&out, 60, BLOCK_COMPLETE, "R", 16, 8);
	event(&out, 70, BLOCK_GETRQ, "R", 24, 8);
	event(&out, 80, BLOCK_COMPLETE, "R", 24, 8);
	event(&out, 90, BLOCK_GETRQ, "R", 32, 8);
	ok_eq(out.nr, 4);
	ok_eq(out.r[0].arrival_ns, 10);
	ok_eq(out.r[0].flags, REQUEST_NO_CGROUP);
	ok_eq(out.r[1].arrival_ns, 40);
	ok_eq(out.r[1].flags, REQUEST_NO_CGROUP | REQUEST_NO_ARRIVAL | REQUEST_NO_ISSUER);
	ok_eq(out.r[2].arrival_ns, 60);
	ok_eq(out.r[2].flags,
	      REQUEST_NO_CGROUP | REQUEST_NO_ARRIVAL | REQUEST_NO_ISSUER | REQUEST_NO_DISPATCH);
	ok_eq(out.r[3].arrival_ns, 70);
	ok_eq(out.r[3].dispatch_ns, 70);
	ok_eq(out.r[3].flags, REQUEST_NO_CGROUP | REQUEST_NO_DISPATCH);
	stop(&out);
	ok_eq(out.nr, 5);
	ok_eq(out.r[4].arrival_ns, 90);
	ok(out.r[4].flags & REQUEST_NO_COMPLETION);
}

static void parts(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "W", 100, 24);
	event(&out, 2, BLOCK_ISSUE, "W", 100, 24);
	event(&out, 3, BLOCK_COMPLETE, "W", 100, 8);
	event(&out, 4, BLOCK_REQUEUE, "W", 108, 16); /* the rest is handed back */
	event(&out, 5, BLOCK_ISSUE, "W", 108, 16);
	event(&out, 6, BLOCK_COMPLETE, "W", 108, 12);
	ok_eq(out.nr, 0);
	event(&out, 7, BLOCK_COMPLETE, "W", 120, 4);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].sector, 100);
	ok_eq(out.r[0].bytes, 24 * 512);
	ok_eq(out.r[0].arrival_ns, 1);
	ok_eq(out.r[0].dispatch_ns, 2);
	ok_eq(out.r[0].completion_ns, 7);
	ok_eq(out.r[0].requeues, 1);
	stop(&out);
}

static void errors(void)
{
	struct block_event e = {
		.kind = BLOCK_COMPLETE, .device = DISK, .time_ns = 9, .bytes = 512
	};
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "R", 0, 1);
	event(&out, 2, BLOCK_ISSUE, "R", 0, 1);
	event(&out, 3, BLOCK_REQUEUE, "R", 0, 1);
	event(&out, 4, BLOCK_REQUEUE, "R", 0, 1); /* before it was dispatched again */
	event(&out, 5, BLOCK_ISSUE, "R", 0, 1);
	e.error = EIO;
	pairing_add(out.p, &e);
	ok_eq(out.r[0].error, EIO);
	ok_eq(out.r[0].requeues, 2);
	ok_eq(out.r[0].dispatch_ns, 2);
	stop(&out);
}

static void bio_merges(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "W", 100, 8);
	event(&out, 2, BLOCK_BACKMERGE, "W", 108, 8);
	event(&out, 3, BLOCK_FRONTMERGE, "W", 92, 8);
	event(&out, 4, BLOCK_BACKMERGE, "W", 116, 4);
	event(&out, 5, BLOCK_BACKMERGE, "W", 500, 4); /* behind nothing */
	event(&out, 6, BLOCK_ISSUE, "W", 92, 28);
	event(&out, 7, BLOCK_COMPLETE, "W", 92, 28);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].sector, 92);
	ok_eq(out.r[0].bytes, 28 * 512);
	ok_eq(out.r[0].arrival_ns, 1);
	stop(&out);
}

/* told: the event that the kernel has for it, or none. */
static void request_merge(int told)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "W", 108, 8);
	event(&out, 2, BLOCK_GETRQ, "W", 100, 8);
	if (told)
		event(&out, 3, (enum block_event_kind)told, "W", 108, 8);
	event(&out, 4, BLOCK_ISSUE, "W", 100, 16);
	event(&out, 5, BLOCK_COMPLETE, "W", 100, 16);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].bytes, 8192);
	ok_eq(out.r[0].arrival_ns, 1);
	pairing_counts(out.p, &counts);
	ok_eq(counts.absorbed, 1);
	stop(&out);
	ok_eq(out.nr, 1);
}

static void request_merges(void)
{
	request_merge(BLOCK_BACKMERGE);
	request_merge(BLOCK_RQ_MERGE);
	request_merge(0);
}

/* As Linux 6.1 tells of an fsync on a disk with a write cache: see blk-flush.c. */
static void flushes(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_GETRQ, "FWS", 0, 0);
	event(&out, 11, BLOCK_ISSUE, "FN", 0, 0);
	event(&out, 12, BLOCK_GETRQ, "FWS", 0, 0); /* a second, behind the first */
	event(&out, 20, BLOCK_COMPLETE, "FN", 0, 0);
	event(&out, 21, BLOCK_COMPLETE, "WS", 0, 0);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].operation, OPERATION_FLUSH);
	ok_eq(out.r[0].arrival_ns, 10);
	ok_eq(out.r[0].completion_ns, 21);
	ok_eq(out.r[0].bytes, 0);
	ok(out.r[0].flags & REQUEST_NO_DISPATCH);
	event(&out, 22, BLOCK_ISSUE, "FN", 0, 0);
	event(&out, 30, BLOCK_COMPLETE, "FN", 0, 0);
	event(&out, 31, BLOCK_COMPLETE, "WS", 0, 0);
	ok_eq(out.nr, 2);
	ok_eq(out.r[1].arrival_ns, 12);
	event(&out, 32, BLOCK_COMPLETE, "WS", 0, 0);
	pairing_counts(out.p, &counts);
	ok_eq(counts.flush_issues, 2);
	ok_eq(counts.flush_ends, 2);
	ok_eq(counts.idle_ends, 1);
	stop(&out);
	ok_eq(out.nr, 2);
}

/* A journal's commit: a flush before, the data, with FUA emulated a flush behind. */
static void write_in_flush(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_GETRQ, "FWFS", 64, 8);
	event(&out, 11, BLOCK_ISSUE, "FN", 0, 0);
	event(&out, 20, BLOCK_COMPLETE, "FN", 0, 0);
	event(&out, 21, BLOCK_ISSUE, "WS", 64, 8);
	event(&out, 25, BLOCK_COMPLETE, "WS", 64, 8);
	event(&out, 26, BLOCK_ISSUE, "FN", 0, 0);
	event(&out, 35, BLOCK_COMPLETE, "FN", 0, 0);
	ok_eq(out.nr, 0);
	event(&out, 36, BLOCK_COMPLETE, "WS", 72, 0);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].arrival_ns, 10);
	ok_eq(out.r[0].dispatch_ns, 21);
	ok_eq(out.r[0].completion_ns, 36);
	ok_eq(out.r[0].bytes, 4096);
	ok_eq(out.r[0].operation, OPERATION_WRITE);
	ok_eq(out.r[0].flags, REQUEST_SYNC | REQUEST_PREFLUSH | REQUEST_FUA | REQUEST_NO_CGROUP);

	/* The disk knows FUA, and nothing is flushed: its data's end is the end. */
	event(&out, 40, BLOCK_GETRQ, "FWFS", 64, 8);
	event(&out, 41, BLOCK_ISSUE, "WFS", 64, 8);
	event(&out, 45, BLOCK_COMPLETE, "WFS", 64, 8);
	ok_eq(out.nr, 2);
	ok_eq(out.r[1].completion_ns, 45);

	/* Its second end goes missing. */
	event(&out, 50, BLOCK_GETRQ, "WFS", 64, 8);
	event(&out, 51, BLOCK_ISSUE, "WS", 64, 8);
	event(&out, 55, BLOCK_COMPLETE, "WS", 64, 8);
	ok_eq(out.nr, 2);
	pairing_settle(out.p, DISK, 1000);
	ok_eq(out.nr, 3);
	ok_eq(out.r[2].completion_ns, 55);
	pairing_counts(out.p, &counts);
	ok_eq(counts.unclosed, 1);
	ok_eq(counts.no_end, 0);
	stop(&out);
}

/* Most kernels report the second end where the data that ended last began. */
static void write_closed_at_begin(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	for (uint64_t i = 0; i < 2; i++) { /* each begins where the one before ends */
		event(&out, 10 + i, BLOCK_GETRQ, "WFS", 64 + 8 * i, 8);
		event(&out, 12 + i, BLOCK_ISSUE, "WS", 64 + 8 * i, 8);
	}
	event(&out, 20, BLOCK_COMPLETE, "WS", 64, 8);
	event(&out, 21, BLOCK_COMPLETE, "WS", 72, 8);
	event(&out, 30, BLOCK_COMPLETE, "WS", 72, 0);
	event(&out, 31, BLOCK_COMPLETE, "WS", 64, 0);
	ok_eq(out.nr, 2);
	ok_eq(out.r[0].sector, 72);
	ok_eq(out.r[0].completion_ns, 30);
	ok_eq(out.r[1].sector, 64);
	ok_eq(out.r[1].completion_ns, 31);

	event(&out, 40, BLOCK_GETRQ, "WFS", 64, 8);
	event(&out, 41, BLOCK_ISSUE, "WS", 64, 8);
	event(&out, 42, BLOCK_COMPLETE, "WS", 64, 2);
	event(&out, 43, BLOCK_COMPLETE, "WS", 66, 6);
	event(&out, 50, BLOCK_COMPLETE, "WS", 66, 0);
	ok_eq(out.nr, 3);
	ok_eq(out.r[2].sector, 64);
	ok_eq(out.r[2].bytes, 4096);
	ok_eq(out.r[2].completion_ns, 50);
	pairing_counts(out.p, &counts);
	ok_eq(counts.idle_ends, 0);
	stop(&out);
}

/* The recording ends between the two ends of a write, and before the end of another. */
static void write_not_closed(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_GETRQ, "WFS", 64, 8);
	event(&out, 11, BLOCK_ISSUE, "WS", 64, 8);
	event(&out, 12, BLOCK_COMPLETE, "WS", 64, 8);
	event(&out, 13, BLOCK_GETRQ, "WS", 800, 8);
	pairing_tell_unclosed(out.p);
	pairing_tell_unclosed(out.p);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].sector, 64);
	ok_eq(out.r[0].bytes, 4096);
	ok(out.r[0].flags & REQUEST_NO_COMPLETION);
	ok_eq(pairing_held(out.p, DISK), 1);
	event(&out, 20, BLOCK_COMPLETE, "WS", 64, 0);
	ok_eq(out.nr, 1);
	pairing_counts(out.p, &counts);
	ok_eq(counts.late_ends, 1);
	stop(&out);
}

/*
 * Merges and a length beyond what a request can have are counted and left out. The request that is
 * there ends as it began.
 */
static void impossible_growth(void)
{
	const uint32_t most = REQUEST_MAX_DATA_BYTES / SECTOR_BYTES;
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "W", 800, most);
	event(&out, 2, BLOCK_BACKMERGE, "W", 800 + most, 1);
	event(&out, 3, BLOCK_FRONTMERGE, "W", 799, 1);
	pairing_counts(out.p, &counts);
	ok_eq(counts.unmatched, 2);
	ok_eq(counts.grown, 0);
	event(&out, 4, BLOCK_COMPLETE, "W", 800,
	      8); /* a part, after which it is as long as before */
	event(&out, 5, BLOCK_ISSUE, "W", 808, most);
	event(&out, 6, BLOCK_COMPLETE, "W", 808, most - 8);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].sector, 800);
	ok_eq(out.r[0].bytes, REQUEST_MAX_DATA_BYTES);
	ok(request_check(&out.r[0]) == NULL);
	pairing_counts(out.p, &counts);
	ok_eq(counts.unmatched, 3);
	stop(&out);
	ok_eq(out.nr, 1);
}

static void discards_and_passthrough(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "D", 0, 2048);
	event(&out, 2, BLOCK_GETRQ, "D", 8192, 2048);
	event(&out, 3, BLOCK_BACKMERGE, "D", 8192, 2048); /* a discard of two ranges */
	event(&out, 4, BLOCK_ISSUE, "D", 0, 4096);
	event(&out, 5, BLOCK_ISSUE, "N", 0, 0);
	event(&out, 6, BLOCK_COMPLETE, "N", 0, 0);
	event(&out, 7, BLOCK_COMPLETE, "D", 0, 4096);
	ok_eq(out.nr, 2);
	ok_eq(out.r[0].operation, OPERATION_OTHER);
	ok_eq(out.r[1].operation, OPERATION_DISCARD);
	ok_eq(out.r[1].bytes, 4096 * 512);
	ok_eq(out.r[1].arrival_ns, 1);
	stop(&out);
	ok_eq(out.nr, 2);
}

/* The same sector twice at once: the older ends first, but one of the length told before others. */
static void same_sector(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "R", 64, 8);
	event(&out, 2, BLOCK_GETRQ, "R", 64, 16);
	event(&out, 3, BLOCK_GETRQ, "R", 64, 8);
	event(&out, 4, BLOCK_ISSUE, "R", 64, 16);
	event(&out, 5, BLOCK_ISSUE, "R", 64, 8);
	event(&out, 6, BLOCK_ISSUE, "R", 64, 8);
	event(&out, 7, BLOCK_COMPLETE, "R", 64, 8);
	event(&out, 8, BLOCK_COMPLETE, "R", 64, 16);
	event(&out, 9, BLOCK_COMPLETE, "R", 64, 8);
	ok_eq(out.nr, 3);
	ok_eq(out.r[0].arrival_ns, 3); /* of two alike the one dispatched last */
	ok_eq(out.r[1].arrival_ns, 2);
	ok_eq(out.r[2].arrival_ns, 1);
	stop(&out);
}

static void bounded(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 4);
	for (uint64_t i = 0; i < 10; i++)
		event(&out, i + 1, BLOCK_GETRQ, "W", i * 8, 8);
	ok_eq(out.nr, 6);
	pairing_counts(out.p, &counts);
	ok_eq(counts.evicted, 6);
	ok_eq(counts.no_end, 6);
	ok_eq(counts.held, 4);
	ok_eq(out.r[5].sector, 40);
	event(&out, 20, BLOCK_COMPLETE, "W", 8 * 8, 8);
	ok_eq(out.nr, 7);
	ok_eq(out.r[6].arrival_ns, 9);
	stop(&out);
	ok_eq(out.nr, 10);
}

static void bios(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_QUEUE, 0);
	event(&out, 1, BLOCK_QUEUE, "W", 0, 8);
	event(&out, 2, BLOCK_QUEUE, "W", 8, 8);
	event(&out, 3, BLOCK_QUEUE, "W", 16, 8);
	event(&out, 4, BLOCK_GETRQ, "W", 0, 8);
	event(&out, 5, BLOCK_ISSUE, "W", 0, 20);
	event(&out, 6, BLOCK_COMPLETE, "W", 0, 20); /* two, and half of a third */
	ok_eq(out.nr, 2);
	event(&out, 7, BLOCK_COMPLETE, "W", 20, 4);
	ok_eq(out.nr, 3);
	ok_eq(out.r[2].arrival_ns, 3);
	ok_eq(out.r[2].completion_ns, 7);
	ok_eq(out.r[2].bytes, 4096);
	ok_eq(out.r[2].layer, LAYER_QUEUE);
	ok(out.r[2].flags & REQUEST_NO_DISPATCH);
	event(&out, 8, BLOCK_COMPLETE, "W", 400, 4);
	ok_eq(out.nr, 4);
	ok(out.r[3].flags & REQUEST_NO_ARRIVAL);
	pairing_counts(out.p, &counts);
	ok_eq(counts.shared_ends, 2);
	ok_eq(counts.begun, counts.requests + counts.held);
	ok_eq(counts.events[BLOCK_COMPLETE] + counts.shared_ends, counts.requests + counts.parts);
	pairing_free(out.p);
}

/* ---- any events at all ---- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void nowhere(void *ctx, const struct request *r, unsigned int begun_by)
{
	const char *wrong = request_check(r);
	(void)begun_by;
	*(uint64_t *)ctx += wrong != NULL;
}

static void any_order(void)
{
	static const char *const rwbs[] = { "R", "W", "WS", "FWS", "FN", "D", "N", "WFS", "FWFS" };
	uint64_t random = 3, wrong = 0;

	for (int layer = 0; layer < NR_LAYERS; layer++) {
		const struct pairing_config config = { .layer = (uint8_t)layer, .max_held = 32 };
		struct pairing_sink sink = { nowhere, &wrong };
		struct pairing_counts c;
		struct out out;

		ok_int(pairing_new(&out.p, &config, &sink), 0);
		for (uint64_t i = 0; i < 200000; i++) {
			const char *letters = rwbs[next_random(&random) % TAP_NR(rwbs)];
			struct block_event e = { .time_ns = i };

			e.kind = (uint8_t)(next_random(&random) % NR_BLOCK_EVENTS);
			e.sector = next_random(&random) % 12 * 4;
			e.bytes = (uint32_t)(next_random(&random) % 4) * 2048;
			e.device = next_random(&random) % 2 ? DISK : OTHER;
			e.error = next_random(&random) % 16 ? 0 : EIO;
			block_event_rwbs(&e, letters, strlen(letters));
			pairing_add(out.p, &e);
			if (next_random(&random) % 1000 == 0)
				pairing_gap(out.p, e.device, i);
			if (next_random(&random) % 500 == 0)
				pairing_settle(out.p, e.device, i - next_random(&random) % 10);
		}
		pairing_counts(out.p, &c);
		ok_eq(c.begun, c.requests + c.absorbed + c.held);
		ok_eq(c.events[BLOCK_COMPLETE] + c.shared_ends, c.requests - c.no_end - c.unclosed +
									c.parts + c.flush_ends +
									c.idle_ends + c.late_ends);
		ok_eq(wrong, 0);
		pairing_settle(out.p, 0, UINT64_MAX);
		ok_eq(pairing_held(out.p, 0), 0);
		pairing_free(out.p);
	}
}

static void letters(void)
{
	static const struct {
		const char *rwbs;
		uint8_t operation;
		uint32_t flags;
	} cases[] = {
		{ "R", OPERATION_READ, 0 },
		{ "RA", OPERATION_READ, REQUEST_READAHEAD },
		{ "RSM", OPERATION_READ, REQUEST_SYNC | REQUEST_META },
		{ "WFSM", OPERATION_WRITE, REQUEST_FUA | REQUEST_SYNC | REQUEST_META },
		{ "FWFS", OPERATION_WRITE, REQUEST_PREFLUSH | REQUEST_FUA | REQUEST_SYNC },
		{ "FF", OPERATION_FLUSH, 0 },
		{ "FN", OPERATION_FLUSH, 0 },
		{ "F", OPERATION_FLUSH, 0 },
		{ "DE", OPERATION_DISCARD, 0 },
		{ "DS", OPERATION_DISCARD, REQUEST_SYNC },
		{ "N", OPERATION_OTHER, 0 },
		{ "WZ", OPERATION_OTHER, 0 },
		{ "ZA", OPERATION_WRITE, REQUEST_ZONE_APPEND },
		{ "ZR", OPERATION_OTHER, 0 },
	};
	struct block_event e = { .flags = 77 };

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok_int(block_event_rwbs(&e, cases[i].rwbs, strlen(cases[i].rwbs)), 0);
		ok_eq(e.operation, cases[i].operation);
		ok_eq(e.flags, cases[i].flags);
	}
	ok_int(block_event_rwbs(&e, "", 0), -EINVAL);
	ok_int(block_event_rwbs(&e, "?", 1), -EINVAL);
	ok_eq(e.flags, 0);
}

static void many_requeues(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "R", 0, 8);
	for (uint64_t i = 0; i <= UINT16_MAX + 1u; i++) {
		event(&out, 2 + 2 * i, BLOCK_ISSUE, "R", 0, 8);
		event(&out, 3 + 2 * i, BLOCK_REQUEUE, "R", 0, 8);
	}
	event(&out, 200000, BLOCK_COMPLETE, "R", 0, 8);
	ok_eq(out.r[0].requeues, UINT16_MAX);
	stop(&out);
}

static void first_error_stays(void)
{
	struct block_event e = {
		.kind = BLOCK_COMPLETE, .device = DISK, .time_ns = 3, .bytes = 512, .error = EIO
	};
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "R", 0, 2);
	event(&out, 2, BLOCK_ISSUE, "R", 0, 2);
	pairing_add(out.p, &e);
	event(&out, 4, BLOCK_COMPLETE, "R", 1, 1);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].error, EIO);
	stop(&out);
}

/* What ended first keeps its place where the rest grows behind it. */
static void grown_after_a_part(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_GETRQ, "R", 0, 8);
	event(&out, 11, BLOCK_GETRQ, "R", 8, 8);
	event(&out, 12, BLOCK_ISSUE, "R", 0, 8);
	event(&out, 13, BLOCK_COMPLETE, "R", 0, 4);
	event(&out, 14, BLOCK_REQUEUE, "R", 4, 4);
	event(&out, 15, BLOCK_ISSUE, "R", 4, 12); /* took in the second, untold */
	event(&out, 16, BLOCK_COMPLETE, "R", 4, 12);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].sector, 0);
	ok_eq(out.r[0].bytes, 16 * SECTOR_BYTES);
	ok_eq(out.r[0].completion_ns, 16);
	stop(&out);
}

static const struct tap_test tests[] = {
	{ "made, inserted, dispatched, completed is one request", simple },
	{ "what was not seen of the beginning is said to be unknown", beginnings_not_seen },
	{ "partial completions end a request at the last", parts },
	{ "errors and requeues are kept", errors },
	{ "bios merged in front and behind make it longer", bio_merges },
	{ "merged requests are one, told or not", request_merges },
	{ "an fsync is one flush, the block layer's own are none", flushes },
	{ "a write in a flush ends with the flush", write_in_flush },
	{ "a write in a flush ends where its data began, too", write_closed_at_begin },
	{ "a write whose flush has not ended is told without an end", write_not_closed },
	{ "growth that no request has is counted and left out", impossible_growth },
	{ "discards of several ranges and commands without data", discards_and_passthrough },
	{ "the same sector several times at once", same_sector },
	{ "memory is bounded, and what it cost is counted", bounded },
	{ "bios end by their place, several at once", bios },
	{ "any events in any order balance", any_order },
	{ "the letters of an operation are read", letters },
	{ "requeues are counted up to what their field holds", many_requeues },
	{ "the error of a part is that of the request", first_error_stays },
	{ "a request that ended in part and grew keeps its place", grown_after_a_part },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
