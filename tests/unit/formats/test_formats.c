/* SPDX-License-Identifier: Apache-2.0 */
/* err, buf, request and ledger: what every other module stands on. */
#include <errno.h>
#include <string.h>

#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/ledger.h"
#include "formats/request.h"
#include "tests/support/tap.h"

static void err_is_one_line(void)
{
	struct err e = { 0 };
	char longer[2 * ERR_LINE_BYTES];

	ok_int(err_set(&e, EINVAL, "a.yaml:%d: window: expected\na time\r", 7), -EINVAL);
	ok_str(e.line, "a.yaml:7: window: expected\\x0aa time\\x0d");
	ok_int(e.code, EINVAL);
	ok_int(err_set(NULL, ENOMEM, "x"), -ENOMEM);
	err_prefix(&e, "plan '%s'\n", "p");
	ok_str(e.line, "plan 'p'\\x0a: a.yaml:7: window: expected\\x0aa time\\x0d");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	err_set(&e, EIO, "%s", longer);
	ok_eq(strlen(e.line), ERR_LINE_BYTES - 1);
	err_prefix(&e, "%s", longer);
	ok_eq(strlen(e.line), ERR_LINE_BYTES - 1);
	ok(!strncmp(e.line, "xxxx", 4));
	e.line[0] = 0;
	err_prefix(&e, "nothing to stand before");
	ok_str(e.line, "");
	err_prefix(NULL, "x");
}

static void buf_grows_and_keeps_its_error(void)
{
	struct buf b = { 0 };
	uint8_t byte = 0;

	ok_int(buf_put(&b, NULL, 0), 0);
	for (int i = 0; i < 1000; i++)
		buf_put_u8(&b, (uint8_t)i);
	buf_put_le32(&b, 0x04030201);
	buf_put_le64(&b, 0x0807060504030201);
	ok_eq(b.len, 1012);
	ok(!memcmp(b.data + 1000, "\1\2\3\4\1\2\3\4\5\6\7\10", 12));
	buf_printf(&b, "%s %d", "text", 7);
	ok_eq(b.len, 1018);
	ok(!memcmp(b.data + 1012, "text 7", 6));
	ok_int(buf_reserve(&b, SIZE_MAX), -EOVERFLOW);
	ok_int(buf_put(&b, &byte, 1), -EOVERFLOW);
	ok_int(buf_printf(&b, "x"), -EOVERFLOW);
	ok_eq(b.len, 1018);
	buf_clear(&b);
	ok_int(buf_put(&b, &byte, 1), 0);
	buf_release(&b);
	buf_release(&b);
	ok(!b.data);
}

static void cursor_stops_at_the_end(void)
{
	static const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	struct cursor c = cursor_make(data, sizeof(data));
	const uint8_t *borrowed = NULL;
	uint64_t wide = 0;
	uint32_t word = 0;
	uint8_t byte = 0;

	ok_int(cursor_get_le32(&c, &word), 0);
	ok_eq(word, 0x04030201);
	ok_int(cursor_get_le64(&c, &wide), -EBADMSG); /* seven are left */
	ok(wide == 0 && cursor_left(&c) == 7);
	ok_int(cursor_borrow(&c, &borrowed, 8), -EBADMSG);
	ok_int(cursor_borrow(&c, &borrowed, SIZE_MAX), -EBADMSG);
	ok_int(cursor_borrow(&c, &borrowed, 6), 0);
	ok(borrowed == data + 4);
	ok_int(cursor_get_u8(&c, &byte), 0);
	ok_eq(byte, 11);
	ok_int(cursor_get_u8(&c, &byte), -EBADMSG);
	ok_int(cursor_get(&c, &byte, 0), 0);
	c = cursor_make(data, sizeof(data));
	ok_int(cursor_get_le64(&c, &wide), 0);
	ok_eq(wide, 0x0807060504030201);
}

