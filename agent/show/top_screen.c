/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/show/top.h"

#define LOOK_MS 50

/*
 * Colour pairs: reads are blue, writes are orange (yellow on a terminal without orange). The column
 * titles name them as well.
 */
enum { PAIR_READ = 1, PAIR_WRITE, PAIR_LOST };

#define COLUMN_READ	   13 /* column of "r/s" in top_print_titles(), and the distance to "w/s" */
#define COLUMN_STEP	   9
#define NARROW_COLUMN_READ 11
#define NARROW_COLUMN_STEP 8
#define COLUMN_DIRECTION   11 /* column of "read" and "write" in top_print_times_row() */
#define WIDTH_DIRECTION	   5

/* The contents of the screen. */
struct top_screen {
	const struct top_config *config;
	enum top_kind kind;
	const struct top_row *rows; /* rows of devices; borrowed from the struct top_view */
	size_t nr;
	struct top_rest rest;
};

static bool is_narrow(void)
{
	return COLS < TOP_WIDE_COLUMNS;
}

static void begin_colours(void)
{
	const char *off = getenv("NO_COLOR");

	if ((off && *off) || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_READ, COLORS >= 256 ? 75 : COLOR_BLUE, -1);
	init_pair(PAIR_WRITE, COLORS >= 256 ? 208 : COLOR_YELLOW, -1);
	init_pair(PAIR_LOST, COLOR_RED, -1);
}

/* Prints a line up to its newline, cut at the edge of the screen. */
static void put_line(int y, const char *text, size_t len)
{
	mvaddnstr(y, 0, text, (int)(len < (size_t)COLS ? len : (size_t)COLS));
}

static void put_row(int y, const struct top_row *row)
{
	int first = is_narrow() ? NARROW_COLUMN_READ : COLUMN_READ;
	int step = is_narrow() ? NARROW_COLUMN_STEP : COLUMN_STEP;
	struct buf text;

	buf_init(&text);
	top_print_row(row, is_narrow(), &text);
	if (!text.error && text.len)
		put_line(y, (const char *)text.data, text.len - 1);
	buf_release(&text);
	/* Colours the columns of reads and writes; four of them alternate. */
	for (int i = 0; i < 4; i++)
		mvchgat(y, first + i * step, step - 1, A_NORMAL,
			(short)(i % 2 ? PAIR_WRITE : PAIR_READ), NULL);
}

static void put_bottom(const struct top_screen *s, int y)
{
	const struct top_rest *rest = &s->rest;
	const char *line, *end;
	struct buf text;

	buf_init(&text);
	if (s->kind == TOP_DEVICES || s->kind == TOP_TIMES)
		top_print_rest(rest, &text);
	if (!text.error && text.len && !buf_put_u8(&text, 0))
		for (line = (const char *)text.data; (end = strchr(line, '\n')); line = end + 1)
			put_line(y++, line, (size_t)(end - line));
	buf_release(&text);
	if (rest->lost) {
		attron(COLOR_PAIR(PAIR_LOST) | A_BOLD);
		mvprintw(y, 0, "LOST %llu requests", (unsigned long long)rest->lost);
		attroff(COLOR_PAIR(PAIR_LOST) | A_BOLD);
	}
}

/* Prints the text of a buffer that ends with a newline. Releases the buffer. */
static void put_text(int y, struct buf *text)
{
	if (!text->error && text->len)
		put_line(y, (const char *)text->data, text->len - 1);
	buf_release(text);
}

/* Returns whether there is such a view: who made requests is known where the board keeps it. */
static bool top_screen_has(const struct top_screen *s, enum top_kind kind)
{
	return kind < TOP_PROCESSES || board_wants_who(s->config->board);
}

/* The source comes first, so that a narrow terminal cuts off the name of the host. */
static void put_head(const struct top_screen *s)
{
	const struct top_config *config = s->config;
	char stamp[40];
	time_t now = time(NULL);
	struct buf text;
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S%z", &tm);
	buf_init(&text);
	buf_printf(&text, "source %s  %s  window %g s  %s\n", s->rest.source, stamp,
		   (double)config->interval_ns / 1e9, config->title);
	put_text(0, &text);
	move(1, 0);
	for (int i = 0; i < NR_TOP_KINDS; i++) {
		static const char *const names[NR_TOP_KINDS] = { "devices", "times", "processes",
								 "cgroups" };

		if (!top_screen_has(s, (enum top_kind)i))
			continue;
		if ((int)s->kind == i)
			attron(A_REVERSE);
		printw("%c %s", TOP_KEYS[i], names[i]);
		attroff(A_REVERSE);
		printw("  ");
	}
	printw("q quits");
}

static void put_titles(const struct top_screen *s)
{
	struct buf titles;

	buf_init(&titles);
	if (s->kind == TOP_DEVICES)
		top_print_titles(is_narrow(), &titles);
	else if (s->kind == TOP_TIMES)
		top_print_times_titles(&titles);
	else
		top_print_who_titles(s->kind, &titles);
	attron(A_BOLD);
	put_text(2, &titles);
	attroff(A_BOLD);
}

