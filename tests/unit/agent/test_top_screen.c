/* SPDX-License-Identifier: Apache-2.0 */
/* The live view on a pseudo-terminal of 80 columns, driven by keys. */
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/show/top.h"
#include "tests/support/tap.h"

static bool never(void *ctx)
{
	(void)ctx;
	return false;
}

static void post_device(struct board *b, bool has_times)
{
	struct board_totals totals = { .watched_s = 1, .source = "bpf", .layer = "device" };
	struct profile p;

	profile_init(&p);
	strncpy(p.device_name, "sdx", sizeof(p.device_name) - 1);
	p.begin_s = 100;
	p.end_s = 101;
	p.requests[OPERATION_READ] = 1000;
	for (uint64_t i = 1; i <= 1000 && has_times; i++)
		if (histogram_add(&p.read.response.stage[STAGE_TOTAL], i * 1000))
			_exit(13);
	if (board_post(b, device_make(8, 0), 1 << 20, false, &p))
		_exit(10);
	profile_release(&p);
	board_set_totals(b, &totals);
}

/* Forty processes: number i made i requests of 4 KiB. They all run in one of two groups. */
static void post_issuers(struct board *b)
{
	struct who processes, cgroups;

	if (who_init(&processes, 64) || who_init(&cgroups, 64))
		_exit(11);
	for (uint32_t pid = 1001; pid <= 1040; pid++)
		for (uint32_t i = 1000; i < pid; i++) {
			struct request r = { .completion_ns = 1000000, .bytes = 4096 };

			who_add(&processes, pid, &r);
			who_add(&cgroups, pid > 1010 ? 5 : 6, &r);
		}
	snprintf(who_find(&processes, 1040)->name, WHO_NAME_BYTES, "postgres");
	snprintf(who_find(&processes, 1039)->name, WHO_NAME_BYTES, "\033]0;evil\007");
	snprintf(who_find(&cgroups, 5)->name, WHO_NAME_BYTES,
		 "/system.slice/system-postgresql.slice/postgresql@16-main.service");
	board_post_who(b, &processes, &cgroups);
	who_release(&processes);
	who_release(&cgroups);
}

static void show(bool wants_who)
{
	struct top_config config = { .interval_ns = 1000000000,
				     .title = "a-host-with-a-name-that-is-longer-than-the-terminal",
				     .is_over = never };

	alarm(60);
	setenv("TERM", "vt100", 1);
	if (board_new(&config.board) || (wants_who && board_want_who(config.board)))
		_exit(12);
	post_device(config.board, wants_who);
	post_issuers(config.board);
	_exit(top_run(&config) ? 1 : 0);
}

struct terminal {
	int fd;
	pid_t child;
	char text[1 << 16]; /* everything that was written to it */
	size_t nr, seen;    /* seen: what was written before the last key */
};

static bool terminal_open(struct terminal *t, bool wants_who)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };

	*t = (struct terminal){ .fd = -1 };
	t->child = forkpty(&t->fd, NULL, NULL, &size);
	if (t->child == 0)
		show(wants_who);
	return ok(t->child > 0);
}

/* Waits until this text was written since the last key. */
static bool terminal_has(struct terminal *t, const char *text)
{
	for (;;) {
		struct pollfd fd = { .fd = t->fd, .events = POLLIN };
		ssize_t nr;

		if (strstr(t->text + t->seen, text))
			return true;
		if (poll(&fd, 1, 30000) <= 0)
			break;
		nr = read(t->fd, t->text + t->nr, sizeof(t->text) - 1 - t->nr);
		if (nr <= 0)
			break;
		t->nr += (size_t)nr;
	}
	tap_note("not on the screen: %s", text);
	return false;
}

static void terminal_press(struct terminal *t, char key)
{
	t->seen = t->nr;
	ok_int(write(t->fd, &key, 1), 1);
}

static void terminal_close(struct terminal *t)
{
	char rest[256];
	int status = -1;

	terminal_press(t, 'q');
	while (read(t->fd, rest, sizeof(rest)) > 0)
		;
	ok_int(waitpid(t->child, &status, 0), t->child);
	ok_int(status, 0);
	close(t->fd);
}

