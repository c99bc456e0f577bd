// SPDX-License-Identifier: Apache-2.0
/* issuers: the tables of several processes, joined, are those of one process. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/characterize/issuers.h"
#include "tests/support/tap.h"

#define NAMES_AT_ONCE 100

/* Adds a request for each of the names p<first>, p<first + 1>, ... as one segment of a trace. */
static void issue(struct issuers *w, uint64_t trace, unsigned int first, unsigned int nr)
{
	struct segment_process processes[NAMES_AT_ONCE] = { 0 };
	struct segment_header h = { .sequence = first, .processes = processes, .nr_processes = nr };

	for (unsigned int i = 0; i < nr; i++) {
		processes[i].pid = i + 1;
		snprintf(processes[i].comm, sizeof(processes[i].comm), "p%u", first + i);
	}
	ok_int(issuers_segment(w, trace, &h), 0);
	for (unsigned int i = 0; i < nr; i++) {
		const struct request r = { .pid = i + 1,
					   .bytes = 4096 * (i + 1),
					   .arrival_ns = 1000,
					   .completion_ns = 1000 + 100000003ull * (first + i) };

		issuers_add(w, &r);
	}
}

static void join(struct issuers *to, const struct issuers *from)
{
	struct cursor in;
	struct buf b;

	buf_init(&b);
	ok_int(issuers_write(from, &b), 0);
	in = cursor_make(b.data, b.len);
	ok_int(issuers_join(to, &in), 0);
	ok_eq(cursor_left(&in), 0);
	buf_release(&b);
}

static void joined_tables_are_those_of_one_process(void)
{
	struct issuers whole, a, b, both;
	struct buf one, joined;

	ok(!issuers_init(&whole) && !issuers_init(&a) && !issuers_init(&b) && !issuers_init(&both));
	for (unsigned int i = 0; i < 4; i++) {
		issue(&whole, i, 30 * i, 50);
		issue(i % 2 ? &b : &a, i, 30 * i, 50);
	}
	buf_init(&one);
	buf_init(&joined);
	join(&both, &b);
	join(&both, &a);
	ok(issuers_have_room(&both));
	issuers_rank(&whole);
	issuers_rank(&both);
	issuers_csv(&whole, 1000, &one);
	issuers_csv(&both, 1000, &joined);
	ok_eq(one.len, joined.len);
	ok(one.len > 140 * 20 && !memcmp(one.data, joined.data, one.len));
	ok(whole.processes.items[0].sum.time_ns == both.processes.items[0].sum.time_ns);
	buf_release(&one);
	buf_release(&joined);
	issuers_release(&whole);
	issuers_release(&a);
	issuers_release(&b);
	issuers_release(&both);
}

static void a_torn_table_is_refused(void)
{
	struct issuers w, to;
	struct cursor in;
	struct buf b;

	ok(!issuers_init(&w) && !issuers_init(&to));
	issue(&w, 1, 0, 5);
	buf_init(&b);
	ok_int(issuers_write(&w, &b), 0);
	in = cursor_make(b.data, b.len - 1);
	ok_int(issuers_join(&to, &in), -EBADMSG);
	buf_release(&b);
	issuers_release(&w);
	issuers_release(&to);
}

static void full_tables_have_no_room(void)
{
	struct issuers w;
	unsigned int nr = 0;

	ok_int(issuers_init(&w), 0);
	for (; nr + NAMES_AT_ONCE < ISSUERS_NAMES; nr += NAMES_AT_ONCE)
		issue(&w, 1, nr, NAMES_AT_ONCE);
	ok(issuers_have_room(&w));
	issue(&w, 1, nr, NAMES_AT_ONCE);
	ok(!issuers_have_room(&w));
	ok(w.processes.others.requests > 0);
	issuers_release(&w);
}

static const struct tap_test tests[] = {
	{ "joined tables are those of one process", joined_tables_are_those_of_one_process },
	{ "a torn table is refused", a_torn_table_is_refused },
	{ "full tables have no room", full_tables_have_no_room },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