static void request_is_checked(void)
{
	struct request good = { .arrival_ns = 5, .dispatch_ns = 5, .completion_ns = 6 }, r = good;

	ok(!request_check(&r));
	r.operation = NR_OPERATIONS;
	ok_str(request_check(&r), "operation");
	r = good, r.source = NR_SOURCES;
	ok_str(request_check(&r), "source");
	r = good, r.layer = NR_LAYERS;
	ok_str(request_check(&r), "layer");
	r = good, r.flags = REQUEST_FLAGS_ALL + 1;
	ok_str(request_check(&r), "flags");
	r = good, r.flags = REQUEST_NO_OPERATION;
	ok_str(request_check(&r), "operation");
	r.operation = OPERATION_OTHER;
	ok(!request_check(&r) && request_is_data(&r));
	r.flags = 0;
	ok(!request_is_data(&r));
	r = good, r.reserved = 1;
	ok_str(request_check(&r), "reserved");
	r = good, r.dispatch_ns = 4;
	ok_str(request_check(&r), "dispatch_ns");
	r = good, r.completion_ns = 4;
	ok_str(request_check(&r), "completion_ns");
	r = good, r.bytes = 513;
	ok_eq(request_sectors(&r), 2);
	r.bytes = UINT32_MAX;
	ok_eq(request_sectors(&r), 1 << 23);
	ok_eq(device_major(device_make(259, 7)), 259);
	ok_eq(device_minor(device_make(259, 7)), 7);
}

static void names_end(void)
{
	for (unsigned int i = 0; i < NR_OPERATIONS; i++)
		ok(operation_name(i));
	ok(!operation_name(NR_OPERATIONS));
	ok_str(operation_name(OPERATION_DISCARD), "discard");
	for (unsigned int i = 0; i < NR_SOURCES; i++)
		ok(source_name(i));
	ok(!source_name(NR_SOURCES));
	ok_str(layer_name(LAYER_QUEUE), "queue");
	ok(!layer_name(NR_LAYERS));
	for (unsigned int i = 0; i < NR_LEDGER_CAUSES; i++)
		ok(loss_cause_name(i));
	ok(!loss_cause_name(NR_LEDGER_CAUSES));
	ok_str(loss_cause_name(LOSS_NOT_WATCHED), "not_watched");
}

static void ledger_joins_what_touches(void)
{
	struct ledger a = { 0 }, b = { 0 };

	ok_int(ledger_add(&a, &(struct loss){ LOSS_RING_FULL, true, 0, 1, 2, 0 }), 0);
	ok_eq(a.nr, 0);
	ledger_add(&a, &(struct loss){ LOSS_RING_FULL, true, 3, 10, 20, 1 });
	ledger_add(&a, &(struct loss){ LOSS_RING_FULL, true, 4, 20, 30, 1 });
	ok_eq(a.nr, 1);
	ok(a.losses[0].count == 7 && a.losses[0].begin_real_ns == 10 &&
	   a.losses[0].end_real_ns == 30);
	ledger_add(&a, &(struct loss){ LOSS_RING_FULL, true, 1, 20, 30, 2 });  /* another device */
	ledger_add(&a, &(struct loss){ LOSS_RING_FULL, true, 1, 40, 50, 1 });  /* later */
	ledger_add(&a, &(struct loss){ LOSS_RING_FULL, false, 0, 40, 50, 1 }); /* unknown */
	ledger_add(&a, &(struct loss){ LOSS_DECODE, true, 100, 20, 30, 1 });
	ok_eq(a.nr, 5);
	ok_eq(a.total[LOSS_RING_FULL], 9);
	ok_eq(ledger_sum(&a), 109);
	ok_int(ledger_add(&a, &(struct loss){ NR_LOSS_CAUSES, true, 1, 0, 0, 0 }), -EINVAL);
	for (uint64_t i = 0; i < 100; i++)
		ledger_add(&b, &(struct loss){ LOSS_SHED, true, 1, 10 * i, 10 * i + 5, 0 });
	ok_eq(b.nr, 100);
	ok_int(ledger_merge(&b, &a), 0);
	ok_eq(b.nr, 105);
	ok_eq(ledger_sum(&b), 209);
	ledger_clear(&b);
	ok(b.nr == 0 && ledger_sum(&b) == 0);
	ledger_release(&a);
	ledger_release(&b);
}

