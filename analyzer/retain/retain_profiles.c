/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/retain/retain_profiles.h"

#include <errno.h>
#include <stdio.h>

#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/replay.h"

struct taker {
	struct summary *s;
	const atomic_bool *stop;
};

/* All that the segments say was lost of it, or of nobody knows what: nothing is cut at the ends. */
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

static int take(void *ctx, struct profile *p)
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

int retain_profiles(struct summary *s, const char *const *paths, size_t nr, const atomic_bool *stop,
		    struct err *err)
{
	struct taker t = { s, stop };
	struct replay_config config = { .profile = take, .batch = look_at_stop, .ctx = &t };
	const struct selection all = { .dir = NULL };
	struct counted *counted = NULL;
	struct scan *scan = NULL;
	int status = counted_new(&counted, &all, 0);
	struct scan_hooks hooks = { .profile = counted_take, .ctx = counted };

	if (status == 0)
		status = scan_open_files(&scan, paths, nr, NULL, &hooks, err);
	if (status == 0)
		status = replay(scan, &config, err);
	if (status == 0)
		status = counted_emit(counted, scan, take, &t);
	counted_free(counted);
	scan_close(scan);
	return status;
}
