/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/show/board.h"
#include "agent/show/metrics.h"
#include "agent/show/top.h"
#include "tests/support/tap.h"

#define DEVICE device_make(7, 3)

/* One window with reads of 1 ms, as many as asked, and the device's name. */
static void post(struct board *b, const char *name, uint64_t nr, bool is_hidden, uint64_t lost)
{
	struct board_totals totals = { .agent_cpu_s = 0.5,
				       .kernel_cpu_s = NAN,
				       .watched_s = 1,
				       .source = "bpf",
				       .layer = "device" };
	struct size_count size = { 4096, nr };
	struct profile p;

	profile_init(&p);
	strncpy(p.device_name, name, sizeof(p.device_name) - 1);
	p.begin_s = 100;
	p.end_s = 101;
	p.requests[OPERATION_READ] = nr;
	p.bytes[OPERATION_READ] = nr * 4096;
	p.closed.in_flight_mean = 2;
	p.read.sizes = &size;
	p.read.nr_sizes = 1;
	p.read.sequential_ratio = 0.5;
	for (uint64_t i = 0; i < nr; i++) {
		histogram_add(&p.read.response.stage[STAGE_TOTAL], 1000000);
		histogram_add(&p.read.response.stage[STAGE_DEVICE], 1000000);
		histogram_add(&p.read.response.stage[STAGE_QUEUE], 0);
	}
	ok_int(board_post(b, DEVICE, 1 << 20, is_hidden, &p), 0);
	p.read.sizes = NULL;
	p.read.nr_sizes = 0;
	profile_release(&p);
	totals.lost[LOSS_RING_FULL] = lost;
	board_set_totals(b, &totals);
}

/* One window with writes that were only counted. */
static void post_counted(struct board *b, uint64_t nr)
{
	struct profile p;

	profile_init(&p);
	p.source = SOURCE_DISKSTATS;
	memcpy(p.device_name, "loop3", sizeof("loop3"));
	p.begin_s = 100;
	p.end_s = 101;
	p.requests[OPERATION_WRITE] = nr;
	p.bytes[OPERATION_WRITE] = nr * 4096;
	p.closed.in_flight_mean = 2;
	p.write.response.total_mean_s = 0.001;
	ok_int(board_post(b, DEVICE, 1 << 20, false, &p), 0);
	profile_release(&p);
}

static bool page_has(struct board *b, bool open, const char *line)
{
	struct buf page;
	bool has;

	buf_init(&page);
	ok_int(metrics_print(b, "9.9", open, &page), 0);
	buf_put_u8(&page, 0);
	has = strstr((char *)page.data, line) != NULL;
	if (!has)
		tap_note("not on the page: %s", line);
	buf_release(&page);
	return has;
}

static void counters_add_up_over_windows(void)
{
	struct board *b;

	ok_int(board_new(&b), 0);
	post(b, "loop3", 100, false, 0);
	post(b, "loop3", 50, false, 7);
	ok(page_has(b, false,
		    "\nblkcast_requests_total{device=\"loop3\",operation=\"read\"} 150\n"));
	ok(page_has(b, false,
		    "\nblkcast_bytes_total{device=\"loop3\",operation=\"read\"} 614400\n"));
	ok(page_has(b, false, "\nblkcast_in_flight_seconds_total{device=\"loop3\"} 4\n"));
	ok(page_has(
		b, false,
		"\nblkcast_sequential_requests_total{device=\"loop3\",operation=\"read\"} 75\n"));
	ok(page_has(b, false, "\nblkcast_lost_requests_total{where=\"ring_full\"} 7\n"));
	ok(page_has(b, false,
		    "blkcast_request_duration_seconds_sum{device=\"loop3\",operation=\"read\","
		    "stage=\"total\"} 0.14999999999999999\n"));
	/* 1 ms lies between 2^-10 and 2^-9 seconds. */
	ok(page_has(b, false, "stage=\"total\",le=\"0.0009765625\"} 0\n"));
	ok(page_has(b, false, "stage=\"total\",le=\"0.001953125\"} 150\n"));
	ok(page_has(b, false, "stage=\"total\",le=\"+Inf\"} 150\n"));
	ok(page_has(b, false, "operation=\"read\",le=\"2048.0\"} 0\n"));
	ok(page_has(b, false, "operation=\"read\",le=\"4096.0\"} 150\n"));
	board_free(b);
}

