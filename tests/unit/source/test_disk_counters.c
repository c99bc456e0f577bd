/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "agent/source/disk_counters.h"
#include "tests/support/tap.h"

/* A line as 4.12, 4.18 and 5.5 print it, and a partition's of 2.6.24. */
static const char line_14[] = "   8       0 sda 100 1 800 50 200 2 3200 400 3 600 700\n";
static const char line_18[] = "   8       0 sda 100 1 800 50 200 2 3200 400 3 600 700 5 6 4096 9\n";
static const char line_20[] =
	" 259       3 nvme0n1 100 1 800 50 200 2 3200 400 3 600 700 5 6 4096 9 11 13\n"
	" 259       4 nvme0n1p1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n";

static struct disk_counters parsed(const char *line)
{
	struct disk_counters c = { 0 };

	ok_int(disk_counters_parse(&c, line), 0);
	return c;
}

static void columns(void)
{
	struct disk_counters c = parsed(line_14);

	ok_eq(c.nr_columns, 14);
	ok_eq(c.device, device_make(8, 0));
	ok_str(c.name, "sda");
	ok_eq(c.completed[OPERATION_READ], 100);
	ok_eq(c.merged[OPERATION_WRITE], 2);
	ok_eq(c.sectors[OPERATION_WRITE], 3200);
	ok_eq(c.ms[OPERATION_WRITE], 400);
	ok_eq(c.in_flight, 3);
	ok_eq(c.busy_ms, 600);
	ok_eq(c.queue_ms, 700);
	ok_eq(c.completed[OPERATION_DISCARD], 0);
	c = parsed(line_18);
	ok_eq(c.nr_columns, 18);
	ok_eq(c.completed[OPERATION_DISCARD], 5);
	ok_eq(c.merged[OPERATION_DISCARD], 6);
	ok_eq(c.sectors[OPERATION_DISCARD], 4096);
	ok_eq(c.ms[OPERATION_DISCARD], 9);
	c = parsed(line_20);
	ok_eq(c.nr_columns, 20);
	ok_eq(c.device, device_make(259, 3));
	ok_eq(c.completed[OPERATION_FLUSH], 11);
	ok_eq(c.ms[OPERATION_FLUSH], 13);
}

static void other_lines(void)
{
	static const char *const bad[] = {
		"",
		"\n",
		"8 0 sda\n",
		"   8    1 sda1 35486 38030 38030 38030\n",
		"8 0 sda 1 2 3 4 5 6 7 8 9 10 x\n",
		"sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n",
	};
	struct disk_counters c = { .device = 7 };

	for (size_t i = 0; i < TAP_NR(bad); i++) {
		ok_int(disk_counters_parse(&c, bad[i]), -EINVAL);
		ok_eq(c.device, 7);
	}
	/* columns of kernels to come are passed over */
	ok_int(disk_counters_parse(&c, "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"),
	       0);
	ok_eq(c.nr_columns, 20);
}

static void change_by_hand(void)
{
	struct disk_counters before = parsed(line_20), after = before, change;

	after.completed[OPERATION_READ] += 1000;
	after.sectors[OPERATION_READ] += 8000;
	after.ms[OPERATION_READ] += 250;
	after.in_flight = 2;
	ok(disk_counters_change(&before, &after, &change));
	ok_eq(change.completed[OPERATION_READ], 1000);
	ok_eq(change.completed[OPERATION_WRITE], 0);
	ok_eq(change.in_flight, 2);
	ok(!disk_counters_are_idle(&change));
	after = before;
	after.in_flight = 0;
	ok(disk_counters_change(&before, &after, &change));
	ok(disk_counters_are_idle(&change));
}

static void wrap(void)
{
	struct disk_counters before = parsed(line_20), after = before, change;

	before.ms[OPERATION_WRITE] = UINT32_MAX - 99;
	after.ms[OPERATION_WRITE] = 100;
	before.completed[OPERATION_READ] = UINT32_MAX;
	after.completed[OPERATION_READ] = 0;
	ok(disk_counters_change(&before, &after, &change));
	ok_eq(change.ms[OPERATION_WRITE], 200);
	ok_eq(change.completed[OPERATION_READ], 1);
	/* 64-bit counters do not wrap there */
	before = parsed(line_20);
	after = before;
	before.sectors[OPERATION_READ] = UINT32_MAX - 5ull;
	after.sectors[OPERATION_READ] = UINT32_MAX + 5ull;
	ok(disk_counters_change(&before, &after, &change));
	ok_eq(change.sectors[OPERATION_READ], 10);
}

