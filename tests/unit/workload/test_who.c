/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/tap.h"
#include "workload/who.h"

static struct request request_of(uint32_t pid, uint8_t operation, uint32_t bytes, uint32_t ms)
{
	return (struct request){ .pid = pid,
				 .operation = operation,
				 .bytes = bytes,
				 .arrival_ns = 1000,
				 .dispatch_ns = 1000,
				 .completion_ns = 1000 + ms * 1000000ull };
}

static void add(struct who *w, uint32_t pid, uint8_t operation, uint32_t bytes, uint32_t ms)
{
	struct request r = request_of(pid, operation, bytes, ms);

	who_add(w, pid, &r);
}

static void sums_are_those_of_the_requests(void)
{
	struct request untimed = request_of(7, OPERATION_READ, 512, 9);
	struct request undivided = request_of(7, OPERATION_OTHER, 100, 1);
	struct who_entry *e;
	struct who w;

	untimed.flags = REQUEST_NO_COMPLETION;
	undivided.flags = REQUEST_NO_OPERATION;
	ok_int(who_init(&w, 4), 0);
	add(&w, 7, OPERATION_READ, 4096, 2);
	add(&w, 7, OPERATION_WRITE, 8192, 4);
	add(&w, 7, OPERATION_DISCARD, 1 << 20, 3);
	who_add(&w, 7, &untimed);
	who_add(&w, 7, &undivided);
	e = who_find(&w, 7);
	if (ok(e != NULL)) {
		ok_eq(e->sum.requests, 5);
		ok_eq(e->sum.nr[OPERATION_READ], 2);
		ok_eq(e->sum.nr[OPERATION_WRITE], 1);
		ok_eq(who_sum_bytes(&e->sum), 4096 + 8192 + 512 + 100);
		ok_eq(e->sum.nr_timed, 4);
		ok_near(who_sum_mean_s(&e->sum), 0.0025, 1e-12);
	}
	ok(isnan(who_sum_mean_s(&w.others)));
	ok(!who_find(&w, 8));
	who_release(&w);
}

static void a_full_table_adds_up_the_others(void)
{
	struct who_sum total;
	struct who w;

	ok_int(who_init(&w, 3), 0);
	for (uint32_t pid = 0; pid < 10; pid++)
		for (uint32_t i = 0; i <= pid; i++)
			add(&w, pid, OPERATION_READ, 512, 1);
	total = who_total(&w);
	ok_eq(w.nr, 3);
	ok_eq(total.requests, 55);
	ok_eq(w.others.requests, 49);
	ok_eq(who_rest(&w, 2).requests, 52);
	who_rank(&w);
	ok_eq(w.items[0].key, 2);
	ok_eq(w.items[2].key, 0);
	who_clear(&w);
	ok_eq(who_total(&w).requests, 0);
	add(&w, 2, OPERATION_READ, 512, 1);
	ok_eq(who_find(&w, 2)->sum.requests, 1);
	who_release(&w);
}

static void merged_tables_are_the_whole(void)
{
	struct who a, b;

	ok(!who_init(&a, 2) && !who_init(&b, 3));
	add(&a, 1, OPERATION_READ, 512, 1);
	for (uint32_t pid = 1; pid <= 4; pid++)
		add(&b, pid, OPERATION_WRITE, 512, 1);
	snprintf(who_find(&b, 1)->name, WHO_NAME_BYTES, "one");
	snprintf(who_find(&b, 2)->name, WHO_NAME_BYTES, "two");
	who_merge(&a, &b);
	ok_eq(who_total(&a).requests, 5);
	ok_eq(who_total(&a).nr[OPERATION_WRITE], 4);
	ok_eq(a.others.requests, 2);
	ok_str(who_find(&a, 1)->name, "one");
	ok_str(who_find(&a, 2)->name, "two");
	who_release(&a);
	who_release(&b);
}

static const struct tap_test tests[] = {
	{ "sums are those of the requests", sums_are_those_of_the_requests },
	{ "a full table adds up the others", a_full_table_adds_up_the_others },
	{ "merged tables are the whole", merged_tables_are_the_whole },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