static void unknown_metrics_are_left_out(void)
{
	const struct top_row *rows;
	struct top_rest rest;
	struct top_view *v;
	struct board *b;
	size_t nr;

	ok_int(board_new(&b), 0);
	ok_int(top_view_new(&v), 0);
	post_counted(b, 100);
	ok_int(top_view_step(v, b, &rows, &nr, &rest), 0);
	if (ok_eq(nr, 1))
		ok(isnan(rows[0].sequential_ratio[OPERATION_WRITE]));
	top_view_free(v);
	ok(page_has(b, false,
		    "\nblkcast_requests_total{device=\"loop3\",operation=\"write\"} 100\n"));
	ok(page_has(b, false, "\nblkcast_in_flight_seconds_total{device=\"loop3\"} 2\n"));
	ok(!page_has(b, false, "blkcast_sequential_requests"));
	ok(!page_has(b, false, "blkcast_request_duration_seconds"));
	ok(!page_has(b, false, "blkcast_request_size_bytes"));
	ok(!page_has(b, false, "blkcast_untimed_requests"));
	board_free(b);
}

static void formats_differ_where_they_must(void)
{
	struct board *b;

	ok_int(board_new(&b), 0);
	post(b, "loop3", 1, false, 0);
	ok(page_has(b, false, "# TYPE blkcast_requests_total counter\n"));
	ok(page_has(b, false, "# TYPE blkcast_device_info gauge\n"));
	ok(page_has(b, true, "# TYPE blkcast_requests counter\n"));
	ok(page_has(b, true, "# TYPE blkcast_device info\n"));
	ok(page_has(b, true, "# UNIT blkcast_request_duration_seconds seconds\n"));
	ok(page_has(b, true, "\n# EOF\n"));
	/* What the source cannot tell is not there, rather than 0. */
	ok(!page_has(b, true, "blkcast_bpf_seconds"));
	ok(metrics_accepts_open("application/openmetrics-text; version=1.0.0,text/plain;q=0.5"));
	ok(!metrics_accepts_open("text/plain"));
	ok(!metrics_accepts_open(NULL));
	board_free(b);
}

static void names_are_escaped(void)
{
	struct board *b;

	ok_int(board_new(&b), 0);
	post(b, "a\"b\\c\nd", 1, false, 0);
	ok(page_has(b, true, "blkcast_in_flight_seconds_total{device=\"a\\\"b\\\\c\\nd\"} 2\n"));
	board_free(b);
}

static void bad_addresses_are_refused(void)
{
	static const char *const bad[] = {
		"nothing", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:9x", ":-1", "65536", ""
	};
	struct metrics *m = NULL, *other = NULL;
	char taken[32];
	struct board *b;
	struct err err = { 0 };

	ok_int(board_new(&b), 0);
	for (size_t i = 0; i < TAP_NR(bad); i++)
		ok_int(metrics_listen(&m, bad[i], b, &err), -EINVAL);
	ok(!m);
	if (ok_int(metrics_listen(&m, "0", b, &err), 0))
		ok(metrics_port(m) != 0);
	metrics_free(m);
	m = NULL;
	if (ok_int(metrics_listen(&m, ":0", b, &err), 0)) {
		snprintf(taken, sizeof(taken), "127.0.0.1:%u", metrics_port(m));
		ok_int(metrics_listen(&other, taken, b, &err), -EADDRINUSE);
		ok(strstr(err.line, taken) != NULL);
	}
	if (m)
		ok_int(metrics_start(m, &err), 0);
	metrics_free(m);
	board_free(b);
}

