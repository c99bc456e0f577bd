/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain_profiles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/replay.h"

/*
 * The estimators take some hundred KiB per device, so a host with many devices is read several
 * times.
 */
#define RETAIN_DEVICES 64

struct taker {
	struct summary *s;
	const atomic_bool *stop;
	uint32_t nr_ranges; /* of devices, at most */
};

/*
 * Returns all losses that the segments report for the device or for an unknown device; nothing is
 * cut at the ends.
 */
static uint64_t lost_of(const struct ledger *ledger, const char *device)
{
	unsigned int major = 0, minor = 0;
	uint64_t sum = 0;

	sscanf(device, "%u:%u", &major, &minor);
	for (size_t i = 0; i < ledger->nr; i++)
		if (!ledger->losses[i].device ||
		    ledger->losses[i].device == device_make(major, minor))
			sum += ledger->losses[i].count;
	return sum;
}

static int retain_profiles_take(void *ctx, struct profile *p)
{
	struct taker *t = ctx;

	if (p->source != SOURCE_DISKSTATS) {
		p->lost = lost_of(&t->s->ledger, p->device);
		profile_grade(p);
	}
	return summary_add_profile(t->s, p);
}

static int look_at_stop(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr)
{
	const struct taker *t = ctx;

	(void)scan, (void)r, (void)nr;
	return t->stop && atomic_load(t->stop) ? -ECANCELED : 0;
}

/* Makes the profiles of the requests of a range of devices. */
static int profile_range(struct taker *t, const char *const *paths, size_t nr,
			 const struct scan_filter *range, const struct scan_hooks *hooks,
			 struct scan **scan, struct err *err)
{
	struct replay_config config = { .profile = retain_profiles_take,
					.nr_shares = t->nr_ranges,
					.batch = look_at_stop,
					.ctx = t };
	int ret = scan_open_files(scan, paths, nr, range, hooks, err);

	return ret == 0 ? replay(*scan, &config, err) : ret;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the numbers of the summary's devices, ascending, or NULL where memory is short. */
static uint32_t *device_numbers(const struct summary *s)
{
	uint32_t *numbers = calloc(s->nr_devices + 1, sizeof(*numbers));

	for (size_t i = 0; numbers && i < s->nr_devices; i++)
		numbers[i] = s->devices[i].device;
	if (numbers && s->nr_devices)
		qsort(numbers, s->nr_devices, sizeof(*numbers), compare_numbers);
	return numbers;
}

int retain_profiles(struct summary *s, const char *const *paths, size_t nr, const atomic_bool *stop,
		    struct err *err)
{
	struct taker t = { s, stop, (uint32_t)(s->nr_devices / RETAIN_DEVICES + 1) };
	const struct selection all = { .dir = NULL };
	struct counted *counted = NULL;
	struct scan *scan = NULL;
	uint32_t *numbers = device_numbers(s);
	size_t at = 0;
	int ret = numbers ? counted_new(&counted, &all, 0) : -ENOMEM;
	struct scan_hooks hooks = { .profile = counted_take, .ctx = counted };

	/* Profiles from counters come with the first range, because they have no requests. */
	while (ret == 0 && (at == 0 || at < s->nr_devices)) {
		size_t end =
			at + RETAIN_DEVICES < s->nr_devices ? at + RETAIN_DEVICES : s->nr_devices;
		struct scan_filter range = { .first_device = at ? numbers[at - 1] + 1 : 0,
					     .last_device = UINT32_MAX };

		if (end < s->nr_devices)
			range.last_device = numbers[end - 1];
		/* The range is empty where the same number was already in the range before. */
		if (at == 0 || numbers[end - 1] > numbers[at - 1])
			ret = profile_range(&t, paths, nr, &range, at ? NULL : &hooks, &scan, err);
		if (ret == 0 && at == 0)
			ret = counted_emit(counted, scan, retain_profiles_take, &t);
		scan_close(scan);
		scan = NULL;
		at = end ? end : 1;
	}
	counted_free(counted);
	free(numbers);
	return ret;
}
