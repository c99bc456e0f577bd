// SPDX-License-Identifier: Apache-2.0
/*
 * odd_segments DIR DAY: writes valid segments to DIR whose values a database could refuse, and
 * prints a line "HOST BOOT EPOCH SEQUENCE HASH FILE WHAT" for each. DAY is the number of days since
 * 1970 of most of them. The last four are one with a profile of the next day, one with a profile of
 * a day long before, and segments of these two days.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/index/segment_name.h"
#include "formats/profile/profile.h"
#include "formats/segment/segment_header.h"
#include "tests/support/sample.h"

#define DAY_NS	    86400000000000ull
#define DAY_S	    86400.0
#define NR_REQUESTS 3

struct odd {
	const char *what;
	uint64_t epoch, sequence;
	uint64_t real_ns;      /* the guest's clock at the begin of the segment */
	const char *device;    /* in the profile; NULL: the segment has no profile */
	double begin_s, end_s; /* of the profile */
	uint64_t count;	       /* of requests, bytes and losses */
	double mean;	       /* of requests in flight, and the ratio of sequential requests */
	bool is_hostile, has_loss, is_absolute;
};

static void odd_profile(const struct odd *o, struct buf *out)
{
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "odd");
	snprintf(p.device, sizeof(p.device), "%s", o->device);
	snprintf(p.device_name, sizeof(p.device_name), "%s", o->device);
	p.begin_s = o->begin_s;
	p.end_s = o->end_s;
	for (int op = 0; op < NR_OPERATIONS; op++)
		p.requests[op] = p.bytes[op] = o->count;
	p.lost = p.errors = o->count;
	p.all_sequential_ratio = o->mean;
	p.closed.in_flight_mean = o->mean;
	profile_grade(&p);
	if (profile_to_json(&p, PROFILE_JSON_LINE, out) < 0)
		abort();
	buf_put(out, "", 1);
	profile_release(&p);
}

static void odd_write(const char *dir, const struct odd *o)
{
	struct loss loss = { .count = o->count,
			     .count_known = true,
			     .end_real_ns = TRACE_TIME_MAX_NS };
	struct request r[NR_REQUESTS];
	struct segment_hash hash;
	struct ledger ledger;
	struct buf profile, segment;
	char path[512], text[SEGMENT_HASH_TEXT];
	struct sample s = { .host = "odd",
			    .boot_id = "b",
			    .epoch = o->epoch,
			    .sequence = o->sequence,
			    .real_offset_ns = o->real_ns,
			    .end_ns = 1000000000,
			    .is_hostile = o->is_hostile };

	buf_init(&profile);
	buf_init(&segment);
	ledger_init(&ledger);
	if (o->device) {
		odd_profile(o, &profile);
		s.profile = (const char *)profile.data;
	}
	if (o->has_loss && ledger_add(&ledger, &loss) == 0)
		s.ledger = &ledger;
	sample_requests(o->sequence + 1, 0, s.end_ns, r, NR_REQUESTS);
	sample_segment(&s, r, NR_REQUESTS, &segment);
	hash = segment_hash_of(segment.data, segment.len);
	segment_hash_text(&hash, text);
	snprintf(path, sizeof(path), "%s/%" PRIu64 "-%" PRIu64 ".seg", dir, o->epoch, o->sequence);
	sample_write(path, segment.data, segment.len);
	printf("odd b %" PRIu64 " %" PRIu64 " %s %s %s\n", o->epoch, o->sequence, text, path,
	       o->what);
	ledger_release(&ledger);
	buf_release(&segment);
	buf_release(&profile);
}

/* Times of those that are not absolute count from the begin of the day. */
static const struct odd odd_all[] = {
	{ .what = "names with bytes that are not UTF-8", .is_hostile = true },
	{ .what = "text of a profile with controls",
	  .device = "\x01\x1f\x7f\xef\xbf\xbf",
	  .end_s = 1 },
	{ .what = "bytes of a profile that are no UTF-8",
	  .device = "\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80",
	  .end_s = 1 },
	{ .what = "the largest counts in a short window",
	  .device = "8:0",
	  .end_s = 1e-6,
	  .count = SEGMENT_MAX_COUNT,
	  .mean = 1e308,
	  .has_loss = true },
	{ .what = "the smallest numbers, from 1970 on",
	  .is_absolute = true,
	  .device = "8:0",
	  .end_s = 5e-324,
	  .count = 1,
	  .mean = 5e-324 },
	{ .what = "numbers that are infinite", .device = "8:0", .end_s = 1, .mean = INFINITY },
	{ .what = "numbers that are none", .device = "8:0", .end_s = 1, .mean = NAN },
	{ .what = "a window until the end of time",
	  .is_absolute = true,
	  .device = "8:0",
	  .end_s = 1.8446744e10 },
	{ .what = "a clock at the end of time",
	  .is_absolute = true,
	  .real_ns = TRACE_TIME_MAX_NS - DAY_NS },
	{ .what = "the last epoch and the last sequence",
	  .epoch = SEGMENT_EPOCH_MAX,
	  .sequence = SEGMENT_SEQUENCE_MAX },
	{ .what = "a profile of the next day",
	  .device = "8:0",
	  .begin_s = DAY_S,
	  .end_s = DAY_S + 1 },
	{ .what = "a profile of a day long before",
	  .device = "8:0",
	  .begin_s = -9 * DAY_S,
	  .end_s = -9 * DAY_S + 1 },
	{ .what = "a segment of that next day", .real_ns = DAY_NS },
	{ .what = "a segment of that day before", .real_ns = -9 * DAY_NS },
};

int main(int argc, char **argv)
{
	const uint64_t day = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc != 3) {
		fprintf(stderr, "usage: odd_segments DIR DAY\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(odd_all) / sizeof(odd_all[0]); i++) {
		struct odd one = odd_all[i];

		if (!one.is_absolute) {
			one.real_ns += day * DAY_NS;
			one.begin_s += (double)day * DAY_S;
			one.end_s += (double)day * DAY_S;
		}
		if (!one.sequence)
			one.sequence = i;
		odd_write(argv[1], &one);
	}
	return 0;
}
