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

static void put_bottom(const struct top_rest *rest, int y)
{
	const char *line, *end;
	struct buf text;

	buf_init(&text);
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

static void top_screen_draw(const struct top_config *config, const struct top_row *rows, size_t nr,
			    const struct top_rest *rest)
{
	char stamp[40];
	time_t now = time(NULL);
	struct buf titles;
	struct tm tm;
	int y = 3;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S%z", &tm);
	erase();
	mvprintw(0, 0, "%s  source %s  %s  window %g s  (q quits)", config->title, rest->source,
		 stamp, (double)config->interval_ns / 1e9);
	buf_init(&titles);
	top_print_titles(is_narrow(), &titles);
	attron(A_BOLD);
	if (!titles.error && titles.len)
		put_line(2, (const char *)titles.data, titles.len - 1);
	attroff(A_BOLD);
	buf_release(&titles);
	for (size_t i = 0; i < nr && y < LINES - 2; i++)
		put_row(y++, &rows[i]);
	put_bottom(rest, y + 1);
	refresh();
}

/* Waits for the next interval. Returns false when the view must end. */
static bool wait_for_interval(const struct top_config *config, const struct top_view *v,
			      bool *is_resized)
{
	while (!top_view_is_due(v, config->board, (double)config->interval_ns / 1e9)) {
		int key = getch(); /* waits at most LOOK_MS */

		if (key == 'q' || key == 'Q' || config->is_over(config->ctx))
			return false;
		if (key == KEY_RESIZE) {
			*is_resized = true;
			return true;
		}
	}
	return true;
}

static int top_screen_show(const struct top_config *config, struct top_view *v)
{
	const struct top_row *rows = NULL;
	struct board_totals totals;
	struct top_rest rest = { 0 };
	size_t nr = 0;
	int ret = 0;

	board_lock(config->board, &nr, &totals);
	board_unlock(config->board);
	rest.source = totals.source;
	nr = 0;
	for (;;) {
		bool is_resized = false;

		top_screen_draw(config, rows, nr, &rest);
		if (!wait_for_interval(config, v, &is_resized))
			return 0;
		if (is_resized)
			continue;
		ret = top_view_step(v, config->board, &rows, &nr, &rest);
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