static void began_anew(void)
{
	struct disk_counters before = parsed(line_20), after = before, change;

	after.completed[OPERATION_READ] = 3; /* another disk under the same number */
	ok(!disk_counters_change(&before, &after, &change));
	before.sectors[OPERATION_READ] = 1ull << 40;
	after = before;
	after.sectors[OPERATION_READ] = 8;
	ok(!disk_counters_change(&before, &after, &change));
	after = before;
	after.nr_columns = 18;
	ok(!disk_counters_change(&before, &after, &change));
}

/* 1000 reads of 4 KiB of 2 ms each and 500 writes of 64 KiB of 10 ms in 5 s. */
static void profile_by_hand(void)
{
	struct disk_counters change = { .nr_columns = 20 };
	struct profile p;

	change.completed[OPERATION_READ] = 1000;
	change.sectors[OPERATION_READ] = 8000;
	change.ms[OPERATION_READ] = 2000;
	change.completed[OPERATION_WRITE] = 500;
	change.sectors[OPERATION_WRITE] = 64000;
	change.ms[OPERATION_WRITE] = 5000;
	change.completed[OPERATION_FLUSH] = 7;
	change.ms[OPERATION_FLUSH] = 9000;
	profile_init(&p);
	disk_counters_profile(&change, 5, &p);
	ok_eq(p.requests[OPERATION_READ], 1000);
	ok_eq(p.bytes[OPERATION_WRITE], 500 * 65536);
	ok_eq(p.requests[OPERATION_FLUSH], 7);
	ok_near(p.read.size_mean_bytes, 4096, 0);
	ok_near(p.write.size_mean_bytes, 65536, 0);
	ok_near(profile_mean_s(&p.read.response, STAGE_TOTAL), 0.002, 1e-15);
	ok_near(profile_mean_s(&p.write.response, STAGE_TOTAL), 0.010, 1e-15);
	ok_near(profile_mean_s(&p.flush, STAGE_TOTAL), 9.0 / 7, 1e-15);
	ok_near(p.open.rate_per_s, 300, 1e-12);
	ok_near(p.open.interarrival_mean_s, 1.0 / 300, 1e-15);
	/* Little: 200/s of 2 ms and 100/s of 10 ms */
	ok_near(p.closed.in_flight_mean, 1.4, 1e-12);
	ok(isnan(p.closed.clients_mean) && isnan(p.all_sequential_ratio));
	ok_eq(p.unknown & (UNKNOWN_DISCARD | UNKNOWN_FLUSH), 0);
	ok(p.unknown & UNKNOWN_OTHER && p.unknown & UNKNOWN_ERRORS);
	profile_release(&p);
}

static void what_old_kernels_do_not_count(void)
{
	struct disk_counters change = { .nr_columns = 14 };
	struct profile p;

	profile_init(&p);
	disk_counters_profile(&change, 1, &p);
	ok(p.unknown & UNKNOWN_DISCARD && p.unknown & UNKNOWN_FLUSH);
	ok(isnan(p.read.size_mean_bytes) && isnan(p.open.interarrival_mean_s));
	ok_near(p.closed.in_flight_mean, 0, 0);
	profile_release(&p);
}

static void waiting_is_not_idle(void)
{
	struct disk_counters change = { .nr_columns = 20 };

	ok(disk_counters_are_idle(&change));
	change.in_flight = 1;
	ok(!disk_counters_are_idle(&change));
	change.in_flight = 0;
	change.completed[OPERATION_FLUSH] = 1;
	ok(!disk_counters_are_idle(&change));
}

static const struct tap_test tests[] = {
	{ "lines of 14, 18 and 20 columns are read", columns },
	{ "other lines are not taken for one", other_lines },
	{ "a change is what happened in between", change_by_hand },
	{ "counters of 32 bits wrap", wrap },
	{ "a disk that began anew is told from a wrap", began_anew },
	{ "rates, means and the number in flight are those by hand", profile_by_hand },
	{ "what an old kernel does not count is unknown", what_old_kernels_do_not_count },
	{ "a disk whose requests all wait is not idle", waiting_is_not_idle },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
