/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analyzer/characterize/short_profiles.h"
#include "formats/summary/segment_summary.h"
#include "tests/support/tap.h"

static void keep(struct short_profiles *s, uint8_t source, double length_s)
{
	struct profile p;

	profile_init(&p);
	p.source = source;
	p.begin_s = 1000;
	p.end_s = 1000 + length_s;
	ok_int(short_profiles_add(s, &p), 0);
	profile_release(&p);
}

static size_t one_profile_bytes(void)
{
	struct profile p;
	size_t bytes;

	profile_init(&p);
	bytes = summary_profile_bytes(&p);
	profile_release(&p);
	return bytes;
}

static void what_fits_is_kept_in_order(void)
{
	struct short_profiles s;

	short_profiles_init(&s, 3 * one_profile_bytes());
	keep(&s, SOURCE_BPF, 60);
	keep(&s, SOURCE_BPF, 1);
	keep(&s, SOURCE_DISKSTATS, 900);
	ok(s.nr == 3 && s.items[0].end_s == 1060 && s.items[1].end_s == 1001);
	ok(short_profiles_has_all(&s, 1e9));
	short_profiles_release(&s);
}

static void the_longest_make_room(void)
{
	struct short_profiles s;

	short_profiles_init(&s, 3 * one_profile_bytes());
	keep(&s, SOURCE_DISKSTATS, 900);
	keep(&s, SOURCE_BPF, 60);
	keep(&s, SOURCE_BPF, 1);
	keep(&s, SOURCE_BPF, 40);
	/* From half of 60 s on they are dropped, also those that come later. */
	keep(&s, SOURCE_BPF, 30);
	ok_eq(s.nr, 2);
	ok(s.items[0].source == SOURCE_DISKSTATS && s.items[1].end_s == 1001);
	ok(short_profiles_has_all(&s, 29.9) && !short_profiles_has_all(&s, 30));
	keep(&s, SOURCE_BPF, 2);
	ok_eq(s.nr, 3);
	ok(s.bytes <= s.max_bytes);
	short_profiles_release(&s);
}

static void too_many_counters_leave_nothing(void)
{
	struct short_profiles s;

	short_profiles_init(&s, 3 * one_profile_bytes());
	for (int i = 0; i < 10; i++)
		keep(&s, i % 2 ? SOURCE_BPF : SOURCE_DISKSTATS, i % 2 ? 1 : 900);
	ok(!short_profiles_has_all(&s, 0));
	ok_eq(s.nr, 0);
	ok_eq(s.bytes, 0);
	short_profiles_release(&s);
}

static const struct tap_test tests[] = {
	{ "profiles that fit are kept in their order", what_fits_is_kept_in_order },
	{ "where they do not fit the longest make room", the_longest_make_room },
	{ "more counters than fit leave nothing", too_many_counters_leave_nothing },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
