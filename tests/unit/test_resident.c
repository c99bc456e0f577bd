/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent runs for months and must not grow. Its tables are resident from the start, so that
 * using them further than ever before makes no page resident.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/capture/reorder.h"
#include "agent/guest/task.h"
#include "base/array.h"
#include "formats/segment/segment.h"
#include "tests/support/tap.h"

/* A table that is resident still meets these faults: of the stack, of code and of the heap. */
#define FEW_PAGE_FAULTS 32
#define NR_PAGES	64

static long nr_page_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* A sanitizer and an emulator keep books of their own in memory, and their faults count. */
static void skip_where_others_take_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	tap_skip("native", "a sanitizer takes memory as well");
#endif
	if (getenv("BLKCAST_EMULATED"))
		tap_skip("native", "an emulator takes memory as well");
}

static size_t nr_resident(void *at, size_t bytes)
{
	unsigned char pages[NR_PAGES] = { 0 };
	size_t nr = 0;

	ok_int(mincore(at, bytes, pages), 0);
	for (size_t i = 0; i < NR_PAGES; i++)
		nr += pages[i] & 1;
	return nr;
}

static void touching_keeps_the_content(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = NR_PAGES * page;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!ok(at != MAP_FAILED))
		return;
	memset(at, 'x', page);
	ok(nr_resident(at, bytes) < NR_PAGES);
	array_touch(at, bytes / 8, 8);
	ok_eq(nr_resident(at, bytes), NR_PAGES);
	ok(at[0] == 'x' && at[page - 1] == 'x' && !at[page] && !at[bytes - 1]);
	array_touch(NULL, 5, 8);
	array_touch(at, 0, 8);
	munmap(at, bytes);
}

static void take_nothing(void *ctx, struct request *r, size_t nr)
{
	(void)ctx;
	(void)r;
	(void)nr;
}

/* Otherwise the first long stall would make the agent grow. */
static void reorder_is_resident(void)
{
	struct reorder_sink sink = { take_nothing, NULL };
	struct reorder *o;
	long before;

	skip_where_others_take_memory();
	ok_int(reorder_new(&o, REORDER_MAX_HELD, &sink), 0);
	before = nr_page_faults();
	for (uint64_t i = 0; i < REORDER_MAX_HELD; i++) {
		struct request r = { .arrival_ns = i, .dispatch_ns = i, .completion_ns = i + 9 };

		reorder_add(o, &r);
	}
	ok(nr_page_faults() - before <= FEW_PAGE_FAULTS);
	reorder_free(o);
}

/* A table that is made anew whenever it is full lets the agent grow and shrink by its size. */
static void task_table_stays_where_it_is(void)
{
	const struct segment_process *p;
	struct task_table *t;
	long before;

	skip_where_others_take_memory();
	ok_int(task_table_new(&t, TASK_MAX), 0);
	before = nr_page_faults();
	for (uint32_t pid = 1; pid < 4 * TASK_MAX; pid++)
		task_table_note(t, pid, pid, "any");
	for (uint32_t pid = 1; pid < TASK_MAX; pid++)
		task_table_use(t, pid);
	task_table_collect(t, &p);
	ok(nr_page_faults() - before <= FEW_PAGE_FAULTS);
	task_table_free(t);
}

/* The agent's writer must not grow when a segment is fuller than any before. */
static void segment_writer_is_resident(void)
{
	static struct request r[SEGMENT_MAX_REQUESTS / 2];
	const size_t nr = sizeof(r) / sizeof(*r);
	struct segment_writer *w;
	size_t refused = 0;
	long before;

	skip_where_others_take_memory();
	for (size_t i = 0; i < nr; i++)
		r[i] = (struct request){ .arrival_ns = i,
					 .dispatch_ns = i,
					 .completion_ns = i + 5,
					 .sector = i * 1000003 % 4096 * 8,
					 .bytes = 4096 };
	ok_int(segment_writer_new(&w), 0);
	ok_int(segment_writer_reserve(w, nr), 0);
	before = nr_page_faults();
	for (size_t i = 0; i < nr; i++)
		refused += segment_writer_add(w, &r[i]) != 0;
	ok_eq(refused, 0);
	ok(nr_page_faults() - before <= FEW_PAGE_FAULTS);
	segment_writer_free(w);
}

static const struct tap_test tests[] = {
	{ "touching makes all of an array resident and keeps its content",
	  touching_keeps_the_content },
	{ "the requests that are held have their memory from the start", reorder_is_resident },
	{ "the table of processes stays in the memory it has", task_table_stays_where_it_is },
	{ "the room that a writer of segments reserves is resident", segment_writer_is_resident },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
