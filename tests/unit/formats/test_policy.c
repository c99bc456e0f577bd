/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "formats/policy.h"
#include "tests/support/tap.h"

static void a_policy_is_read_as_it_was_printed(void)
{
	const struct policy p = { 50000, 60, 600, 20000, 300 };
	struct policy back = POLICY_NONE;
	char text[POLICY_FIELD_BYTES];
	struct err err = { 0 };

	policy_print(&p, text);
	ok_str(text, "1 50000 60 600 20000 300");
	ok_int(policy_parse(&back, text, &err), 0);
	ok(memcmp(&p, &back, sizeof(p)) == 0);
	ok(!policy_limits(&POLICY_NONE) && policy_limits(&p));
}

/* An analyzer may send anything: whatever is not a policy changes nothing. */
static void what_is_no_policy_is_refused_in_one_line(void)
{
	static const char *const wrong[] = {
		"",
		" ",
		"1",
		"1 0 60 0 0",
		"1 0 60 0 0 0 ",
		" 1 0 60 0 0 0",
		"1  0 60 0 0 0",
		"1 0 60 0 0 0 0",
		"2 0 60 0 0 0",
		"1 -1 60 0 0 0",
		"1 +1 60 0 0 0",
		"1 1000001 60 0 0 0",
		"1 0 0 0 0 0",
		"1 0 3601 0 0 0",
		"1 0 60 3601 0 0",
		"1 0 60 0 1000000001 0",
		"1 0 60 0 0 109",
		"1 0 60 0 0 100001",
		"1 0x1 60 0 0 0",
		"1 1e3 60 0 0 0",
		"1 4294967296 60 0 0 0",
		"1 99999999999999999999 60 0 0 0",
		"1 0 60 0 0 0\r\nX: y",
		"1 0 60 0 0 nan",
	};
	const struct policy before = { 1, 2, 3, 4, 500 };

	for (size_t i = 0; i < TAP_NR(wrong); i++) {
		struct policy p = before;
		struct err err = { 0 };

		if (policy_parse(&p, wrong[i], &err) == 0 || memcmp(&p, &before, sizeof(p)) ||
		    strncmp(err.line, "policy: ", 8) != 0 || strchr(err.line, '\n'))
			ok_str(wrong[i], "refused");
	}
	ok(true);
}

/* XXH64 as its specification has it, for inputs shorter than 32 bytes. */
static uint64_t literal_rotl(uint64_t v, int by)
{
	return v << by | v >> (64 - by);
}

static uint64_t literal_hash(const char *text, uint64_t seed)
{
	const uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9,
		       p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;
	size_t left = strlen(text);
	uint64_t h = seed + p5 + left;

	for (; left >= 8; left -= 8, text += 8) {
		uint64_t lane = 0;

		for (int i = 7; i >= 0; i--)
			lane = lane << 8 | (uint8_t)text[i];
		h = literal_rotl(h ^ literal_rotl(lane * p2, 31) * p1, 27) * p1 + p4;
	}
	if (left >= 4) {
		uint64_t lane = 0;

		for (int i = 3; i >= 0; i--)
			lane = lane << 8 | (uint8_t)text[i];
		h = literal_rotl(h ^ lane * p1, 23) * p2 + p3;
		left -= 4;
		text += 4;
	}
	for (; left; left--, text++)
		h = literal_rotl(h ^ (uint8_t)*text * p5, 11) * p1;
	h = (h ^ h >> 33) * p2;
	h = (h ^ h >> 29) * p3;
	return h ^ h >> 32;
}

/* formats/policy.md, literally. */
static bool literal_chooses(uint32_t sample_ppm, uint32_t window_s, const char *host,
			    uint64_t begin_real_ns)
{
	const uint64_t begin_s = begin_real_ns / 1000000000;
	const uint64_t h = literal_hash(host, (begin_s - begin_s % window_s) / window_s);

	return (unsigned __int128)(h / 4294967296) * 1000000 <
	       (unsigned __int128)sample_ppm * 4294967296;
}

static void a_share_is_rounded_to_millionths(void)
{
	ok_int(policy_ppm(0.7 / 100), 7000);
	ok_int(policy_ppm(0), 0);
	ok_int(policy_ppm(1), 1000000);
}

static void windows_are_chosen_as_the_format_says(void)
{
	static const char *const hosts[] = { "web1", "a", "db-with-a-longer-name.test" };
	static const uint32_t shares[] = { 0, 1, 50000, 500000, 999999, 1000000 };
	const uint64_t from_ns = 1767225600000000000, step_ns = 7300000000;

	for (size_t h = 0; h < TAP_NR(hosts); h++) {
		for (size_t s = 0; s < TAP_NR(shares); s++) {
			const struct policy p = { .sample_ppm = shares[s], .window_s = 60 };
			uint64_t nr = 0, nr_literal = 0, nr_differ = 0;

			for (uint64_t i = 0; i < 5000; i++) {
				bool is = policy_chooses(&p, hosts[h], from_ns + i * step_ns);
				bool should = literal_chooses(shares[s], 60, hosts[h],
							      from_ns + i * step_ns);

				nr += is;
				nr_literal += should;
				nr_differ += is != should;
			}
			ok_eq(nr_differ, 0);
			ok_eq(nr, nr_literal);
		}
	}
}

/* 20 000 windows: the number that are chosen is binomial, and 5 deviations away never comes. */
static void as_many_are_chosen_as_was_told(void)
{
	const struct policy small = { .sample_ppm = 50000, .window_s = 1 },
			    large = { .sample_ppm = 100000, .window_s = 1 };
	uint64_t nr = 0, nr_lost = 0, nr_both = 0;

	for (uint64_t i = 0; i < 20000; i++) {
		bool is = policy_chooses(&small, "web1", i * 1000000000);

		nr += is;
		nr_lost += is && !policy_chooses(&large, "web1", i * 1000000000 + 999999999);
		nr_both += is && policy_chooses(&small, "web2", i * 1000000000);
	}
	ok(nr > 1000 - 155 && nr < 1000 + 155);
	ok_eq(nr_lost, 0);
	ok(nr_both < 100); /* 50 are expected: hosts are chosen independently */
}

static const struct tap_test tests[] = {
	{ "a policy is read as it was printed", a_policy_is_read_as_it_was_printed },
	{ "what is no policy is refused in one line", what_is_no_policy_is_refused_in_one_line },
	{ "a share is rounded to millionths", a_share_is_rounded_to_millionths },
	{ "windows are chosen as the format says", windows_are_chosen_as_the_format_says },
	{ "as many are chosen as was told", as_many_are_chosen_as_was_told },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