/*
 * Prints a line for each device and direction that had response times. Returns the next line of the
 * screen.
 */
static int put_times(const struct top_screen *s, int y)
{
	const int first = y;
	struct buf text;

	for (size_t i = 0; i < s->nr; i++)
		for (int k = 0; k < BOARD_DIRECTIONS && y < LINES - 2; k++) {
			const struct top_row *row = &s->rows[i];

			if (!row->times[k].nr)
				continue;
			buf_init(&text);
			top_print_times_row(row->name, k, &row->times[k], s->rest.duration_s,
					    &text);
			put_text(y, &text);
			mvchgat(y++, COLUMN_DIRECTION, WIDTH_DIRECTION, A_NORMAL,
				(short)(k ? PAIR_WRITE : PAIR_READ), NULL);
		}
	if (y == first && s->nr)
		mvprintw(y++, 0, "# requests are only counted now: no response time is known");
	return y;
}

/* Prints a line for each issuer that has room, and one for all others. Returns the next line. */
static int put_issuers(const struct top_screen *s, const struct who *w, int y)
{
	struct who_sum total = who_total(w), rest;
	size_t room = LINES > y + 3 ? (size_t)(LINES - y - 3) : 0;
	size_t nr = w->nr < room ? w->nr : room;
	struct buf text;

	for (size_t i = 0; i < nr; i++) {
		buf_init(&text);
		top_print_who_row(s->kind, &w->items[i], &w->items[i].sum, &total,
				  s->rest.duration_s, COLS, &text);
		put_text(y++, &text);
	}
	rest = who_rest(w, nr);
	if (rest.requests) {
		buf_init(&text);
		top_print_who_row(s->kind, NULL, &rest, &total, s->rest.duration_s, COLS, &text);
		put_text(y++, &text);
	}
	if (!total.requests && s->nr)
		mvprintw(y++, 0, "# requests are only counted now: nobody knows who makes them");
	return y;
}

static void top_screen_draw(const struct top_screen *s)
{
	const struct who *w = s->kind == TOP_PROCESSES ? s->rest.processes : s->rest.cgroups;
	int y = 3;

	erase();
	put_head(s);
	put_titles(s);
	if (s->kind == TOP_DEVICES)
		for (size_t i = 0; i < s->nr && y < LINES - 2; i++)
			put_row(y++, &s->rows[i]);
	else if (s->kind == TOP_TIMES)
		y = put_times(s, y);
	else if (w)
		y = put_issuers(s, w, y);
	put_bottom(s, y + 1);
	refresh();
}

enum top_wish {
	TOP_NEXT, /* the interval is over */
	TOP_REDRAW,
	TOP_END,
};

/* Waits for the next interval or a key. */
static enum top_wish top_screen_wait(struct top_screen *s, const struct top_view *v)
{
	const struct top_config *config = s->config;

	while (!top_view_is_due(v, config->board, (double)config->interval_ns / 1e9)) {
		int key = getch(); /* waits at most LOOK_MS */
		const char *kind = key > 0 && key < 128 ? strchr(TOP_KEYS, key | 0x20) : NULL;

		if (key == 'q' || key == 'Q' || config->is_over(config->ctx))
			return TOP_END;
		if (kind && top_screen_has(s, (enum top_kind)(kind - TOP_KEYS)))
			s->kind = (enum top_kind)(kind - TOP_KEYS);
		if (kind || key == KEY_RESIZE)
			return TOP_REDRAW;
	}
	return TOP_NEXT;
}

static int top_screen_show(const struct top_config *config, struct top_view *v)
{
	struct top_screen s = { .config = config };
	struct board_totals totals;
	int ret;

	board_lock(config->board, &s.nr, &totals);
	board_unlock(config->board);
	s.rest.source = totals.source;
	s.nr = 0;
	for (;;) {
		enum top_wish wish;

		top_screen_draw(&s);
		wish = top_screen_wait(&s, v);
		if (wish == TOP_END)
			return 0;
		if (wish == TOP_REDRAW)
			continue;
		ret = top_view_step(v, config->board, &s.rows, &s.nr, &s.rest);
		if (ret)
			return ret;
	}
}

int top_run_screen(const struct top_config *config)
{
	struct top_view *v;
	SCREEN *screen;
	int ret = top_view_new(&v);

	if (ret)
		return ret;
	screen = newterm(NULL, stdout, stdin);
	if (!screen) { /* A terminal that ncurses does not know still gets rows. */
		top_view_free(v);
		return top_run_rows(config, stdout);
	}
	set_term(screen);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	timeout(LOOK_MS);
	begin_colours();
	ret = top_screen_show(config, v);
	endwin();
	delscreen(screen);
	top_view_free(v);
	return ret;
}
