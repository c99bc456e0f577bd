/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory/pages.h"
#include "tests/support/tap.h"

#define NR_PAGES 8

/* How many pages of the memory are resident; data begins a page. */
static unsigned int nr_resident(void *data, size_t nr_pages, size_t page_bytes)
{
	unsigned char in_core[NR_PAGES];
	unsigned int nr = 0;

	if (mincore(data, nr_pages * page_bytes, in_core))
		return ~0u;
	for (size_t i = 0; i < nr_pages; i++)
		nr += in_core[i] & 1;
	return nr;
}

static size_t count_bytes(const uint8_t *data, size_t nr, uint8_t value)
{
	size_t found = 0;

	for (size_t i = 0; i < nr; i++)
		found += data[i] == value;
	return found;
}

static void whole_pages_go_and_no_byte_beside_them(void)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), all = NR_PAGES * page_bytes;
	uint8_t *data = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!ok(data != MAP_FAILED))
		return;
	memset(data, 7, all);
	ok_eq(nr_resident(data, NR_PAGES, page_bytes), NR_PAGES);
	pages_forget(data, 5, page_bytes - 1); /* no whole page */
	pages_forget(data, page_bytes + 1, 2 * page_bytes);
	pages_forget(data, 100, 100);
	pages_forget(data, 200, 100);
	ok_eq(count_bytes(data, all, 7), all);
	/* From within the second page to within the seventh: the four between them. */
	pages_forget(data, page_bytes + 1, 7 * page_bytes - 1);
	ok_eq(nr_resident(data, NR_PAGES, page_bytes), NR_PAGES - 4);
	ok_eq(count_bytes(data, 2 * page_bytes, 7), 2 * page_bytes);
	ok_eq(count_bytes(data + 2 * page_bytes, 4 * page_bytes, 0), 4 * page_bytes);
	ok_eq(count_bytes(data + 6 * page_bytes, 2 * page_bytes, 7), 2 * page_bytes);
	munmap(data, all);
}

static void nothing_has_no_pages(void)
{
	pages_forget(NULL, 0, 0);
	ok(true);
}

static const struct tap_test tests[] = {
	{ "whole pages are given back, and no byte beside them changes",
	  whole_pages_go_and_no_byte_beside_them },
	{ "no memory has no pages", nothing_has_no_pages },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