static void rows_are_of_the_windows_since_the_last(void)
{
	const struct top_row *rows;
	struct top_rest rest;
	struct top_view *v;
	struct board *b;
	size_t nr;

	ok_int(board_new(&b), 0);
	ok_int(top_view_new(&v), 0);
	ok(!top_view_is_due(v, b, 1));
	post(b, "loop3", 3000, false, 5);
	ok(top_view_is_due(v, b, 1));
	ok_int(top_view_step(v, b, &rows, &nr, &rest), 0);
	ok(!top_view_is_due(v, b, 1));
	if (ok_eq(nr, 1)) {
		ok_str(rows[0].name, "loop3");
		ok_near(rows[0].per_s[OPERATION_READ], 3000, 0);
		ok_near(rows[0].kib[OPERATION_READ], 4, 0);
		ok(isnan(rows[0].kib[OPERATION_WRITE]));
		ok_near(rows[0].mean_s[STAGE_DEVICE], 0.001, 1e-12);
		/* One bucket wide, 2.2 %, and clamped to the largest. */
		ok_near(rows[0].p99_s[STAGE_DEVICE], 0.001, 0.000022);
		ok_near(rows[0].sequential_ratio[OPERATION_READ], 0.5, 0);
		ok_near(rows[0].in_flight, 2, 1e-12);
	}
	ok_eq(rest.lost, 5);
	ok_eq(rest.nr_hidden, 0);
	ok_int(top_view_step(v, b, &rows, &nr, &rest), 0);
	ok_eq(nr, 0);
	ok_eq(rest.nr_hidden, 1);
	ok_eq(rest.lost, 0);
	post(b, "loop3", 10, true, 5);
	ok_int(top_view_step(v, b, &rows, &nr, &rest), 0);
	ok_eq(nr, 0);
	ok_eq(rest.nr_hidden, 1);
	top_view_free(v);
	board_free(b);
}

static void check_time(double seconds, const char *want)
{
	struct buf out;

	buf_init(&out);
	top_print_time(seconds, &out);
	buf_put_u8(&out, 0);
	ok_str((char *)out.data, want);
	buf_release(&out);
}

static void times_have_three_digits(void)
{
	check_time(0.00012345, "   123us");
	check_time(0.0045678, "  4.57ms");
	check_time(0.0009996, "  1.00ms");
	check_time(12.345, "  12.3s ");
	check_time(0.0000000005, "  0.50ns");
	check_time(0, "       0");
	check_time(NAN, "       -");
}

/* What fits no edge is in the +Inf bucket alone. */
static void large_sizes_are_above_every_edge(void)
{
	struct size_count size = { UINT32_MAX / 4096 * 4096, 3 };
	struct profile p;
	struct board *b;

	ok_int(board_new(&b), 0);
	profile_init(&p);
	snprintf(p.device_name, sizeof(p.device_name), "sda");
	p.end_s = 1;
	p.requests[OPERATION_READ] = 3;
	p.bytes[OPERATION_READ] = 3ull * size.bytes;
	p.read.sizes = &size;
	p.read.nr_sizes = 1;
	ok_int(board_post(b, DEVICE, 1 << 20, false, &p), 0);
	p.read.sizes = NULL;
	p.read.nr_sizes = 0;
	profile_release(&p);
	ok(page_has(
		b, true,
		"blkcast_request_size_bytes_bucket{device=\"sda\",operation=\"read\",le=\"512.0\"} 0"));
	ok(page_has(
		b, true,
		"blkcast_request_size_bytes_bucket{device=\"sda\",operation=\"read\",le=\"16777216.0\"} 0"));
	ok(page_has(
		b, true,
		"blkcast_request_size_bytes_bucket{device=\"sda\",operation=\"read\",le=\"+Inf\"} 3"));
	board_free(b);
}

/* An idle window leaves the counters and ends what was said of the last. */
static void idle_ends_the_last_window(void)
{
	struct board_totals totals;
	const struct board_device *d;
	struct board *b;
	size_t nr;

	ok_int(board_new(&b), 0);
	post(b, "sda", 10, false, 0);
	board_post_idle(b, DEVICE, 102);
	d = board_lock(b, &nr, &totals);
	if (ok_eq(nr, 1)) {
		ok_eq(d[0].requests[OPERATION_READ], 10);
		ok_eq(d[0].last.requests[OPERATION_READ], 0);
		ok_near(d[0].last.duration_s, 0, 0);
		ok_near(d[0].last.end_real_s, 102, 0);
	}
	board_unlock(b);
	board_free(b);
}

