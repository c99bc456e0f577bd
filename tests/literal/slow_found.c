/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/literal/slow_found.h"

/*
 * Returns the first bucket whose end is not below the value; each end follows from the one before.
 */
static unsigned int slow_outstanding_index(uint64_t nr)
{
	unsigned int index = 0;

	for (uint64_t end = 0; end < nr && end <= 1024; index++)
		end += end < 16 ? 1 : exp2(floor(log2((double)end))) / 4;
	return index;
}

static unsigned int slow_interarrival_index(uint64_t gap_ns)
{
	int bucket = -952;

	while (bucket < 448 && (double)gap_ns > 1e9 * exp2(bucket / 32.0))
		bucket += 8;
	return (unsigned int)(bucket + 952) / 8;
}

static unsigned int slow_seek_index(int64_t sectors)
{
	int64_t length = sectors < 0 ? -sectors : sectors;
	unsigned int away = 0;

	if (length)
		for (away = 1; length > 1ll << (away - 1);)
			away++;
	return sectors < 0 ? 55 - away : 55 + away;
}

static uint64_t slow_latest(const struct request *r, size_t nr)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < nr; i++)
		if (request_is_data(&r[i]) && !(r[i].flags & REQUEST_NO_ARRIVAL) &&
		    r[i].arrival_ns > latest)
			latest = r[i].arrival_ns;
	return latest;
}

/* An agent has counted what it captured; other traces are counted here. */
static bool slow_is_captured(const struct request *r)
{
	return r->source == SOURCE_BPF || r->source == SOURCE_BLKTRACE ||
	       r->source == SOURCE_TRACEFS;
}

static uint64_t slow_under_way(const struct request *r, size_t nr, uint64_t now_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += request_is_data(&r[i]) && !slow_is_captured(&r[i]) &&
		       !(r[i].flags & REQUEST_NO_COMPLETION) && r[i].completion_ns > now_ns;
	return sum;
}

static uint64_t slow_outstanding(const struct request *r, size_t at, uint64_t now_ns)
{
	return slow_is_captured(&r[at]) ? r[at].queue_depth : slow_under_way(r, at, now_ns);
}

static void slow_found_one(const struct request *r, size_t at, struct slow_found *out)
{
	uint64_t(*counts)[TALLY_NR_MOST] = out->counts[r[at].operation == OPERATION_WRITE];
	uint64_t latest = slow_latest(r, at), now = slow_latest(r, at + 1);
	size_t before = at;

	while (before && !request_is_data(&r[before - 1]))
		before--;
	if (before) {
		const struct request *b = &r[before - 1];
		uint64_t end = b->sector + request_sectors(b);

		counts[TALLY_SEEK][slow_seek_index((int64_t)(r[at].sector - end))]++;
		if (!(r[at].flags & REQUEST_NO_ARRIVAL) && !(b->flags & REQUEST_NO_ARRIVAL))
			counts[TALLY_INTERARRIVAL][slow_interarrival_index(now - latest)]++;
	}
	if (!(r[at].flags & REQUEST_NO_ARRIVAL))
		counts[TALLY_OUTSTANDING][slow_outstanding_index(slow_outstanding(r, at, now))]++;
}

void slow_found(const struct request *r, size_t from, size_t nr, struct slow_found *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = from; i < nr; i++)
		if (request_is_data(&r[i]))
			slow_found_one(r, i, out);
}
