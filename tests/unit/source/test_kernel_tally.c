/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "agent/source/tracefs/kernel_tally.h"
#include "tests/support/tap.h"

static uint64_t counted[4]; /* by device */

static int read_count(uint32_t device, uint64_t *out)
{
	if (device == 3)
		return -ENODATA;
	*out = counted[device];
	return 0;
}

static uint64_t missing[4], nr_calls;

static void on_missing(void *ctx, uint32_t device, uint64_t nr)
{
	(void)ctx;
	missing[device] += nr;
	nr_calls++;
}

static void see(struct kernel_tally *t, uint32_t device, uint64_t completion_ns, int nr)
{
	const struct request r = { .device = device, .completion_ns = completion_ns };

	for (int i = 0; i < nr; i++)
		kernel_tally_seen(t, &r);
}

static void balance(void)
{
	static const uint32_t devices[] = { 1, 2, 3 };
	struct request passthrough = { .device = 1, .flags = REQUEST_PASSTHROUGH };
	struct kernel_tally t;

	memset(missing, 0, sizeof(missing));
	counted[1] = 1000;
	counted[2] = 5000;
	kernel_tally_begin(&t, devices, 3, read_count);
	ok(!kernel_tally_settle(&t, UINT64_MAX, on_missing, NULL));
	see(&t, 1, 10, 40);
	kernel_tally_seen(&t, &passthrough);
	see(&t, 3, 10, 7);
	see(&t, 9, 10, 7); /* came later */
	counted[1] += 100;
	kernel_tally_sample(&t, 20);
	ok(!kernel_tally_settle(&t, 19, on_missing, NULL));
	see(&t, 1, 20, 25);
	see(&t, 1, 21, 30); /* after the sample: not in it */
	see(&t, 2, 21, 3);
	counted[1] = 9999; /* nor is this */
	ok(kernel_tally_settle(&t, 20, on_missing, NULL));
	ok_eq(missing[1], 100 - 65);
	ok_eq(missing[2], 0);
	ok_eq(missing[3], 0);
	/* told once: the next sample has only what is missing since */
	counted[1] = 1000 + 100 + 30 + 4;
	counted[2] += 3;
	kernel_tally_sample(&t, 30);
	ok(kernel_tally_settle(&t, 40, on_missing, NULL));
	ok_eq(missing[1], 35 + 4);
	ok_eq(missing[2], 0);
}

static void device_gone(void)
{
	static const uint32_t devices[] = { 1 };
	struct kernel_tally t;

	memset(missing, 0, sizeof(missing));
	counted[1] = 10;
	kernel_tally_begin(&t, devices, 1, read_count);
	t.devices[0].device = 3; /* can no longer be read */
	kernel_tally_sample(&t, 1);
	ok(kernel_tally_settle(&t, 1, on_missing, NULL));
	ok_eq(missing[1] + missing[3], 0);
}

static void another_disk(void)
{
	static const uint32_t devices[] = { 1, 3 };
	struct kernel_tally t;

	memset(missing, 0, sizeof(missing));
	counted[1] = 1000;
	kernel_tally_begin(&t, devices, 2, read_count);
	ok(kernel_tally_covers(&t, 1));
	ok(!kernel_tally_covers(&t, 3)); /* keeps no count */
	ok(!kernel_tally_covers(&t, 2)); /* came later */
	see(&t, 1, 5, 10);
	counted[1] = 7; /* unplugged, and another took its number */
	kernel_tally_sample(&t, 10);
	see(&t, 1, 11, 3);
	ok(kernel_tally_settle(&t, 20, on_missing, NULL));
	ok_eq(missing[1], 0);
	counted[1] = 7 + 3 + 5;
	kernel_tally_sample(&t, 30);
	ok(kernel_tally_settle(&t, 40, on_missing, NULL));
	ok_eq(missing[1], 5);
}

/*
 * More seen than counted is made up for by what is counted later; where none is missing, none is
 * told.
 */
static void seen_ahead_of_the_count(void)
{
	static const uint32_t devices[] = { 1, 2 };
	struct kernel_tally t;

	memset(missing, 0, sizeof(missing));
	nr_calls = 0;
	counted[1] = counted[2] = 1000;
	kernel_tally_begin(&t, devices, 2, read_count);
	see(&t, 1, 5, 4);
	see(&t, 2, 5, 4);
	kernel_tally_sample(&t, 10);
	ok(kernel_tally_settle(&t, 10, on_missing, NULL));
	counted[1] = 1003;
	counted[2] = 1004;
	kernel_tally_sample(&t, 20);
	ok(kernel_tally_settle(&t, 20, on_missing, NULL));
	ok_eq(nr_calls, 0);
	counted[1] = 1010;
	counted[2] = 1005;
	kernel_tally_sample(&t, 30);
	ok(kernel_tally_settle(&t, 30, on_missing, NULL));
	ok_eq(missing[1], 6);
	ok_eq(missing[2], 1);
	ok_eq(nr_calls, 2);
	/* Another disk owes nothing of what was told of the one before. */
	counted[1] = 50;
	kernel_tally_sample(&t, 40);
	ok(kernel_tally_settle(&t, 40, on_missing, NULL));
	counted[1] = 52;
	kernel_tally_sample(&t, 50);
	ok(kernel_tally_settle(&t, 50, on_missing, NULL));
	ok_eq(missing[1], 6 + 2);
}

static int read_any(uint32_t device, uint64_t *out)
{
	*out = device;
	return 0;
}

static void the_rest_is_not_covered(void)
{
	uint32_t devices[KERNEL_TALLY_DEVICES + 5];
	struct kernel_tally t;

	for (uint32_t i = 0; i < TAP_NR(devices); i++)
		devices[i] = 100 + i;
	kernel_tally_begin(&t, devices, TAP_NR(devices), read_any);
	ok_eq(t.nr, KERNEL_TALLY_DEVICES);
	for (uint32_t i = 0; i < TAP_NR(devices); i++)
		ok_int(kernel_tally_covers(&t, 100 + i), i < KERNEL_TALLY_DEVICES);
}

static const struct tap_test tests[] = {
	{ "what the kernel counted and nobody saw is missing, and told once", balance },
	{ "a device that cannot be read any more tells nothing", device_gone },
	{ "a count that went back is another disk's, and counted from there", another_disk },
	{ "what was seen before it was counted is not told", seen_ahead_of_the_count },
	{ "devices beyond the bound cannot be told", the_rest_is_not_covered },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
