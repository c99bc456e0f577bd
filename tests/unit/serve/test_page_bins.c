/* SPDX-License-Identifier: Apache-2.0 */
/* What requests found, from the text of a window to the columns of the live page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/period/page_column.h"
#include "analyzer/serve/period/page_window.h"
#include "tests/support/tap.h"
#include "tests/support/traffic.h"
#include "workload/window.h"

#define NR     3000
#define SECOND 1000000000ull

static char *window_text(struct profile *p)
{
	static const struct window_config defaults;
	static struct request r[NR];
	struct traffic t = { 1 };
	struct window *w = NULL;
	struct buf text;

	traffic_random_4k(&t, r, NR, 1ull << 34);
	profile_init(p);
	ok_int(window_new(&w, &defaults, 0), 0);
	ok_int(window_add_many(w, r, NR), 0);
	ok_int(window_profile(w, 2 * SECOND, p), 0);
	window_free(w);
	memcpy(p->device, "8:0", 4);
	p->begin_s = 10;
	p->end_s = 12;
	p->quality.coverage_ratio = 1;
	buf_init(&text);
	if (profile_to_json(p, PROFILE_JSON_LINE, &text) || buf_put_u8(&text, 0))
		abort();
	return (char *)text.data;
}

static double sum_of(const struct bins *b, enum bins_kind kind)
{
	double sum = 0;

	for (int i = 0; i < MIRROR_BINS; i++)
		sum += b->counts[kind][0][i] + b->counts[kind][1][i];
	return sum;
}

static void a_window_keeps_its_tallies(void)
{
	struct profile p, q;
	char *text = window_text(&p);
	bool is_other = true;

	ok_int(page_window_read(text, "8:0", &q, &is_other), 0);
	ok(!is_other);
	for (int i = 0; i < NR_TALLIES; i++) {
		const struct arrival_tally *a = &p.write.arrivals[i], *b = &q.write.arrivals[i];

		ok(a->nr > 1);
		ok_eq(b->nr, a->nr);
		ok(a->nr == b->nr && !memcmp(a->counts, b->counts, a->nr * sizeof(*a->counts)));
	}
	profile_release(&p);
	profile_release(&q);
	free(text);
}

static void wrong_tallies_are_refused(void)
{
	static const char *const lists[] = { "[[17,1]]", "[[4,1],[4,1]]", "[[4,0]]",
					     "[[4]]",	 "[[-1,1]]",	  "{}",
					     "[[4,-1]]" };

	for (size_t i = 0; i < TAP_NR(lists); i++) {
		char text[300];
		struct profile p;
		bool is_other;

		snprintf(text, sizeof(text),
			 "{\"schema\":\"blkcast.profile/1\",\"device\":\"8:0\",\"begin_s\":1,"
			 "\"end_s\":2,\"requests\":{\"read\":5},"
			 "\"arrivals\":{\"read\":{\"outstanding\":%s}}}",
			 lists[i]);
		ok_int(page_window_read(text, "8:0", &p, &is_other), -EBADMSG);
		profile_release(&p);
	}
}

static void columns_add_them_exactly(void)
{
	struct page_column a = { 0 }, parts = { 0 }, again = { 0 }, head;
	static struct page_gather gather;
	struct profile p;
	struct cursor from;
	struct buf packed;

	free(window_text(&p));
	ok_int(page_column_add(&a, &p), 0);
	ok_near(sum_of(&a.found, BINS_OUTSTANDING), NR, 0);
	ok_near(sum_of(&a.found, BINS_SEEK), NR - 1, 0);
	for (int i = 0; i < 7; i++)
		ok_int(page_column_add_part(&parts, &p, i / 7.0, (i + 1) / 7.0), 0);
	ok(!memcmp(&parts.found, &a.found, sizeof(a.found)));
	buf_init(&packed);
	ok_int(page_column_pack(&a, &packed), 0);
	ok_int(page_column_pack(&a, &packed), 0);
	from = cursor_make(packed.data, packed.len);
	ok_int(page_column_next_packed(&from, &head), 0);
	ok_int(page_column_merge_packed(NULL, &head, &from, NULL), 0); /* passes the first */
	ok_int(page_column_next_packed(&from, &head), 0);
	ok_int(page_column_merge_packed(&again, &head, &from, &gather), 0);
	ok(!memcmp(&again.found, &a.found, sizeof(a.found)));
	ok_int(page_column_next_packed(&from, &head), -ENODATA);
	buf_release(&packed);
	page_column_release(&a);
	page_column_release(&parts);
	page_column_release(&again);
	profile_release(&p);
}

static const struct tap_test tests[] = {
	{ "a window is read with what its requests found", a_window_keeps_its_tallies },
	{ "lists that are not of the grid are refused", wrong_tallies_are_refused },
	{ "columns and their packed form add the counts exactly", columns_add_them_exactly },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
