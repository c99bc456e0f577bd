/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "formats/segment/segment.h"
#include "tests/support/tap.h"
#include "tests/support/traffic.h"

/* A segment of the second half of the requests, by a writer that wrote all of them before. */
static void encode_again(const struct request *r, size_t nr, bool gives_back, struct buf *out)
{
	struct segment_writer *w = NULL;
	struct segment_header h = { .host = "web1", .boot_id = "boot" };

	ok_int(segment_writer_new(&w), 0);
	if (gives_back) {
		ok_int(segment_writer_reserve(w, nr - 5000), 0); /* it grows beyond that */
		segment_writer_give_back(w);
	}
	for (size_t i = 0; i < nr; i++)
		segment_writer_add(w, &r[i]);
	ok_int(segment_writer_finish(w, &h, out), 0);
	buf_clear(out);
	for (size_t i = nr / 2; i < nr; i++) {
		if (gives_back && i % 3000 == 0)
			segment_writer_give_back(w);
		segment_writer_add(w, &r[i]);
	}
	if (gives_back)
		segment_writer_give_back(w);
	ok_int(segment_writer_finish(w, &h, out), 0);
	segment_writer_free(w);
}

static void memory_given_back_changes_no_segment(void)
{
	const size_t nr = 20000;
	struct request *r = calloc(nr, sizeof(*r));
	struct traffic t = { 5 };
	struct buf plain = { 0 }, thrifty = { 0 };

	if (!ok(r != NULL))
		return;
	traffic_random_4k(&t, r, nr, 1ull << 30);
	encode_again(r, nr, false, &plain);
	encode_again(r, nr, true, &thrifty);
	ok(plain.len > nr);
	ok_eq(thrifty.len, plain.len);
	ok(thrifty.len == plain.len && !memcmp(thrifty.data, plain.data, plain.len));
	buf_release(&plain);
	buf_release(&thrifty);
	free(r);
}

static const struct tap_test tests[] = {
	{ "a segment is the same where memory is given back before and between its requests",
	  memory_given_back_changes_no_segment },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