static void ledger_ends_at_the_highest(void)
{
	struct ledger l = { 0 };

	ledger_add(&l, &(struct loss){ LOSS_SHED, true, UINT64_MAX - 2, 1, 2, 0 });
	ledger_add(&l, &(struct loss){ LOSS_SHED, true, 2, 2, 3, 0 });
	ok_eq(l.losses[0].count, UINT64_MAX);
	ledger_add(&l, &(struct loss){ LOSS_SHED, true, 2, 2, 3, 0 });
	ok_eq(l.nr, 1);
	ok_eq(l.losses[0].count, UINT64_MAX);
	ledger_add(&l, &(struct loss){ LOSS_DECODE, true, 7, 2, 3, 0 });
	ok_eq(ledger_sum(&l), UINT64_MAX);
	ledger_release(&l);
}

/* The ledger without the latest ends: every entry is looked at. */
static void literal_add(struct loss *all, size_t *nr, const struct loss *one)
{
	size_t i = *nr;

	while (i-- > 0)
		if (all[i].cause == one->cause && all[i].device == one->device &&
		    all[i].begin_real_ns <= one->end_real_ns &&
		    one->begin_real_ns <= all[i].end_real_ns)
			break;
	if (i == SIZE_MAX) {
		all[(*nr)++] = *one;
		return;
	}
	all[i].count += one->count;
	if (one->begin_real_ns < all[i].begin_real_ns)
		all[i].begin_real_ns = one->begin_real_ns;
	if (one->end_real_ns > all[i].end_real_ns)
		all[i].end_real_ns = one->end_real_ns;
}

/* Losses mostly in order of time, some of long ago, some that reach far ahead. */
static void ledger_joins_as_if_it_looked_at_all(void)
{
	static struct loss all[10000];
	struct ledger l = { 0 };
	uint64_t x = 1, nr_differ = 0;
	size_t nr = 0;

	for (uint64_t i = 0; i < TAP_NR(all); i++) {
		struct loss one = { .count_known = true, .count = i + 1 };

		x = x * 6364136223846793005u + 1442695040888963407u;
		one.cause = x >> 60 & 1 ? LOSS_KEPT_BACK : LOSS_RING_FULL;
		one.device = x >> 40 & 3;
		one.begin_real_ns = (x >> 50 & 255 ? 300 * i : x >> 33 & 0xffff) + (x >> 34 & 511);
		one.end_real_ns = one.begin_real_ns + (x >> 20 & 1023 ? x >> 55 : x >> 45);
		nr_differ += ledger_add(&l, &one) != 0;
		literal_add(all, &nr, &one);
		if (i == 5000) {
			ledger_clear(&l);
			nr = 0;
		}
	}
	if (ok_eq(l.nr, nr) && ok(nr > 1000 && nr < 4900))
		for (size_t i = 0; i < nr; i++)
			nr_differ += l.losses[i].cause != all[i].cause ||
				     l.losses[i].device != all[i].device ||
				     l.losses[i].count != all[i].count ||
				     l.losses[i].begin_real_ns != all[i].begin_real_ns ||
				     l.losses[i].end_real_ns != all[i].end_real_ns;
	ok_eq(nr_differ, 0);
	ledger_release(&l);
}

static void device_is_read(void)
{
	static const char *const bad[] = { "",	   "8",	  "8:",	    ":0",	 "8:0 ",
					   "8:0x", "sda", "4096:0", "8:1048576", "-1:0" };
	uint32_t device = 7;

	ok_int(device_parse("8:16", &device), 0);
	ok_eq(device, device_make(8, 16));
	ok_int(device_parse("4095:1048575", &device), 0);
	ok_eq(device, UINT32_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!ok_int(device_parse(bad[i], &device), -EINVAL))
			tap_note("\"%s\"", bad[i]);
	ok_eq(device, UINT32_MAX);
}

static const struct tap_test tests[] = {
	{ "an error is one line and never too long", err_is_one_line },
	{ "a buffer grows, and keeps the first error", buf_grows_and_keeps_its_error },
	{ "a cursor never moves past its end", cursor_stops_at_the_end },
	{ "the first field that is wrong is named", request_is_checked },
	{ "every name is there and none beyond", names_end },
	{ "a device is read from its two numbers alone", device_is_read },
	{ "losses that touch are joined and all are counted", ledger_joins_what_touches },
	{ "losses are joined as if each looked at all", ledger_joins_as_if_it_looked_at_all },
	{ "no sum of losses begins anew", ledger_ends_at_the_highest },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