static void keys_switch_the_views(void)
{
	static struct terminal t;

	if (!terminal_open(&t, true))
		return;
	ok(terminal_has(&t, "source bpf  "));
	ok(terminal_has(&t, "q quits"));
	ok(terminal_has(&t, "sdx"));
	ok(!strstr(t.text, "postgres"));
	terminal_press(&t, 'p');
	ok(terminal_has(&t, "postgres"));
	ok(terminal_has(&t, "\\x1b]0;evil\\x07"));
	ok(terminal_has(&t, "all others"));
	ok(!strstr(t.text, "\033]0;evil"));
	terminal_press(&t, 'C');
	ok(terminal_has(&t, "...resql@16-main.service"));
	terminal_press(&t, 't');
	ok(terminal_has(&t, "p99.9"));
	ok(terminal_has(&t, "read"));
	ok(terminal_has(&t, "1.00ms")); /* the longest */
	ok(!strstr(t.text + t.seen, "write"));
	terminal_press(&t, 'd');
	ok(terminal_has(&t, "inflght")); /* The name of the device stands where it stood. */
	terminal_close(&t);
}

/*
 * Where the agent keeps no sums by process, the screen offers no key for them; and where requests
 * are only counted, it says that no time is known.
 */
static void without_sums_there_are_devices_alone(void)
{
	static struct terminal t;

	if (!terminal_open(&t, false))
		return;
	ok(terminal_has(&t, "sdx"));
	terminal_press(&t, 'p');
	terminal_press(&t, 't');
	ok(terminal_has(&t, "no response time is known"));
	ok(!strstr(t.text, "processes") && !strstr(t.text, "postgres"));
	terminal_close(&t);
}

/* The times of an interval are those that came since the last one, and leave out the others. */
static void times_are_of_the_interval(void)
{
	struct histogram now, seen;
	struct top_times t;

	histogram_init(&now);
	histogram_init(&seen);
	for (int i = 0; i < 100; i++)
		ok_int(histogram_add(&now, 5000000000ull), 0);
	ok_int(top_times_take(&t, &seen, &now), 0);
	ok_eq(t.nr, 100);
	ok_ratio(t.quantile_s[0], 5, 0.022);
	ok_ratio(t.max_s, 5, 0.022);
	for (uint64_t i = 1; i <= 1000; i++)
		ok_int(histogram_add(&now, i * 1000000), 0);
	ok_int(top_times_take(&t, &seen, &now), 0);
	ok_eq(t.nr, 1000);
	ok_ratio(t.quantile_s[0], 0.5, 0.022);
	ok_ratio(t.quantile_s[1], 0.9, 0.022);
	ok_ratio(t.quantile_s[2], 0.95, 0.022);
	ok_ratio(t.quantile_s[3], 0.99, 0.022);
	ok(isnan(t.quantile_s[4])); /* one request lies beyond */
	ok_ratio(t.max_s, 1, 0.022);
	ok_int(top_times_take(&t, &seen, &now), 0);
	ok_eq(t.nr, 0);
	ok(isnan(t.quantile_s[0]) && isnan(t.max_s));
	histogram_release(&now);
	histogram_release(&seen);
}

static void lines_of_times_fit_80_columns(void)
{
	const struct top_times t = { .nr = 1234567, .quantile_s = { 99, 99, 99, 99, 99 } };
	struct buf titles, text;

	buf_init(&titles);
	buf_init(&text);
	top_print_times_titles(&titles);
	top_print_times_row("nvme0n1234567", OPERATION_WRITE, &t, 1, &text);
	ok_eq(titles.len, text.len);
	ok(text.len <= 81);
	buf_release(&titles);
	buf_release(&text);
}

static void lines_fit_80_columns(void)
{
	struct who_sum sum = { .requests = 1 << 30,
			       .nr = { 1 << 29, 1 << 29 },
			       .bytes = { 1ull << 40, 1ull << 40 },
			       .nr_timed = 1,
			       .time_ns = 90000000000000 };
	struct who_entry e = { .key = 4194304, .sum = sum };
	struct buf titles, text;

	memset(e.name, '\033', sizeof(e.name) - 1);
	for (int kind = TOP_PROCESSES; kind <= TOP_CGROUPS; kind++) {
		buf_init(&titles);
		buf_init(&text);
		top_print_who_titles((enum top_kind)kind, &titles);
		top_print_who_row((enum top_kind)kind, &e, &e.sum, &sum, 86400, 80, &text);
		ok(titles.len <= 81);
		ok_eq(text.len, 81);
		ok(!memchr(text.data, '\033', text.len));
		buf_release(&titles);
		buf_release(&text);
	}
}

static const struct tap_test tests[] = {
	{ "keys switch the views", keys_switch_the_views },
	{ "without sums there are devices alone", without_sums_there_are_devices_alone },
	{ "times are those of the interval", times_are_of_the_interval },
	{ "lines of times fit 80 columns", lines_of_times_fit_80_columns },
	{ "lines fit 80 columns", lines_fit_80_columns },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