/* A terminal of 80 columns shows the latency of the device; what it must leave out is less. */
static void narrow_rows_fit_80_columns(void)
{
	struct top_row row = { .name = "nvme0n1234567",
			       .per_s = { 123456, 123456 },
			       .mib_per_s = { 12345, 12345 },
			       .mean_s = { 0.001234, 0.001234, 0.001234 },
			       .p99_s = { 99, 99, 99 },
			       .in_flight = 1023.5 };
	struct buf titles, text;

	buf_init(&titles);
	buf_init(&text);
	top_print_titles(true, &titles);
	top_print_row(&row, true, &text);
	ok(titles.len <= 81 && text.len <= 81); /* with the newline */
	ok_eq(titles.len, text.len);
	ok(!buf_put_u8(&titles, 0) && !buf_put_u8(&text, 0));
	ok(strstr((char *)titles.data, " device ") && strstr((char *)titles.data, " d p99 "));
	ok(strstr((char *)text.data, "1.23ms") != NULL);
	buf_clear(&titles);
	buf_clear(&text);
	top_print_titles(false, &titles);
	ok_eq(titles.len, TOP_WIDE_COLUMNS + 1);
	buf_release(&titles);
	buf_release(&text);
}

/* Reads and writes without a response time are counted, not only missing from the durations. */
static void untimed_requests_are_counted(void)
{
	const struct top_row *rows;
	struct top_rest rest;
	struct top_view *v;
	struct profile p;
	struct board *b;
	struct buf text;
	size_t nr;

	ok(!board_new(&b) && !top_view_new(&v));
	profile_init(&p);
	strncpy(p.device_name, "sdx", sizeof(p.device_name) - 1);
	p.source = SOURCE_BPF;
	p.end_s = 1;
	p.requests[OPERATION_READ] = 10;
	for (int i = 0; i < 7; i++)
		histogram_add(&p.read.response.stage[STAGE_TOTAL], 1000);
	ok(!board_post(b, DEVICE, 1, false, &p) && !board_post(b, DEVICE, 1, false, &p));
	profile_release(&p);
	buf_init(&text);
	ok(!metrics_print(b, "1", false, &text) && !buf_put_u8(&text, 0));
	ok(strstr((char *)text.data, "blkcast_untimed_requests_total{device=\"sdx\"} 6\n") != NULL);
	buf_clear(&text);
	ok_int(top_view_step(v, b, &rows, &nr, &rest), 0);
	ok_eq(rest.untimed, 6);
	top_print_rest(&rest, &text);
	ok(!buf_put_u8(&text, 0) &&
	   strstr((char *)text.data, "6 requests without response time") != NULL);
	ok_int(top_view_step(v, b, &rows, &nr, &rest), 0);
	ok_eq(rest.untimed, 0);
	buf_release(&text);
	top_view_free(v);
	board_free(b);
}

static const struct tap_test tests[] = {
	{ "narrow rows fit 80 columns", narrow_rows_fit_80_columns },
	{ "requests without a response time are counted", untimed_requests_are_counted },
	{ "counters add up over windows", counters_add_up_over_windows },
	{ "metrics that a source of counts cannot know are left out",
	  unknown_metrics_are_left_out },
	{ "the two text formats differ where they must", formats_differ_where_they_must },
	{ "names are escaped in labels", names_are_escaped },
	{ "a bad or taken address is refused", bad_addresses_are_refused },
	{ "rows are of the windows since the last ones", rows_are_of_the_windows_since_the_last },
	{ "times have three digits and their unit", times_have_three_digits },
	{ "sizes above every edge are in the last bucket alone", large_sizes_are_above_every_edge },
	{ "an idle window ends what was said of the last", idle_ends_the_last_window },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
