/* SPDX-License-Identifier: Apache-2.0 */
/* Phases of a load: kinds, gaps, short phases, and the longest of many. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/characterize/phase.h"
#include "tests/support/tap.h"

#define NR 20

static struct phase_column columns[NR];

/* Sets columns [from, to) to seconds with that many sequential reads and random writes. */
static void fill(size_t from, size_t to, double reads, double writes)
{
	for (size_t i = from; i < to; i++)
		columns[i] = (struct phase_column){ .begin_s = (double)i,
						    .end_s = (double)i + 1,
						    .watched_s = 1,
						    .requests = reads + writes,
						    .reads = reads,
						    .writes = writes,
						    .bytes = 4096 * (reads + writes),
						    .sequential = reads,
						    .sequential_of = reads + writes };
}

static void kinds_follow_one_another(void)
{
	struct phase *p = NULL;
	size_t nr = 0;

	fill(0, 8, 100, 0);
	fill(8, 14, 0, 50);
	fill(14, NR, 0, 0);
	ok_int(phases_find(columns, NR, &p, &nr), 0);
	ok_int((long long)nr, 3);
	ok_str(p[0].kind, "reads");
	ok_str(p[0].access, "sequential");
	ok(p[0].requests_per_s == 100 && p[0].size_mean_bytes == 4096);
	ok_str(p[1].kind, "writes");
	ok_str(p[1].access, "random");
	ok(p[1].begin_s == 8 && p[1].end_s == 14);
	ok_str(p[2].kind, "idle");
	ok_str(p[2].access, "");
	ok(isnan(p[2].size_mean_bytes));
	ok_int((long long)phases_longest(p, nr, 2), 2);
	ok(p[0].first == 0 && p[1].first == 8);
	free(p);
}

static void unwatched_time_ends_a_phase(void)
{
	struct phase *p = NULL;
	size_t nr = 0;

	fill(0, NR, 100, 0);
	columns[10] = (struct phase_column){ .begin_s = 10, .end_s = 11 };
	/* Only half of this column was watched, in which the rate was the same. */
	fill(11, 12, 50, 0);
	columns[11].watched_s = 0.5;
	ok_int(phases_find(columns, NR, &p, &nr), 0);
	ok_int((long long)nr, 2);
	ok(p[0].end_s == 10 && p[1].begin_s == 11);
	ok(p[0].requests_per_s == 100 && p[1].requests_per_s == 100);
	free(p);
}

static void a_short_phase_belongs_to_the_one_before(void)
{
	struct phase *p = NULL;
	size_t nr = 0;

	fill(0, NR, 100, 0);
	fill(5, 6, 0, 100);
	ok_int(phases_find(columns, NR, &p, &nr), 0);
	ok_int((long long)nr, 1);
	ok(p[0].first == 0 && p[0].end == NR);
	free(p);
	fill(5, 7, 0, 100);
	ok_int(phases_find(columns, NR, &p, &nr), 0);
	ok_int((long long)nr, 3);
	free(p);
}

static void nothing_has_no_phase(void)
{
	struct phase *p = NULL;
	size_t nr = 1;

	ok_int(phases_find(columns, 0, &p, &nr), 0);
	ok_int((long long)nr, 0);
	free(p);
}

static const struct tap_test tests[] = {
	{ "kinds of load follow one another", kinds_follow_one_another },
	{ "unwatched time ends a phase", unwatched_time_ends_a_phase },
	{ "a short phase belongs to the one before", a_short_phase_belongs_to_the_one_before },
	{ "nothing has no phase", nothing_has_no_phase },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
